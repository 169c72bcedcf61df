/** A source of records beside our own tables: what is asked of it, and nothing else, is answered. */

import { type RecordReader, type RecordSource, SearchTimeout } from '@rollcall/core/model/record-source'
import type { FoundRecord } from '@rollcall/core/model/records'
import { extractRecord } from '@rollcall/core/query/memory/extract-record'
import { matches } from '@rollcall/core/query/memory/matches'
import type { JsonObject } from '@rollcall/protocol'
import { openRecords } from '@rollcall/records/records/registry-records'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../../server.ts'

const uin = (number: number) => String(number).padStart(10, '0')
const people: readonly JsonObject[] = Array.from({ length: 30 }, (_, index) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin(index) }],
  sex: index % 3 === 0 ? 'female' : 'male',
}))
/** Its ids are its own. */
const records: readonly FoundRecord[] = people.map((person, index) => {
  return { id: 7_000 + index, document: JSON.stringify(person) }
})

let isSlow = false
const reader: RecordReader = {
  async find(registry, { recordType, predicate, page: { limit, offset, ids = 0 } }) {
    if (isSlow) throw new SearchTimeout(new Error('slow'))
    const hits = records.filter(({ document }) =>
      matches(predicate, extractRecord(registry.kind, recordType, JSON.parse(document))),
    )
    const found = hits.slice(offset, offset + limit)
    return { total: hits.length, records: found, ids: hits.length <= ids ? hits.map(({ id }) => id) : [] }
  },
  read: async (_registry, _recordType, ids) => ids.flatMap((id) => records.find((record) => record.id === id) ?? []),
  merged: async () => new Map(),
}
const source: RecordSource = { reader: () => reader, session: (work) => work(reader) }

let server: TestServer
let peer: TestParticipant
beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  const registry = await server.registry('civil', [{ ...people[0], sex: 'of our own table' }])
  openRecords(server.context.db, registry, { source })
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
  ask({
    query_type: 'expression',
    query: { type: 'ns:org:QueryType:expression', value: { expression: { query } } },
    ...more,
  })

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
