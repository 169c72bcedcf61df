/** Random merges, unmerges and writes: every identifier finds what a small model says, in SQL and in memory. */
import { Readable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { IDENTIFIER_ROWS_GROUP_NAME, type Registry } from '@rollcall/core/model/registry'
import { readRecordValues } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import { parseJson } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { aliasesOf } from '@rollcall/records/records/retired-records'
import { addRegistry } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { backfillColumns } from '../../../records/src/records/backfill.ts'
import { predicateToSql } from '../../../records/src/records/sql/to-sql.ts'
import { acting } from '../../test/acting.ts'
import { publishEvent } from '../events/publish.ts'
import { mergeRecords, unmergeRecords } from './merge.ts'
import { deleteRecords, importRecords } from './records.ts'

let database: TestDatabase
let registry: Registry
beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
})
afterAll(() => database.close())

const limits = DEFAULT_LIMITS
const query = (statement: string, values: readonly unknown[] = []) => database.db.pool.query(statement, [...values])

const [PEOPLE, OTHERS] = [
  ['P0', 'P1', 'P2', 'P3', 'P4'],
  ['B0', 'B1', 'B2', 'B3'],
] as const
type Name = (typeof PEOPLE)[number]

interface Step {
  readonly does: 'merge' | 'unmerge' | 'publish' | 'import' | 'delete' | 'backfill'
  readonly one: Name
  readonly another: Name
  readonly other: string
}

const steps = fc.array(
  fc.record<Step>({
    does: fc.constantFrom('merge', 'merge', 'unmerge', 'publish', 'import', 'delete', 'backfill'),
    one: fc.constantFrom(...PEOPLE),
    another: fc.constantFrom(...PEOPLE),
    other: fc.constantFrom(...OTHERS),
  }),
  { minLength: 4, maxLength: 12 },
)

const merge = (one: Name, another: Name): Step => ({ does: 'merge', one, another, other: 'B0' })
/** Longer than random ones: one of its middle is taken out with two others in it. */
const CHAIN = [
  ...[merge('P1', 'P0'), merge('P2', 'P1'), merge('P3', 'P2'), merge('P4', 'P3')],
  { ...merge('P2', 'P2'), does: 'unmerge' as const },
]

const uin = (value: string) => ({ identifier_type: 'UIN', identifier_value: value })
const personWith = (name: Name, others: Iterable<string>) => ({
  identifier: [uin(name), ...[...others].map((value) => ({ identifier_type: 'BRN', identifier_value: value }))],
})

/** The identifiers of each record beside its name, and the record into which it was merged. */
class Model {
  readonly borne = new Map<Name, Set<string>>()
  readonly into = new Map<Name, Name>()

  root(name: Name): Name {
    const into = this.into.get(name)
    return into === undefined ? name : this.root(into)
  }

  isLive = (name: Name): boolean => this.borne.has(name) && !this.into.has(name)

  /** The identifiers that find a record: its own, and those of all records that were merged into it. */
  finding(name: Name): Set<string> {
    const all = [...this.borne].filter(([one]) => this.root(one) === name)
    return new Set(all.flatMap(([one, others]) => [one, ...others]))
  }

  write({ does, one, other }: Step): void {
    const root = this.root(one)
    const own = this.borne.get(root) ?? new Set()
    if (root !== one && this.finding(root).has(other)) return
    this.borne.set(root, does === 'import' && root === one ? new Set([other]) : own.add(other))
  }

  remove(name: Name): void {
    const all = [...this.borne.keys()].filter((one) => this.root(one) === name)
    for (const one of all) {
      this.borne.delete(one)
      this.into.delete(one)
    }
  }
}

function load(records: readonly ReturnType<typeof personWith>[]) {
  const source = Readable.from([Buffer.from(records.map((one) => `${JSON.stringify(one)}\n`).join(''))])
  const deps = { db: database.db, limits, source }
  return importRecords(acting(deps), { namespace: 'civil', format: 'ndjson', events: 'changes' })
}

async function take(model: Model, step: Step): Promise<void> {
  const { does, one, another, other } = step
  const deps = { db: database.db, limits }
  const namespace = 'civil'
  const record = personWith(one, [other])
  if (does === 'merge') {
    if (!model.isLive(one) || !model.isLive(another) || one === another) return
    await mergeRecords(acting(deps), { namespace, survivor: uin(one), retired: uin(another) })
    model.into.set(another, one)
  } else if (does === 'unmerge') {
    if (!model.into.has(one)) return
    await unmergeRecords(acting(deps), { namespace, retired: uin(one) })
    model.into.delete(one)
  } else if (does === 'publish') {
    await publishEvent(acting(deps), { namespace, reg_event_type: 'UPDATE', record })
    model.write(step)
  } else if (does === 'import') {
    await load([record])
    model.write(step)
  } else if (does === 'delete') {
    if (!model.isLive(one)) return
    await deleteRecords(acting(deps), { namespace, record_type: 'Person', identifiers: [one] })
    model.remove(one)
  } else {
    const [recordType] = registry.kind.record_types
    await query(`insert into column_fill values ($1, 'Person', $2)`, [registry.id, IDENTIFIER_ROWS_GROUP_NAME])
    await backfillColumns(database.db, registry, recordType)
  }
}

/** By identifier, the names of the records that it finds. */
type Found = Readonly<Record<string, readonly string[]>>

async function found(): Promise<{ sql: Found; memory: Found }> {
  const [recordType] = registry.kind.record_types
  const table = recordTable(registry, recordType)
  const { rows } = await query('select id::text, primary_identifier as name, document from r1_person order by name')
  const aliases = await aliasesOf(
    database.db.pool,
    registry,
    recordType,
    rows.map(({ id }) => id),
  )
  const [sql, memory]: [Record<string, string[]>, Record<string, string[]>] = [{}, {}]
  for (const value of [...PEOPLE, ...OTHERS]) {
    const identifiers = [{ type: value.startsWith('P') ? 'UIN' : 'BRN', value }]
    const predicate = { is: 'identifier', identifiers } as const
    const condition = predicateToSql(predicate, table)
    const hits = await query(
      `select primary_identifier as name from r1_person as record where ${condition.text} order by name`,
      condition.values,
    )
    sql[value] = hits.rows.map(({ name }) => name)
    memory[value] = rows
      .filter(({ id, document }) =>
        matches(predicate, readRecordValues(registry.kind, recordType, parseJson(document), aliases.get(id))),
      )
      .map(({ name }) => name)
  }
  return { sql, memory }
}

test('every identifier finds what the model says, and no document has an identifier of another record', async () => {
  const agree = fc.asyncProperty(steps, async (taken) => {
    await query('truncate r1_person, retired_record, record_tombstone, event, column_fill cascade')
    const model = new Model()
    await load(PEOPLE.map((name) => personWith(name, [OTHERS[0]])))
    for (const name of PEOPLE) model.borne.set(name, new Set([OTHERS[0]]))
    for (const step of taken) await take(model, step)
    const live = PEOPLE.filter(model.isLive)
    const expected = Object.fromEntries(
      [...PEOPLE, ...OTHERS].map((value) => [value, live.filter((name) => model.finding(name).has(value))]),
    )
    const { sql, memory } = await found()
    expect(sql).toEqual(expected)
    expect(memory).toEqual(expected)
    const { rows } = await query('select primary_identifier as name, document from r1_person order by name')
    const borne = rows.map(({ name, document }) => {
      const { identifier } = JSON.parse(document)
      return [name, identifier.map((one: ReturnType<typeof uin>) => one.identifier_value).sort()]
    })
    expect(borne).toEqual(live.map((name) => [name, [...(model.borne.get(name) ?? []), name].sort()]))
  })
  await fc.assert(agree, { numRuns: 12, examples: [[CHAIN]] })
})
