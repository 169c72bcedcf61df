import { setImmediate as turn } from 'node:timers/promises'
import type { Exchange } from '@rollcall/core/model/exchange'
import { operation } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { answerBatch } from '../../../../engine/src/operations/batch.ts'
import { civilServer } from '../../civil.ts'
import { postSearch } from '../../server.ts'

const person = (uin: string, more: object) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  ...more,
})

const { server, peer } = await civilServer([person('007', {})], {
  limits: { timestamp_window: 3600, reply_bytes: 1_048_576, asked_identifiers: 10_000 },
})
const wide = { phone_number: ['+1 555 0100'], pad: 'x'.repeat(50_000) }
await server.registry(
  'civil',
  Array.from({ length: 40 }, (_, index) => person(`${index}`, wide)),
  'wide',
)
const ethiopic = { phone_number: ['+1 555 0100'], pad: '\u1200'.repeat(12_000) }
await server.registry(
  'civil',
  Array.from({ length: 40 }, (_, index) => person(`${index}`, ethiopic)),
  'ethiopic',
)

describe('a batch', () => {
  const search_criteria = { query_type: 'idtype-value', query: { type: 'UIN', value: '007' } }

  it('answers every item in its order, what is wrong in its own place', async () => {
    const answer = await postSearch(server, peer, [
      { search_criteria, reference_id: 'a' },
      { search_criteria, reference_id: 'a', locale: 'fra' },
      { search_criteria, reference_id: '' },
      { search_criteria, reference_id: undefined },
      { search_criteria, reference_id: 'x'.repeat(99) },
      { search_criteria, reference_id: 'x'.repeat(100) },
      { search_criteria, reference_id: 7 },
      { search_criteria, reference_id: 'old', timestamp: '2020-01-01T00:00:00Z' },
      { search_criteria, reference_id: 'a' },
      { search_criteria, reference_id: 'last' },
    ])
    const invalid = 'rjct.reference_id.invalid'
    const items = answer.body.message.search_response as Record<string, string>[]
    expect(items.map((item) => [item.reference_id, item.status, item.status_reason_code])).toEqual([
      ['a', 'succ', undefined],
      ['a', 'rjct', 'rjct.reference_id.duplicate'],
      ['', 'rjct', invalid],
      ['', 'rjct', invalid],
      ['x'.repeat(99), 'succ', undefined],
      ['x'.repeat(99), 'rjct', invalid],
      ['', 'rjct', invalid],
      ['old', 'rjct', 'rjct.timestamp.invalid'],
      ['a', 'rjct', 'rjct.reference_id.duplicate'],
      ['last', 'succ', undefined],
    ])
    expect(items[1]).toMatchObject({ locale: 'fra', status_reason_message: 'reference_id: names an earlier item of this batch' })
    expect(items[2]?.status_reason_message).toBe('reference_id: must be a string of 1 to 99 characters')
    expect(items[7]?.status_reason_message).toBe('timestamp: must lie within 3600 seconds of the receipt of the request')
    expect(answer.body.header).toMatchObject({
      status: 'succ',
      status_reason_message: '7 of 10 items rejected; see each item',
      total_count: 10,
      completed_count: 10,
    })
  })

  it('is rejected as a whole when every item is', async () => {
    const answer = await postSearch(server, peer, [{ search_criteria: null }])
    expect(answer.body.header).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.errors.too_many',
      status_reason_message: '1 of 1 items rejected; see each item',
    })
  })

  it('of 10,000 items is answered', async () => {
    const nobody = { ...search_criteria, query: { type: 'UIN', value: 'nobody' } }
    const answer = await postSearch(
      server,
      peer,
      Array.from({ length: 10_000 }, () => ({ search_criteria: nobody })),
    )
    const items = answer.body.message.search_response as { reference_id: string; status: string }[]
    expect(items.length).toBe(10_000)
    expect(items.every(({ reference_id, status }, index) => reference_id === `r-${index}` && status === 'succ')).toBe(true)
  }, 60_000)

  it('holds so many records and no more', async () => {
    const criteria = { ...search_criteria, query: { type: 'MOBILE', value: '+1 555 0100' }, pagination: { page_size: 15 } }
    const answer = await postSearch(server, peer, [{ search_criteria: criteria }, { search_criteria: criteria }], 'wide')
    const items = answer.body.message.search_response as { status: string; status_reason_code?: string }[]
    expect(items.map(({ status }) => status).sort()).toEqual(['rjct', 'succ'])
    expect(items.find(({ status }) => status === 'rjct')).toMatchObject({
      status_reason_code: 'rjct.search.too_many_records_found',
      status_reason_message:
        'search_criteria: the records of this answer are too many; send fewer items or ask for smaller pages',
    })
  })

  it('names so many identifiers and no more; an item with fewer still has its turn', async () => {
    const values = Array.from({ length: 1_000 }, (_, index) => `${1_000 + index}`)
    // A value without a type counts for six types at least, so two such items are above the limit.
    const queries = [{ identifier_value: { $in: values } }, { identifier_value: { $in: values } }, { UIN: { $in: values } }]
    const items = queries.map((query) => ({ search_criteria: { query_type: 'expression', query } }))
    const answer = await postSearch(server, peer, items)
    expect(answer.body.message.search_response).toMatchObject([
      { status: 'succ' },
      {
        status: 'rjct',
        status_reason_code: 'rjct.search_criteria.invalid',
        status_reason_message:
          'search_criteria.query: a request may name at most 10000 identifiers; a value without a type counts for each type',
      },
      { status: 'succ' },
    ])
  })

  it('counts bytes, of which a letter may have three', async () => {
    const query = { type: 'MOBILE', value: '+1 555 0100' }
    const items = [20, 40, 5].map((page_size) => ({ search_criteria: { ...search_criteria, query, pagination: { page_size } } }))
    const answer = await postSearch(server, peer, items, 'ethiopic')
    const [some, all, few] = answer.body.message.search_response
    expect([some.status, all.status_reason_code, few.status]).toEqual(['succ', 'rjct.search.too_many_records_found', 'succ'])
  })
})

describe('the rest of a batch', () => {
  const now = new Date().toISOString()
  const search_request = Array.from({ length: 12 }, (_, index) => ({ reference_id: `r-${index}`, timestamp: now }))
  const message = { transaction_id: 'tx-1', search_request }

  /** The number of begun items; `handle` gets the index of each, from 1. */
  async function begun(handle: (index: number) => void, isGone: () => boolean, failure: object) {
    let count = 0
    const exchange = { operation: operation('search'), isGone, received_at: new Date() } as unknown as Exchange
    const answered = answerBatch(server.context, { mode: 'sync', exchange, message }, async () => {
      count += 1
      handle(count)
      await turn()
      return { members: {} }
    })
    await expect(answered).rejects.toMatchObject(failure)
    // Whoever begins an item, does so in one turn.
    for (let turns = 0; turns < 50; turns += 1) await turn()
    return count
  }

  it('is not begun when the peer has gone', async () => {
    let gone = false
    const leave = (index: number) => {
      gone ||= index === 6
    }
    const message = 'the connection ended before the request was answered'
    expect(await begun(leave, () => gone, { code: 'err.request.bad', message })).toBe(6)
  })

  it('is not begun when the request has failed', async () => {
    const fail = (index: number) => {
      if (index === 6) throw new Error('lost')
    }
    expect(await begun(fail, () => false, { message: 'lost' })).toBe(6)
  })
})

it('makes no item older than it was when its request was received', async () => {
  const hours = (ago: number) => new Date(Date.now() - ago * 3_600_000)
  const exchange = { operation: operation('search'), isGone: () => false, received_at: hours(2) } as unknown as Exchange
  const search_request = [2.5, 0].map((ago) => ({ reference_id: `${ago}`, timestamp: hours(ago).toISOString() }))
  const { members } = await answerBatch(
    server.context,
    { mode: 'sync', exchange, message: { transaction_id: 'tx-1', search_request } },
    async () => ({ members: {} }),
  )
  expect(members.search_response).toMatchObject([
    { reference_id: '2.5', status: 'succ' },
    {
      reference_id: '0',
      status: 'rjct',
      status_reason_code: 'rjct.timestamp.invalid',
      status_reason_message: 'timestamp: must lie within 3600 seconds of the receipt of the request',
    },
  ])
})

it('leaves others their turn while it rejects items, which wait for nothing', async () => {
  const items = 400
  const search_request = Array.from({ length: items }, () => ({ reference_id: '' }))
  const exchange = { operation: operation('search'), isGone: () => false, received_at: new Date() } as unknown as Exchange
  let turns = 0
  let over = false
  const others = (): void => {
    turns += 1
    if (!over) setImmediate(others)
  }
  setImmediate(others)
  const reject = () => Promise.reject(new Error('no item comes so far'))
  const answered = await answerBatch(
    server.context,
    { mode: 'sync', exchange, message: { transaction_id: 'tx-1', search_request } },
    reject,
  )
  over = true
  expect(answered).toMatchObject({ status: 'rjct', total_count: items, completed_count: items })
  // Four items are answered at a time.
  expect(turns).toBeGreaterThanOrEqual(items / 4)
})
