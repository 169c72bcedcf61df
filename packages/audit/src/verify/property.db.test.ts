/** Any writes of several processes verify; any change of any byte of them is found. */

import { PERSON_ROLES } from '@rollcall/core/model/audit-entry'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { startedDatabase, type TestDatabase } from '../../../keys/test/postgres.ts'
import { testAuditLog } from '../../../settings/test/audit-log.ts'
import { asBefore, bury, erase, faults, prune, review, tamper } from '../../../settings/test/tampering.ts'
import { auditEntry } from '../../test/audit-entry.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startedDatabase()
})
afterAll(() => database.close())

const person = fc.record({
  role: fc.constantFrom(...PERSON_ROLES),
  identifiers: fc.array(fc.record({ type: fc.constantFrom('UIN', 'BRN'), value: fc.string({ unit: 'binary' }) }), {
    maxLength: 3,
  }),
})

/** Texts of any kind, also such as the database cannot hold as they are. */
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom('\0', '"', '\\', '\u2028'))

const write = fc.record({
  process: fc.nat(2),
  entry: fc.record({
    participant: fc.option(text),
    records: fc.nat(),
    shown: fc.dictionary(text, fc.array(text, { maxLength: 3 }), { maxKeys: 3 }),
    request: fc.option(
      fc.record({ message_id: fc.option(text), digest: text, kid: fc.option(text), signature: fc.option(text) }),
    ),
  }),
  persons: fc.array(person, { maxLength: 4 }),
})

const RUNS = { numRuns: 25 }

test('any sequence of writes on several chains verifies', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(write, { maxLength: 20 }), fc.integer({ min: 1, max: 5 }), async (writes, every) => {
      const processes = [0, 1, 2].map(() => testAuditLog(database.db, { limits: { checkpoint_entries: every } }))
      await Promise.all(writes.map(({ process, entry, persons }) => processes[process]?.write(auditEntry(entry), persons)))
      await Promise.all(processes.map((process) => process.close()))
      expect(await faults(database)).toEqual([])
    }),
    RUNS,
  )
})

/**
 * Columns of which a change is no fault, with the reason. An id only orders rows: that of checkpoints is in the links between
 * them, and nothing depends on the order of tombstones, nor on that of reviews, whose times are sealed.
 */
const UNCOVERED = ['account_checkpoint.id', 'account_tombstone.id', 'account_review.id']

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
}

/** Every column of every table of the audit log that can be written, by the catalog of the database. */
const columnsOf = async (on: TestDatabase): Promise<readonly Column[]> =>
  (await query(
    on.owner,
    `select table_name as table, column_name as column, data_type as type from information_schema.columns
      where table_schema = current_schema() and is_generated = 'NEVER'
        and (table_name = 'account' or starts_with(table_name, 'account_')) order by table_name, ordinal_position`,
    [],
  )) as unknown as readonly Column[]

/** Another value of a column, as SQL; bytes and texts are changed in one place. */
const CHANGED: Readonly<Record<string, (column: string, place: number) => string>> = {
  uuid: (column) => `gen_random_uuid() -- ${column}`,
  bigint: (column, place) => `${column} + ${1_000 + place}`,
  boolean: (column) => `${column} is not true`,
  integer: (column, place) => `${column} + ${1_000 + place}`,
  'timestamp with time zone': (column, place) => `coalesce(${column}, now()) + interval '${place + 1} microseconds'`,
  bytea: (column, place) =>
    `case when coalesce(length(${column}), 0) = 0 then '\\x00' else set_byte(${column}, ${place} % length(${column}),
      255 - get_byte(${column}, ${place} % length(${column}))) end`,
  text: (column, place) =>
    `case when coalesce(${column}, '') = '' then 'x' else overlay(${column} placing case substr(${column}, ${place} % length(${column}) + 1, 1) when 'x' then 'y' else 'x' end
      from ${place} % length(${column}) + 1 for 1) end`,
  jsonb: (column) => `coalesce(${column}, '{}') || '{"x": "AAAA"}'`,
  ARRAY: (column, place) => (column === 'chains' ? 'chains || gen_random_uuid()' : `${column} || ${place}::bigint`),
}

test('any single change of any column of any table of the audit log is found', async () => {
  const on = await startedDatabase()
  try {
    for (const at of [1, 2]) {
      const auditLog = testAuditLog(on.db)
      for (let number = 0; number < 8; number += 1) {
        const message = { message_id: `m-${at}-${number}`, digest: 'd', kid: null, signature: null }
        await auditLog.write(auditEntry({ request: message, reply: message }), [
          { role: 'seen', identifiers: [{ type: 'UIN', value: 'é' }] },
        ])
      }
      await auditLog.close()
    }
    const chains = (await on.db.pool.query('select distinct chain from account order by chain')).rows
    await erase(on, chains[0].chain, 5, 0)
    await prune(on, chains[1].chain, 3)
    await bury(on, { kind: 'erasure', at: '2026-01-02T00:00:00.000Z', reason: 'nothing', erased: {} })
    await review(on, chains[0].chain, 2)
    // One chain is of the version before, with a table of persons; the other one is packed, and most of its entries have a shape.
    await asBefore(on, chains[1].chain)
    expect(await faults(on)).toEqual([])
    const all = await columnsOf(on)
    const tables = [...new Set(all.map(({ table }) => table))]
    expect(tables).toEqual(expect.arrayContaining(['account', 'account_entry', 'account_shape', 'account_key']))
    for (const table of tables) await tamper(on, `create table kept_${table} as select * from only ${table}`)
    // The owner can lift what the database refuses.
    const constraints = await query(
      on.owner,
      `select conrelid::regclass::text as table, conname as name from pg_constraint
        where contype in ('c', 'f') and conrelid::regclass::text = any($1)`,
      [tables],
    )
    for (const { table, name } of constraints) await tamper(on, `alter table ${table} drop constraint if exists ${name}`)
    const isFound = async ({ table, column, type }: Column, row: number, place: number): Promise<void> => {
      const other = CHANGED[type]?.(column, place)
      expect(other, `${table}.${column} has the type ${type}: CHANGED needs another value of it`).toBeDefined()
      const changed = await query(
        on.owner,
        `update only ${table} set ${column} = ${other}
        where ctid = (select ctid from only ${table} order by ctid offset ${row} % (select count(*) from only ${table}) limit 1)
        returning 1 as done`,
        [],
      )
      expect(changed).toHaveLength(1)
      expect(await faults(on), `${table}.${column}`).not.toEqual([])
      const names = all.filter((one) => one.table === table).map((one) => one.column)
      await tamper(
        on,
        `delete from only ${table}; insert into ${table} (${names}) overriding system value select ${names} from kept_${table}`,
      )
    }
    const covered = all.filter(({ table, column }) => !UNCOVERED.includes(`${table}.${column}`))
    expect(covered).toHaveLength(all.length - UNCOVERED.length)
    for (const column of covered) await isFound(column, 0, 0)
    expect(await faults(on)).toEqual([])
    await fc.assert(fc.asyncProperty(fc.constantFrom(...covered), fc.nat(1_000), fc.nat(5_000), isFound), { numRuns: 150 })
  } finally {
    await on.close()
  }
})
