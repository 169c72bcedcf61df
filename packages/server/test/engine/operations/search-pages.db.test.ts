/** Order and pages of what a search finds, and searches that find too much or take too long. */

import { createSemaphore } from '@rollcall/base/shared/semaphore'
import type { Exchange } from '@rollcall/core/model/exchange'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { readGrant } from '@rollcall/core/policy/grant'
import { openDatabase } from '@rollcall/database/database'
import { recordTable } from '@rollcall/records/records/record-tables'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { searchItem } from '../../../../engine/src/operations/search.ts'
import { holdTable } from '../../../../keys/test/held-table.ts'
import { EVERYTHING } from '../../../../participants/test/grants.ts'
import { postSearch, type TestParticipant, type TestServer, testServer, writeDocuments } from '../../server.ts'

const person = (uin: string, born: string, phone_number: readonly string[]) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { given_name: uin },
  birth_date: born,
  phone_number,
})
const PEOPLE = [
  person('3', '1990-05-05', ['+1 555 0100']),
  person('1', '1970', ['+1 555 0100']),
  person('2', '2001-01-01', ['+1 555 0100']),
  person('007', '1980-01-01', []),
  person('008', '1985', []),
]
const BY_PHONE = { type: 'MOBILE', value: '+1 555 0100' }

/** Born on one day. */
const TIED = ['A', 'B', 'C', 'D', 'E', 'F'].map((uin) => person(uin, '1999-09-09', ['+1 555 0199']))

let server: TestServer
let tied: Registry
let peer: TestParticipant
let favoured: TestParticipant

beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  favoured = await server.participant('favoured.demo', { max_page_size: 500 })
  await server.registry('civil', PEOPLE)
  tied = await server.registry('civil', TIED, 'tied')
})

afterAll(() => server.close())

async function askOne(criteria: object, item: object = {}, by = peer) {
  const search_criteria = { query_type: 'idtype-value', query: BY_PHONE, ...criteria }
  const answer = await postSearch(server, by, [{ search_criteria, ...item }])
  expect(answer.status).toBe(200)
  return answer.body.message.search_response[0]
}

const uins = (item: { data: { reg_records: { name: { given_name: string } }[] } }) =>
  item.data.reg_records.map(({ name }) => name.given_name)

describe('sort and pagination', () => {
  it('sorts by a sortable attribute, by its alias, either way', async () => {
    const sort = (attribute_name: string, sort_order?: string) => ({ query: BY_PHONE, sort: [{ attribute_name, sort_order }] })
    expect(uins(await askOne(sort('birth_date')))).toEqual(['1', '3', '2'])
    expect(uins(await askOne(sort('date_of_birth', 'desc')))).toEqual(['2', '3', '1'])
    expect(uins(await askOne(sort('age', 'desc')))).toEqual(['1', '3', '2'])
    expect(uins(await askOne(sort('age')))).toEqual(['2', '3', '1'])
    expect(uins(await askOne({ query: BY_PHONE, sort: [] }))).toEqual(['3', '1', '2'])
    expect(uins(await askOne({ query: BY_PHONE, sort: [{ sort_order: 'asc' }] }))).toEqual(['3', '1', '2'])
  })

  it.each([
    [[{ attribute_name: 'shoe_size' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of .*birth_date/],
    [[{ attribute_name: 'phone_number' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of /],
    [[{ attribute_name: 'constructor' }], /^search_criteria\.sort\[0\]\.attribute_name: must be one of /],
    [[{ attribute_name: 'birth_date', sort_order: 'up' }], /^search_criteria\.sort\[0\]\.sort_order: must be asc or desc$/],
    [
      [{ attribute_name: 'birth_date' }, { attribute_name: 'date_of_birth' }],
      /^search_criteria\.sort\[1\]\.attribute_name: repeats an earlier one$/,
    ],
    [
      [{ attribute_name: 'age' }, { attribute_name: 'birth_date' }],
      /^search_criteria\.sort\[1\]\.attribute_name: repeats an earlier one$/,
    ],
    [Array(101).fill({}), /^search_criteria\.sort: must have at most 100 keys$/],
    [[[]], /^search_criteria\.sort\[0\]: must be an object$/],
    ['birth_date', /^search_criteria\.sort: must be an array$/],
    [['birth_date'], /^search_criteria\.sort\[0\]: must be an object$/],
  ])('sort %j', async (sort, message) => {
    const item = await askOne({ sort })
    expect(item).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.sort.invalid' })
    expect(item.status_reason_message).toMatch(message)
  })

  it('pages in the criteria or beside them, the criteria first, with a true total', async () => {
    const sort = [{ attribute_name: 'birth_date' }]
    const page = { page_size: 2, page_number: 2 }
    const inside = await askOne({ query: BY_PHONE, sort, pagination: page })
    expect(uins(inside)).toEqual(['2'])
    expect(inside.pagination).toEqual({ ...page, total_count: 3 })
    const beside = await askOne({ query: BY_PHONE, sort, pagination: {} }, { pagination: page })
    expect(uins(beside)).toEqual(['2'])
    const both = await askOne({ query: BY_PHONE, sort, pagination: { page_size: 1 } }, { pagination: page })
    expect(uins(both)).toEqual(['1'])
    const beyond = await askOne({ query: BY_PHONE, pagination: { page_size: 2, page_number: 9 } })
    expect(beyond).toMatchObject({ data: { reg_records: [] }, pagination: { total_count: 3 } })
  })

  it.each([
    [{ page_size: 101 }, 'search_criteria.pagination.page_size: must be at most 100'],
    [{ page_size: 2 ** 31 }, 'search_criteria.pagination.page_size: must be at most 100'],
    [{ page_size: 10, page_number: 2 ** 31 }, 'search_criteria.pagination.page_number: must be at most 1000 with this page_size'],
  ])('%j', async (pagination, message) => {
    expect(await askOne({ pagination })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.pagination.invalid',
      status_reason_message: message,
    })
  })

  it('a page beside the criteria is judged, also where theirs counts', async () => {
    expect(await askOne({ pagination: { page_size: 1 } }, { pagination: { page_size: 101 } })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.pagination.invalid',
      status_reason_message: 'pagination.page_size: must be at most 100',
    })
  })

  it('a participant may have a page size of its own', async () => {
    expect(await askOne({ pagination: { page_size: 500 } }, {}, favoured)).toMatchObject({ status: 'succ' })
    expect(await askOne({ pagination: { page_size: 501 } }, {}, favoured)).toMatchObject({
      status_reason_message: 'search_criteria.pagination.page_size: must be at most 500',
    })
  })
})

describe('pages while records are written', () => {
  const page = async (page_number: number) => {
    const criteria = {
      query_type: 'idtype-value',
      query: { type: 'MOBILE', value: '+1 555 0199' },
      sort: [{ attribute_name: 'birth_date' }],
      pagination: { page_size: 2, page_number },
    }
    const answer = await postSearch(server, peer, [{ search_criteria: criteria }], 'tied')
    return uins(answer.body.message.search_response[0])
  }

  it('equal ones keep the order in which they were first written, also when they are replaced', async () => {
    expect(await page(1)).toEqual(['A', 'B'])
    await writeDocuments(server.database, tied, [
      { ...TIED[0], sex: 'female' },
      { ...TIED[3], sex: 'male' },
    ])
    expect(await page(2)).toEqual(['C', 'D'])
    await writeDocuments(server.database, tied, [{ ...TIED[5], sex: 'female' }])
    expect(await page(3)).toEqual(['E', 'F'])
  })

  it('one that moves in the order moves others over the border of a page', async () => {
    expect(await page(1)).toEqual(['A', 'B'])
    await writeDocuments(server.database, tied, [{ ...TIED[4], birth_date: '1970-01-01' }])
    expect(await page(2)).toEqual(['B', 'C'])
  })
})

describe('a search that is too broad', () => {
  let small: TestServer
  let registry: Registry
  let asker: TestParticipant
  beforeAll(async () => {
    small = await testServer({ limits: { search_results: 3, search_timeout: 1 } })
    asker = await small.participant('spmis.demo')
    registry = await small.registry('civil', PEOPLE)
  })
  afterAll(() => small.close())

  async function askSmall(criteria: object) {
    const search_criteria = { query_type: 'expression', ...criteria }
    return (await postSearch(small, asker, [{ search_criteria }])).body.message.search_response[0]
  }

  it('says that there are more than the cap, never how many', async () => {
    expect(await askSmall({ query: { birth_date: { $exists: true } } })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search.too_many_records_found',
      status_reason_message: 'search_criteria: more than 3 records match; narrow the search',
    })
    const item = await askSmall({ query: { birth_date: { $gt: '1984' } } })
    expect(item).toMatchObject({ status: 'succ', pagination: { total_count: 3 } })
  })

  it('no page begins beyond the cap', async () => {
    const query = { birth_date: { $gt: '1984' } }
    const last = await askSmall({ query, pagination: { page_size: 2, page_number: 2 } })
    expect(last.data.reg_records).toHaveLength(1)
    expect(await askSmall({ query, pagination: { page_size: 2, page_number: 3 } })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.pagination.invalid',
      status_reason_message: 'search_criteria.pagination.page_number: must be at most 2 with this page_size',
    })
  })

  it('is ended after its time, and told what to narrow it by', async () => {
    const db = openDatabase(small.database.connection, { search_timeout: 200 })
    const context = { ...small.context, db, recordsOf: (one: { readonly id: number }) => recordsOf(db, one).source }
    const exchange = {
      registry,
      participant: { max_page_size: null },
      grant: readGrant(registry.kind, { id: 1, terms: EVERYTHING }),
      isGone: () => false,
    } as unknown as Exchange
    const narrow: GrantTerms = { ...EVERYTHING, ask: [], rows: { Person: { surname: { $eq: 'Obi' } } } }
    const narrowed = { ...exchange, grant: readGrant(registry.kind, { id: 1, terms: narrow }) }
    const search = (query: object, by: Exchange = exchange, deps = context) =>
      searchItem(
        {
          deps,
          exchange: by,
          mode: context.modes.sync,
          items: 1,
          state: undefined,
          addFacts: () => {},
          budget: {
            bytes: 1_000_000,
            records: 1_000,
            identifiers: 1_000,
            until: Number.POSITIVE_INFINITY,
            slotTurns: createSemaphore(1),
            over: false,
          },
        },
        { timestamp: '2026-01-01T00:00:00Z', search_criteria: { query_type: 'expression', query } },
      )
    const held = await holdTable({ db }, recordTable(registry, registry.kind.record_types[0]).table)
    try {
      await expect(search({ sex: 'F' })).rejects.toMatchObject({
        name: 'ItemRejection',
        code: 'rjct.search_criteria.invalid',
        message: expect.stringMatching(
          /^search_criteria\.query: took longer than 1 seconds; narrow it by an identifier or one of surname, .*last_updated/,
        ),
      })
      await expect(search({ UIN: { $in: ['1', '2'] } })).rejects.toMatchObject({
        code: 'rjct.search_criteria.invalid',
        message: expect.stringContaining('took longer than 1 seconds'),
      })
      // Members that may not be asked about are not named.
      await expect(search({ UIN: { $eq: '1' } }, narrowed)).rejects.toMatchObject({
        message: 'search_criteria.query: took longer than 1 seconds; narrow it by an identifier',
      })
      await held.release()
      await expect(search({ sex: 'F' }, exchange, small.context)).resolves.toMatchObject({
        members: { pagination: { total_count: 0 } },
      })
    } finally {
      await held.release()
      await db.close()
    }
    const { text } = await small.context.metrics.render()
    expect(text).toMatch(/rollcall_search_seconds_count\{kind="civil",outcome="timeout"\} 3/)
    expect(text).toMatch(/rollcall_search_seconds_count\{kind="civil",outcome="answered"\} [1-9]/)
  })
})
