/** The cap of results: more than so many are never counted, never told and never given out. */
import { generate } from '@rollcall/synthetic'
import { expect, it } from 'vitest'
import { grant } from '../../../participants/test/grants.ts'
import { civilServer } from '../civil.ts'
import { postSearch } from '../server.ts'

const CAP = 100
const documents = [...generate('civil', { count: 400, seed: 'demo' })] as { sex: string }[]
const women = documents.filter(({ sex }) => sex === 'female').length

const { server, peer } = await civilServer(documents, { limits: { search_results: CAP } })

async function ask(query: object, pagination?: object) {
  const search_criteria = {
    query_type: 'expression',
    query: { type: 'expression', value: { expression: { query } } },
    pagination,
  }
  const answer = await postSearch(server, peer, [{ search_criteria }])
  return answer.body.message.search_response[0]
}

it('more than the cap is refused, on every page, without the true number', async () => {
  expect(women).toBeGreaterThan(CAP)
  for (const pagination of [undefined, { page_size: 1 }, { page_size: 100, page_number: 1 }]) {
    const item = await ask({ sex: 'female' }, pagination)
    expect(item).toEqual({
      reference_id: 'r-0',
      timestamp: expect.any(String),
      status: 'rjct',
      status_reason_code: 'rjct.search.too_many_records_found',
      status_reason_message: expect.stringContaining(`more than ${CAP}`),
    })
    expect(item.status_reason_message).not.toContain(String(women))
  }
})

it('exactly the cap is answered, with the true number', async () => {
  const uins = documents.slice(0, CAP + 1).map((document) => {
    const { identifier } = document as unknown as { identifier: { identifier_value: string }[] }
    return identifier[0]?.identifier_value
  })
  const exact = await ask({ UIN: { $in: uins.slice(1) } }, { page_size: 1 })
  expect(exact).toMatchObject({ status: 'succ', pagination: { total_count: CAP } })
  const over = await ask({ UIN: { $in: uins } }, { page_size: 1 })
  expect(over).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.search.too_many_records_found' })
})

it('a page that would begin beyond the cap is refused, the last one before it is not', async () => {
  const last = await ask({ location: 'farrow' }, { page_size: 10, page_number: 10 })
  expect(last).toMatchObject({ status: 'succ', data: { reg_records: [] } })
  const beyond = await ask({ location: 'farrow' }, { page_size: 10, page_number: 11 })
  expect(beyond).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.pagination.invalid',
    status_reason_message: 'search_criteria.pagination.page_number: must be at most 10 with this page_size',
  })
})

it('with capped counts, the cap and more are answered alike, on every page', async () => {
  await grant(server.database, peer.sender_id, 'civil', { query_forms: 'all', ask: 'all', counts: 'capped' })
  server.clock.pass(1_000)
  const uins = documents.slice(0, CAP + 1).map((document) => {
    const { identifier } = document as unknown as { identifier: { identifier_value: string }[] }
    return identifier[0]?.identifier_value
  })
  const queries = [{ sex: 'female' }, { UIN: { $in: uins } }, { UIN: { $in: uins.slice(1) } }]
  for (const pagination of [
    { page_size: 100, page_number: 1 },
    { page_size: 3, page_number: 34 },
  ]) {
    for (const query of queries) {
      expect(await ask(query, pagination)).toMatchObject({
        status: 'succ',
        status_reason_message: 'search_criteria: 100 records or more match; narrow the search to get them',
        data: { reg_records: [] },
        pagination: { ...pagination, total_count: CAP },
      })
    }
  }
  const below = await ask({ UIN: { $in: uins.slice(2) } }, { page_size: 1 })
  expect(below).toMatchObject({ status: 'succ', pagination: { total_count: CAP - 1 } })
  expect(below.data.reg_records).toHaveLength(1)
})
