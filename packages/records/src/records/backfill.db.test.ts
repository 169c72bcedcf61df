import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { inTransaction } from '@rollcall/database/transaction'
import type { Attribute, RecordType } from '@rollcall/protocol'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { born, crop, cropType, registry as shape, surname, tag } from '../../test/query-fixture.ts'
import { backfillColumns } from './backfill.ts'
import { prepareRecord } from './prepare-record.ts'
import { ensureRecordTables } from './record-tables.ts'
import { writeRecords } from './record-writer.ts'

const RECORDS = 25
let database: TestDatabase
let db: Database
let [bare, full]: readonly (readonly [RegistryShape, RecordType])[] = []
let id = 0

beforeAll(async () => {
  database = await testDatabase()
  db = database.db
})
afterAll(() => database.close())

function registryWith(attributes: readonly Attribute[], compounds: RecordType['compounds'] = []) {
  const recordType: RecordType = { ...shape.kind.record_types[0], attributes, compounds }
  return [{ id, kind: { ...shape.kind, record_types: [recordType] } }, recordType] as const
}

/** Records written before the attributes were declared; the last has no value of some. */
beforeEach(async () => {
  const { rows } = await db.pool.query(
    `insert into registry (namespace, kind, sender_id)
     select 'n' || count(*), 'civil', 'n' || count(*) from registry returning id`,
  )
  id = rows[0].id
  bare = registryWith([surname])
  full = registryWith([surname, born, tag], [crop])
  const [registry, recordType] = bare
  await ensureRecordTables(db, registry)
  const documents = Array.from({ length: RECORDS }, (_, n) => ({
    identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
    surname: 'okafor',
    born: `19${String(n + 10)}`,
    ...(n < RECORDS - 1 && { tag: ['\\u0000', 'b'], crop: [{ crop_type: '\\u0000' }] }),
  }))
  const client = await db.pool.connect()
  const prepared = documents.map((document) => prepareRecord(registry.kind, recordType, document))
  await inTransaction(client, () => writeRecords(client, registry, recordType, prepared))
  client.release()
  await ensureRecordTables(db, full[0])
})

const rowsOf = async (text: string) => (await db.pool.query(text)).rows
const toFill = () => rowsOf(`select name, next_record from column_fill where registry = ${id} order by name`)
const fillAll = (options?: Parameters<typeof backfillColumns>[3]) => {
  if (full === undefined) throw new Error('no registry')
  return backfillColumns(db, ...full, options)
}

test('columns are filled as a writer fills them, and crossed out', async () => {
  expect(await toFill()).toEqual(['born', 'crop', 'tag'].map((name) => ({ name, next_record: 0 })))
  const seen: number[] = []
  expect(await fillAll({ batch: 10, progress: (records) => seen.push(records) })).toBe(true)
  expect(seen).toEqual([10, 20, 25, 25])
  expect(await toFill()).toEqual([])
  const rows = await rowsOf(`select born_from, born_to, tag, crop from r${id}_test_person order by id`)
  expect(rows[3]).toEqual({
    born_from: '1913-01-01',
    born_to: '1913-12-31',
    tag: ['\\u0000', 'b'],
    crop: [{ [cropType.name]: '\\u0000' }],
  })
  expect(rows[RECORDS - 1]).toEqual({ born_from: '1934-01-01', born_to: '1934-12-31', tag: null, crop: null })
  expect(await fillAll()).toBe(true)
})

test('stopped, it goes on where it was', async () => {
  const stop = new AbortController()
  expect(await fillAll({ batch: 10, signal: stop.signal, progress: () => stop.abort() })).toBe(false)
  expect(await toFill()).toMatchObject([{ next_record: 11 }, { next_record: 11 }, { next_record: 11 }])
  expect(await rowsOf(`select from r${id}_test_person where born_from is not null`)).toHaveLength(10)
  const seen: number[] = []
  expect(await fillAll({ progress: (records) => seen.push(records) })).toBe(true)
  expect(seen[0]).toBe(15)
})

test('a column that was added while others were being backfilled is filled from the beginning', async () => {
  const stop = new AbortController()
  await fillAll({ batch: 10, signal: stop.signal, progress: () => stop.abort() })
  await db.pool.query(`update column_fill set next_record = 0 where registry = $1 and name = 'tag'`, [id])
  await db.pool.query(`update r${id}_test_person set tag = null`)
  expect(await fillAll({ batch: 10 })).toBe(true)
  expect(await rowsOf(`select from r${id}_test_person where tag is not null`)).toHaveLength(RECORDS - 1)
  expect(await rowsOf(`select from r${id}_test_person where born_from is not null`)).toHaveLength(RECORDS)
})

test('a name that only another version knows is left to that one', async () => {
  await db.pool.query(`update column_fill set name = 'newer' where registry = $1 and name = 'tag'`, [id])
  expect(await fillAll()).toBe(true)
  expect(await toFill()).toEqual([{ name: 'newer', next_record: 0 }])
})

test('two at once fill every record once each and agree', async () => {
  expect(await Promise.all([fillAll({ batch: 3 }), fillAll({ batch: 3 })])).toEqual([true, true])
  expect(await rowsOf(`select from r${id}_test_person where born_from is not null`)).toHaveLength(RECORDS)
})
