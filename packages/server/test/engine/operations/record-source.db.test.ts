/** A source of records beside our own tables: what is asked of it, and nothing else, is answered. */

import { SearchTimeout } from '@rollcall/core/model/record-source'
import type { JsonObject } from '@rollcall/protocol'
import { setRegistryRecords } from '@rollcall/records/records/registry-records'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { memoryRecords } from '../../memory-records.ts'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../../server.ts'

const uin = (number: number) => String(number).padStart(10, '0')
const people: readonly JsonObject[] = Array.from({ length: 30 }, (_, index) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin(index) }],
  sex: index % 3 === 0 ? 'female' : 'male',
}))
let isSlow = false

let server: TestServer
let peer: TestParticipant
beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  const registry = await server.registry('civil', [{ ...people[0], sex: 'of our own table' }])
  const records = memoryRecords(server.context.db)
  for (const one of people) records.put(registry, one)
  const reader = records.source.reader('sync')
  const find = (...asked: Parameters<typeof reader.find>) =>
    isSlow ? Promise.reject(new SearchTimeout(new Error('slow'))) : reader.find(...asked)
  setRegistryRecords(server.context.db, registry, {
    ...records,
    source: { ...records.source, reader: () => ({ ...reader, find }) },
  })
})
afterAll(() => server.close())

const ask = async (search_criteria: object) => {
  const answer = await postSearch(server, peer, [{ search_criteria, reference_id: 'a' }])
  const [item] = answer.body.message.search_response as Record<string, object>[]
  return item
}

test('records of another source are found by an identifier and answered', async () => {
  const item = await ask({ query_type: 'idtype-value', query: { type: 'UIN', value: uin(0) } })
  expect(item).toMatchObject({ status: 'succ', pagination: { total_count: 1 } })
  expect(item).toHaveProperty('data.reg_records', [people[0]])
})

const expression = (query: object, more: object = {}) =>
  ask({ query_type: 'expression', query: { type: 'ns:org:QueryType:expression', value: { expression: { query } } }, ...more })

test('a page of them is found by a condition', async () => {
  const item = await expression({ sex: 'female' }, { pagination: { page_size: 2, page_number: 2 } })
  expect(item).toMatchObject({ status: 'succ', pagination: { total_count: 10 } })
  expect(item).toHaveProperty('data.reg_records', [people[6], people[9]])
})

test('a search that takes the source too long is rejected', async () => {
  isSlow = true
  expect(await expression({ sex: 'female' })).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.search_criteria.invalid',
    status_reason_message: expect.stringMatching(/^search_criteria\.query: took longer than 10 seconds; /),
  })
})
