import type { Registry } from '@rollcall/core/model/registry'
import { inTransaction } from '@rollcall/database/transaction'
import type { JsonValue, RecordType } from '@rollcall/protocol'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lockWaits } from '../../../keys/test/held-table.ts'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addRegistry } from '../registries/registries.ts'
import { recordSourceOfOwnTables } from './own-records.ts'
import { type PreparedRecord, prepareRecord } from './prepare-record.ts'
import { recordTable } from './record-tables.ts'
import { type WriteResult, writeRecords } from './record-writer.ts'

let database: TestDatabase
let registry: Registry
let person: RecordType
let table: string
let identifierTable: string

beforeAll(async () => {
  database = await testDatabase()
  registry = await addRegistry(database.db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
  person = registry.kind.record_types[0]
  ;({ table, identifierTable } = recordTable(registry, person))
})
afterAll(() => database.close())
beforeEach(() => database.db.pool.query(`truncate ${table} cascade`))

function record(uin: string, members: { [member: string]: JsonValue } = {}): PreparedRecord {
  const identifier = [{ identifier_type: 'UIN', identifier_value: uin }]
  return prepareRecord(registry.kind, person, { identifier, ...members })
}

/** The primary identifiers of what was written; each id is that of its record. */
async function named({ inserted, updated }: WriteResult) {
  const found = await rows(`select id::text, primary_identifier from ${table}`)
  expect(found).toEqual(expect.arrayContaining([...inserted, ...updated]))
  const names = (written: WriteResult['inserted']) => written.map((one) => one.primary_identifier)
  return { inserted: names(inserted), updated: names(updated) }
}

async function write(...records: PreparedRecord[]) {
  const client = await database.db.pool.connect()
  try {
    return await named(await inTransaction(client, () => writeRecords(client, registry, person, records)))
  } finally {
    client.release()
  }
}

async function rows(statement: string): Promise<object[]> {
  return (await database.db.pool.query(statement)).rows
}

const documents = () => rows(`select primary_identifier, document from ${table} order by 1`)

test('new records are inserted, known ones replaced with all their identifiers and columns', async () => {
  const first = record('A1', { sex: 'male', phone_number: ['+15550100'], birth_date: '1985' })
  expect(await write(first, record('B2'))).toEqual({ inserted: ['A1', 'B2'], updated: [] })
  const [before] = await rows(`select id, created_at from ${table} where primary_identifier = 'A1'`)
  const second = record('a 1', { sex: 'female', email: 'A@EXAMPLE.ORG', marriage_date: ['2001-02-03', '2010'] })
  expect(await write(second, record('C3'))).toEqual({ inserted: ['C3'], updated: ['A1'] })

  expect(await documents()).toEqual([
    { primary_identifier: 'A1', document: second.document },
    { primary_identifier: 'B2', document: record('B2').document },
    { primary_identifier: 'C3', document: record('C3').document },
  ])
  expect(
    await rows(
      `select id, created_at, sex, birth_date_from, marriage_date_from::text[], marriage_date_to::text[],
         updated_at > created_at as updated from ${table} where primary_identifier = 'A1'`,
    ),
  ).toEqual([
    {
      ...before,
      sex: 'female',
      birth_date_from: null,
      marriage_date_from: ['2001-02-03', '2010-01-01'],
      marriage_date_to: ['2001-02-03', '2010-12-31'],
      updated: true,
    },
  ])
  expect(
    await rows(`select i.type, i.value, names_record from ${identifierTable} i
                join ${table} t on t.id = i.record where primary_identifier = 'A1' order by 1`),
  ).toEqual([
    { type: 'EMAIL', value: 'a@example.org', names_record: true },
    { type: 'UIN', value: 'A1', names_record: true },
  ])
})

test('of several records with one primary identifier the last stands', async () => {
  const last = record('A1', { sex: 'female' })
  expect(await write(record('A1', { sex: 'male' }), record('B2'), last)).toEqual({ inserted: ['A1', 'B2'], updated: [] })
  expect(await documents()).toMatchObject([{ document: last.document }, { primary_identifier: 'B2' }])
})

test('no records are no work', async () => {
  expect(await write()).toEqual({ inserted: [], updated: [] })
})

test('a shared identifier leads to every record that bears it', async () => {
  await write(record('A1', { phone_number: ['+15550100'] }), record('B2', { phone_number: ['+15550100'] }))
  const page = { sort: [], limit: 10, offset: 0, cap: 100 }
  const found = await recordSourceOfOwnTables(database.db)
    .reader('sync')
    .find(registry, {
      recordType: person,
      predicate: { is: 'identifier', identifiers: [{ type: 'MOBILE', value: '15550100' }] },
      page,
    })
  expect(found.total).toBe(2)
})

test('any text survives, new and replaced, in the document, in columns and in arrays', async () => {
  const ibr = await addRegistry(database.db, { namespace: 'ibr', kind: 'ibr', sender_id: 'ibr.example' })
  const [beneficiary] = ibr.kind.record_types
  const { table: name, columns } = recordTable(ibr, beneficiary)
  const same = columns.map((column, at) => `${column.name} is not distinct from $${at + 3}::${column.sql_type}`)
  const special = ['\\', '\t', '\n', '\r', '"', "'", '{', '}', ',', 'N', 'é', '😀', ' ', '\u2028', '$']
  const text = fc.string({ unit: fc.constantFrom(...special), minLength: 1 })
  await fc.assert(
    fc.asyncProperty(text, fc.array(text), async (surname, programmes) => {
      const written = prepareRecord(ibr.kind, beneficiary, {
        member: {
          demographic_info: { identifier: [{ identifier_type: 'UIN', identifier_value: 'U1' }], name: { surname } },
          programme_identifier: programmes,
        },
      })
      const client = await database.db.pool.connect()
      await inTransaction(client, async () => {
        await writeRecords(client, ibr, beneficiary, [written])
        if (programmes.length % 2 === 1) await writeRecords(client, ibr, beneficiary, [written])
      })
      client.release()
      // The same values once more, as parameters: the way that needs no escapes.
      const { rows: found } = await database.db.pool.query(
        `delete from ${name} where primary_identifier = $1 and document = $2 and ${same.join(' and ')} returning 1`,
        [written.primary_identifier, written.document, ...written.columns],
      )
      expect(found).toHaveLength(1)
    }),
    { numRuns: 50 },
  )
})

test('a value that PostgreSQL cannot hold fails the batch and leaves the transaction usable', async () => {
  const client = await database.db.pool.connect()
  const bad = { ...record('BAD'), columns: record('BAD').columns.map(() => 'no such value') }
  await inTransaction(client, async () => {
    await writeRecords(client, registry, person, [record('A1')])
    await expect(writeRecords(client, registry, person, [record('B2'), bad])).rejects.toMatchObject({ code: '22007' })
    await writeRecords(client, registry, person, [record('C3')])
  })
  client.release()
  expect(await documents()).toMatchObject([{ primary_identifier: 'A1' }, { primary_identifier: 'C3' }])
})

/** Gives the work two connections, each in a transaction. */
async function twoWriters(work: (one: pg.Client, other: pg.Client) => Promise<void>): Promise<void> {
  const clients = [new pg.Client(database.connection), new pg.Client(database.connection)] as const
  for (const client of clients) {
    await client.connect()
    await client.query('begin')
  }
  try {
    await work(...clients)
  } finally {
    for (const client of clients) await client.end()
  }
}

/** Until some connection waits for another's lock. */
const untilBlocked = () => expect.poll(() => lockWaits(database)).toBeGreaterThan(0)

test('a writer that inserts the same record first is waited for, and its record replaced', async () => {
  await twoWriters(async (one, other) => {
    await writeRecords(one, registry, person, [record('A1', { sex: 'male', email: 'one@example.org' })])
    const writing = writeRecords(other, registry, person, [record('A1', { sex: 'female' }), record('B2')])
    await untilBlocked()
    await one.query('commit')
    const written = await writing
    await other.query('commit')
    expect(await named(written)).toEqual({ inserted: ['B2'], updated: ['A1'] })
  })
  expect(await documents()).toMatchObject([{ document: record('A1', { sex: 'female' }).document }, { primary_identifier: 'B2' }])
  expect(await rows(`select value from ${identifierTable} order by 1`)).toEqual([{ value: 'A1' }, { value: 'B2' }])
})

test('two writers that replace and add the same records in opposite order both succeed', async () => {
  const codes = Array.from({ length: 50 }, (_, at) => `U${at}`)
  await write(...codes.slice(0, 25).map((code) => record(code)))
  const forth = codes.map((code) => record(code, { sex: 'male' }))
  const back = codes.map((code) => record(code, { sex: 'female' })).reverse()
  await Promise.all(Array.from({ length: 6 }, (_, at) => write(...(at % 2 ? forth : back))))
  const sexes = await rows(`select sex, count(*) from ${table} group by sex`)
  expect(sexes).toEqual([expect.objectContaining({ count: 50 })])
  expect(await rows(`select count(*) from ${identifierTable}`)).toEqual([{ count: 50 }])
})
