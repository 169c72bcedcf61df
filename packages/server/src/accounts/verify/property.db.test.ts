/** Any writes of several processes verify; any change of any byte of them is found. */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accountEntry } from '../../../test/account-entry.ts'
import { testAccounts } from '../../../test/accounts.ts'
import { startedDatabase, type TestDatabase } from '../../../test/postgres.ts'
import { query } from '../../../test/statement.ts'
import { bury, erase, faults, prune, tamper } from '../../../test/tampering.ts'
import { PERSON_ROLES } from '../../model/account.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startedDatabase()
})
afterAll(() => database.close())

const person = fc.record({
  role: fc.constantFrom(...PERSON_ROLES),
  identifiers: fc.array(
    fc.record({ type: fc.constantFrom('UIN', 'BRN'), value: fc.string({ unit: 'binary' }) }),
    { maxLength: 3 },
  ),
})

/** Texts of any kind, also such as the database cannot hold as they are. */
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\0', '"', '\\', '\u2028'),
)

const write = fc.record({
  process: fc.nat(2),
  entry: fc.record({
    participant: fc.option(text),
    records: fc.nat(),
    shown: fc.dictionary(text, fc.array(text, { maxLength: 3 }), { maxKeys: 3 }),
    request: fc.option(
      fc.record({
        message_id: fc.option(text),
        digest: text,
        kid: fc.option(text),
        signature: fc.option(text),
      }),
    ),
  }),
  persons: fc.array(person, { maxLength: 4 }),
})

const RUNS = { numRuns: 25 }

test('any sequence of writes on several chains verifies', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { maxLength: 20 }),
      fc.integer({ min: 1, max: 5 }),
      async (writes, every) => {
        const processes = [0, 1, 2].map(() =>
          testAccounts(database.db, { limits: { checkpoint_entries: every } }),
        )
        await Promise.all(
          writes.map(({ process, entry, persons }) =>
            processes[process]?.write(accountEntry(entry), persons),
          ),
        )
        await Promise.all(processes.map((process) => process.close()))
        expect(await faults(database)).toEqual([])
      },
    ),
    RUNS,
  )
})

/** Every column that is written, by table; each row has its name. */
const COLUMNS = {
  account: ['chain', 'sequence', 'at', 'entry', 'commitments', 'hash', 'message_id', 'reply_message_id'],
  account_person: ['chain', 'sequence', 'position', 'pseudonym', 'salt', 'role'],
  account_checkpoint: ['chain', 'sequence', 'hash', 'at', 'content', 'digest', 'kid', 'signature'],
  account_tombstone: ['at', 'content', 'kid', 'signature', 'chains'],
} as const

/** Another value of a column, as SQL; bytes and texts are changed in one place. */
const CHANGED: Readonly<Record<string, (column: string, place: number) => string>> = {
  uuid: (column) => `gen_random_uuid() -- ${column}`,
  bigint: (column, place) => `${column} + ${1_000 + place}`,
  integer: (column, place) => `${column} + ${1_000 + place}`,
  'timestamp with time zone': (column, place) => `${column} + interval '${place + 1} microseconds'`,
  bytea: (column, place) =>
    `set_byte(${column}, ${place} % length(${column}), 255 - get_byte(${column}, ${place} % length(${column})))`,
  text: (column, place) =>
    `overlay(${column} placing case substr(${column}, ${place} % length(${column}) + 1, 1) when 'x' then 'y' else 'x' end
      from ${place} % length(${column}) + 1 for 1)`,
  ARRAY: (column) => `${column} || gen_random_uuid()`,
}

test('any single change of any byte is found', async () => {
  const on = await startedDatabase()
  try {
    for (const at of [1, 2]) {
      const accounts = testAccounts(on.db)
      for (let number = 0; number < 8; number += 1) {
        const message = { message_id: `m-${at}-${number}`, digest: 'd', kid: null, signature: null }
        await accounts.write(accountEntry({ request: message, reply: message }), [
          { role: 'seen', identifiers: [{ type: 'UIN', value: 'é' }] },
        ])
      }
      await accounts.close()
    }
    const chains = (await on.db.pool.query('select distinct chain from account order by chain')).rows
    await erase(on, chains[0].chain, 5, 0)
    await prune(on, chains[1].chain, 3)
    await bury(on, { kind: 'erasure', at: '2026-01-02T00:00:00.000Z', reason: 'nothing', erased: {} })
    expect(await faults(on)).toEqual([])
    const types = await query(
      on.owner,
      `select table_name, column_name, data_type from information_schema.columns where table_name = any($1)`,
      [Object.keys(COLUMNS)],
    )
    const columns = Object.entries(COLUMNS).flatMap(([table, names]) =>
      names.map((column) => {
        const found = types.find(
          ({ table_name, column_name }) => table_name === table && column_name === column,
        )
        return { table, column, type: String(found?.data_type) }
      }),
    )
    for (const { table } of columns)
      await tamper(on, `create table if not exists kept_${table} as table ${table}`)
    await tamper(on, 'alter table account_person drop constraint account_person_role_check')
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...columns),
        fc.nat(1_000),
        fc.nat(5_000),
        async (column, row, place) => {
          const { table, column: name, type } = column
          const other = CHANGED[type]?.(name, place)
          const changed = (await query(
            on.owner,
            `update ${table} set ${name} = ${other}
            where ctid = (select ctid from ${table} order by ctid offset ${row} % (select count(*) from ${table}) limit 1)
            returning 1 as done`,
          )) as { done: number }[]
          expect(changed).toHaveLength(1)
          expect(await faults(on), `${table}.${name}`).not.toEqual([])
          await tamper(
            on,
            `truncate ${table}; insert into ${table} overriding system value select * from kept_${table}`,
          )
        },
      ),
      { numRuns: 150 },
    )
  } finally {
    await on.close()
  }
})
