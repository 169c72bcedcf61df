/** A registry without record tables: whatever would write its records is refused with the reason, and all else works. */

import { Readable } from 'node:stream'
import { migrateDatabase } from '@rollcall/admin/database'
import { publishEvent } from '@rollcall/admin/events/publish'
import { listProtectedPersons, protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords, unmergeRecords } from '@rollcall/admin/records/merge'
import { showRecord } from '@rollcall/admin/records/record'
import { deleteRecords, importRecords } from '@rollcall/admin/records/records'
import { addAttribute, indexAttribute, removeAttribute } from '@rollcall/admin/registries/attributes'
import { explainQuery } from '@rollcall/admin/registries/explain'
import { addIdentifierType, removeIdentifierType } from '@rollcall/admin/registries/identifier-types'
import { applyIndexes, planIndexes } from '@rollcall/admin/registries/indexes'
import { changeRegistry, listRegistries } from '@rollcall/admin/registries/registries'
import { showRegistry } from '@rollcall/admin/registries/show'
import { removeRegistry } from '@rollcall/admin/removal'
import { setRegistryRecords } from '@rollcall/records/records/registry-records'
import { afterAll, beforeAll, expect, it, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { beneficiary, updatesMessage } from '../../enrolment-updates.ts'
import { type MemoryRecords, memoryRecords } from '../../memory-records.ts'
import { bearer, post, postSearch, type TestParticipant, type TestServer, testServer } from '../../server.ts'

const person = (value: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: value }],
  ...more,
})
const nid = { identifier_type: 'NID', identifier_value: 'N-1' }

let server: TestServer
let records: MemoryRecords
let peer: TestParticipant
beforeAll(async () => {
  server = await testServer()
  const { db } = server.database
  records = memoryRecords(db)
  const civil = await server.registry('civil', [], 'civil', 'live', false)
  const ibr = await server.registry('ibr', [], 'ibr', 'live', false)
  await server.registry('civil', [], 'closed', 'live', false)
  for (const one of [civil, ibr]) setRegistryRecords(db, one, records)
  const phone = { identifier_type: 'MOBILE', identifier_value: '+254700000001' }
  records.put(civil, person('P-1', { identifier: [...person('P-1').identifier, nid, phone] }))
  records.put(civil, person('P-2', { identifier: [...person('P-2').identifier, phone] }))
  peer = await server.participant('spmis.demo')
})
afterAll(() => server.close())

const deps = <More extends object>(more?: More) => {
  const { db, limits, pipeline } = { ...server.context, pipeline: null }
  return acting({ db, limits, pipeline, owner: db, ...(more as More) })
}
const namespace = 'civil'
const tables = async (): Promise<readonly string[]> => {
  const { rows } = await server.database.db.pool.query<{ name: string }>(
    `select relname as name from pg_class where relname ~ '^r[0-9]+_'`,
  )
  return rows.map(({ name }) => name)
}
const found = async (value: string) => {
  const search_criteria = { query_type: 'idtype-value', query: { type: 'UIN', value } }
  const { body } = await postSearch(server, peer, [{ search_criteria, reference_id: 'a' }])
  return body.message.search_response[0].pagination.total_count
}

test('it has no tables, also after a migration', async () => {
  expect(await tables()).toEqual([])
  await migrateDatabase(deps(), {})
  expect(await tables()).toEqual([])
})

const REASON = 'the records of civil are in a database of its own, which is only read; change them there'
const file = () => deps({ source: Readable.from([JSON.stringify(person('P-3'))]) })
const P1 = { identifier_type: 'UIN', identifier_value: 'P-1' }
const P2 = { identifier_type: 'UIN', identifier_value: 'P-2' }

it.each<[string, () => Promise<unknown>]>([
  ['an import', () => importRecords(file(), { namespace, format: 'ndjson' })],
  ['a dry run of an import', () => importRecords(file(), { namespace, format: 'ndjson', dry_run: true })],
  ['a deletion', () => deleteRecords(deps(), { namespace, record_type: 'Person', identifiers: ['P-1'] })],
  ['a merge', () => mergeRecords(deps(), { namespace, survivor: P1, retired: P2 })],
  ['taking a merge back', () => unmergeRecords(deps(), { namespace, retired: P2 })],
  ['a published event', () => publishEvent(deps(), { namespace, record: person('P-1'), reg_event_type: 'UPDATE' })],
])('refuses %s with the reason', async (_act, refused) => {
  await expect(refused()).rejects.toMatchObject({ name: 'AdminRefusal', message: REASON })
  expect(await found('P-1')).toBe(1)
})

it('rejects each beneficiary of an enrolment update with the reason', async () => {
  const url = `${server.url}/ibr/v1.0.0/registry/enrollments/updates`
  const { body } = await post(url, updatesMessage(peer, [beneficiary('P-1')]), bearer(peer))
  expect(JSON.stringify(body)).toContain('this registry takes no enrolment updates: its records are written by other systems')
  expect(JSON.stringify(body)).toContain('rjct')
})

it('has a record for an operator, and is shown and counted', async () => {
  const entered: unknown[] = []
  const looking = deps({ auditLog: { write: async (...entry: unknown[]) => void entered.push(entry) } })
  expect(await showRecord(looking, { namespace, type: 'NID', value: 'N-1' })).toMatchObject([
    { record_type: 'Person', record: { identifier: [{ identifier_value: 'P-1' }, nid, {}] } },
  ])
  expect(entered).toHaveLength(1)
  expect(await showRegistry(deps(), { namespace })).toMatchObject({ records: { Person: 2 }, indexes: [] })
  // The source of one registry is not open here: its records are not counted, and the list is there.
  const listed = await listRegistries(deps(), {})
  expect(listed.map((one) => [one.namespace, one.records])).toEqual([
    ['civil', { Person: 2 }],
    ['closed', {}],
    ['ibr', { Beneficiary: 0 }],
  ])
})

it('has attributes and identifier types that its operator adds, without columns and indexes', async () => {
  const where = { namespace, record_type: 'Person', name: 'clan' }
  await addAttribute(deps(), { ...where, type: 'text', paths: ['clan'] })
  await indexAttribute(deps(), where)
  await removeAttribute(deps(), where)
  await addIdentifierType(deps(), { namespace, name: 'CARD' })
  await removeIdentifierType(deps(), { namespace, name: 'CARD' })
  await changeRegistry(deps(), { namespace, primary_identifiers: { Person: 'UIN' } })
  expect(await planIndexes(deps(), { namespace })).toEqual([])
  expect(await applyIndexes(deps(), { namespace })).toMatchObject([{ built: [], filled: [], finished: true }])
  expect(await tables()).toEqual([])
  await expect(explainQuery(deps(), { namespace, query: { UIN: 'P-1' } })).rejects.toThrow(
    'the records are in a database of their own, and a search has no statement of ours to explain',
  )
})

it('hides a person who is protected, by whatever identifier of the person alone', async () => {
  const given = { namespace, ...nid }
  const protect = protectPerson(deps(), { ...given, category: 'shelter', reason: 'Order 7' })
  expect(await protect).toMatchObject({ records: 1, rewritten: 0, withdrawn: 0 })
  const { rows } = await server.database.db.pool.query(
    'select type, value, protects from protected_identifier order by type, value',
  )
  // The telephone is another person's too.
  expect(rows).toEqual([
    { type: 'NID', value: 'N-1', protects: false },
    { type: 'UIN', value: 'P-1', protects: true },
  ])
  server.clock.pass(1_000)
  expect([await found('P-1'), await found('P-2')]).toEqual([0, 1])
  expect(await listProtectedPersons(deps(), { namespace })).toMatchObject([{ category: 'shelter', records: 1 }])
  await unprotectPerson(deps(), given)
  server.clock.pass(1_000)
  expect(await found('P-1')).toBe(1)
})

it('answers nothing while its source is not open', async () => {
  await expect(showRecord(deps(), { namespace: 'closed', type: 'UIN', value: 'P-1' })).rejects.toThrow(
    'the records of the registry are in a database of its own, which is not open here',
  )
})

it('is removed', async () => {
  const removal = { namespace: 'closed', end: true }
  expect(await removeRegistry(deps({ pause: async () => undefined }), removal)).toMatchObject({ records: {} })
  expect((await listRegistries(deps(), {})).map((one) => one.namespace)).toEqual(['civil', 'ibr'])
})
