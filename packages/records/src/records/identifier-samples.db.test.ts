import type { Registry } from '@rollcall/core/model/registry'
import { inTransaction } from '@rollcall/database/transaction'
import type { JsonValue } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addRegistry } from '../registries/registries.ts'
import { prepareRecord } from './prepare-record.ts'
import { countRecords, hasRecords, sampleIdentifiers } from './record-counts.ts'
import { writeRecords } from './record-writer.ts'

let database: TestDatabase
let social: Registry
let civil: Registry

beforeAll(async () => {
  database = await testDatabase()
  social = await addRegistry(database.db, { namespace: 's', kind: 'social', sender_id: 's.example' })
  civil = await addRegistry(database.db, { namespace: 'c', kind: 'civil', sender_id: 'c.example' })
  const [member, group] = social.kind.record_types
  const people = ['U1', 'U2', 'U3'].map((uin) => ({ member_identifier: [id('UIN', uin)] }))
  await write(social, member, people)
  if (group) {
    await write(social, group, [
      { group_identifier: [id('HOUSEHOLD_ID', 'H1')], member_list: [{ member_identifier: [id('UIN', 'U1')] }] },
    ])
  }
  await write(civil, civil.kind.record_types[0], [
    { identifier: [id('UIN', 'A'), id('BRN', 'SHARED')] },
    { identifier: [id('UIN', 'B'), id('BRN', 'SHARED')] },
    { identifier: [id('UIN', 'C'), id('BRN', 'OWN')] },
  ])
})

afterAll(() => database.close())

const id = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })

async function write(
  registry: Registry,
  recordType: Registry['kind']['record_types'][number],
  documents: JsonValue[],
): Promise<void> {
  const client = await database.db.pool.connect()
  try {
    const records = documents.map((document) => prepareRecord(registry.kind, recordType, document))
    await inTransaction(client, () => writeRecords(client, registry, recordType, records))
  } finally {
    client.release()
  }
}

test('samples are the earliest that name one record, so many of each type', async () => {
  const [person] = civil.kind.record_types
  expect(await sampleIdentifiers(database.db, civil, person, { UIN: 2, BRN: 2, NID: 1 })).toEqual([
    { type: 'UIN', value: 'A' },
    { type: 'UIN', value: 'B' },
    { type: 'BRN', value: 'OWN' },
  ])
  expect(await sampleIdentifiers(database.db, civil, person, { BRN: 1, UIN: 1 })).toEqual([
    { type: 'BRN', value: 'OWN' },
    { type: 'UIN', value: 'A' },
  ])
  expect(await sampleIdentifiers(database.db, civil, person, {})).toEqual([])
})

test('what names only a part of a record is no sample of it', async () => {
  const [member, group] = social.kind.record_types
  if (!group) throw new Error('no groups')
  expect(await sampleIdentifiers(database.db, social, group, { UIN: 9, HOUSEHOLD_ID: 9 })).toEqual([
    { type: 'HOUSEHOLD_ID', value: 'H1' },
  ])
  expect(await sampleIdentifiers(database.db, social, member, { UIN: 9 })).toHaveLength(3)
})

test('records are counted by their type', async () => {
  expect(await countRecords(database.db, social)).toEqual({ Member: 3, Group: 1 })
  expect(await hasRecords(database.db, social)).toBe(true)
  const empty = await addRegistry(database.db, { namespace: 'e', kind: 'social', sender_id: 'e.example' })
  expect(await countRecords(database.db, empty)).toEqual({ Member: 0, Group: 0 })
  expect(await hasRecords(database.db, empty)).toBe(false)
})
