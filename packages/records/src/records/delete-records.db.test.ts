import { inTransaction } from '@rollcall/database/transaction'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { DOCUMENTS, recordType, registry, writeFixture } from '../../test/query-fixture.ts'
import { deleteRecords } from './delete-records.ts'
import { prepareRecord } from './prepare-record.ts'
import { writeRecords } from './record-writer.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await database.db.pool.query(`insert into registry (namespace, kind, sender_id) values ('n', 'civil', 'n')`)
  await writeFixture(database.db)
})
afterAll(() => database.close())

const rows = async (text: string) => (await database.db.pool.query(text)).rows

async function remove(...identifiers: string[]): Promise<number> {
  const client = await database.db.pool.connect()
  try {
    const deleted = await inTransaction(client, () => deleteRecords(client, registry, recordType, identifiers))
    return deleted.length
  } finally {
    client.release()
  }
}

test('a deleted record is gone with its identifiers and leaves a tombstone; the others stay', async () => {
  expect(await remove('U2', 'U9', 'U\0')).toBe(1)
  expect(await rows('select id from r1_test_person order by id')).toEqual([{ id: 1 }, { id: 3 }])
  expect(await rows('select value from r1_test_person_identifier where record = 2')).toEqual([])
  expect(await rows('select registry, record_type, record, primary_identifier from record_tombstone')).toEqual([
    { registry: 1, record_type: 'TestPerson', record: 2, primary_identifier: 'U2' },
  ])
  expect(await rows(`select deleted_at > now() - interval '1 minute' as now from record_tombstone`)).toEqual([{ now: true }])
  expect(await remove('U2')).toBe(0)
})

test('written again it is a new record, which can be deleted again', async () => {
  const client = await database.db.pool.connect()
  const written = prepareRecord(registry.kind, recordType, DOCUMENTS[1] ?? null)
  expect(await inTransaction(client, () => writeRecords(client, registry, recordType, [written]))).toEqual({
    inserted: [{ id: expect.any(String), primary_identifier: 'U2' }],
    updated: [],
    repeated: new Map(),
  })
  client.release()
  const [{ id }] = await rows(`select id from r1_test_person where primary_identifier = 'U2'`)
  expect(id).toBeGreaterThan(3)
  expect(await remove('U2')).toBe(1)
  expect(await rows('select record from record_tombstone order by record')).toEqual([{ record: 2 }, { record: id }])
})

test('a trace that a former copy has left under the same id is replaced', async () => {
  await rows(`insert into record_tombstone (registry, record_type, record, primary_identifier, deleted_at)
    values (1, 'TestPerson', 3, 'FORMER', '2020-01-01')`)
  const [{ primary_identifier }] = await rows('select primary_identifier from r1_test_person where id = 3')
  expect(await remove(primary_identifier)).toBe(1)
  const found = `select primary_identifier, deleted_at > now() - interval '1 minute' as now from record_tombstone where record = 3`
  expect(await rows(found)).toEqual([{ primary_identifier, now: true }])
})

test('none are no work', async () => {
  expect(await remove()).toBe(0)
})
