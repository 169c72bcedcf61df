/** How a client reads answers: items, rejections, untrusted answers, pages. */
import { describe, expect, it } from 'vitest'
import { HeaderRejected, ItemRejected, itemsOrThrow, resultsOf, SeveralRecords, UntrustedAnswer } from '../src/index.ts'
import { finding, type Respond } from './loopback.ts'

import { ADA, all, client, failure, registry } from './world.ts'

describe('an answer with an empty sender_id', () => {
  const asking = (signature: 'off' | 'if-present' | 'required') =>
    client([finding([{ a: 1 }], { header: { sender_id: '' } })], { peer: { signature } })

  it('is taken where the signature of the registry is off', async () => {
    const { header } = await (await asking('off')).search(ADA)
    expect(header).not.toHaveProperty('sender_id')
  })

  it.each(['if-present', 'required'] as const)('is refused where it is %s', async (signature) => {
    expect(await failure((await asking(signature)).search(ADA))).toMatchObject({
      name: 'TransportError',
      reason: 'unreadable',
      message: 'header.sender_id: must not be empty',
    })
  })
})

describe('answers', () => {
  it('give each item, or why it was rejected', async () => {
    const rejected = {
      reference_id: '2',
      timestamp: '2026-02-03T09:15:00Z',
      status: 'rjct',
      status_reason_code: 'rjct.sort.invalid',
      status_reason_message: 'sort: is unknown',
    }
    const found = { reference_id: '1', timestamp: '2026-02-03T09:15:00Z', status: 'succ' }
    const asking = await client([finding([], { message: { search_response: [found, rejected] } })])
    const answer = await asking.search([ADA, ADA])
    const [first, second] = resultsOf(answer)
    expect(first).toEqual({ ok: true, reference_id: '1', item: found })
    expect(second).toEqual({ ok: false, reference_id: '2', rejection: expect.any(ItemRejected) })
    const error = await failure(Promise.resolve(answer).then(itemsOrThrow))
    expect(error).toMatchObject({
      name: 'ItemRejected',
      reference_id: '2',
      code: 'rjct.sort.invalid',
      message: 'sort: is unknown',
    })
  })

  it('are rejected as a whole by their header', async () => {
    const header = {
      status: 'rjct',
      status_reason_code: 'rjct.message_id.duplicate',
      status_reason_message: 'header.message_id: was used before',
    }
    const error = await failure((await client([finding([], { header, message: { search_response: [] } })])).search(ADA))
    expect(error).toBeInstanceOf(HeaderRejected)
    expect(error).toMatchObject({ code: 'rjct.message_id.duplicate', message: 'header.message_id: was used before' })
  })

  it('say why each item was rejected when all were', async () => {
    const header = { status: 'rjct', status_reason_code: 'rjct.errors.too_many' }
    const item = { status: 'rjct', status_reason_code: 'rjct.filter.invalid' }
    const asking = await client([finding([], { header, item })])
    const error = await failure(asking.searchOne(ADA))
    expect(error).toBeInstanceOf(ItemRejected)
    expect(error).toMatchObject({ code: 'rjct.filter.invalid', message: 'the registry rejected the item' })
  })

  it.each([
    [
      'of another transaction',
      { message: { transaction_id: 'other' } },
      'err.request.bad',
      'the answer belongs to another transaction',
    ],
    [
      'for another system',
      { header: { receiver_id: 'other.example' } },
      'err.receiver_id.invalid',
      'the answer is for another system; see sender_id in the options of the client',
    ],
  ])('%s are not believed', async (_name, changes, code, message) => {
    const error = await failure((await client([finding([], changes)])).search(ADA))
    expect(error).toBeInstanceOf(UntrustedAnswer)
    expect(error).toMatchObject({ code, message })
  })

  it('without signature are not believed, unless told so', async () => {
    const keys = { keys: [] }
    const strict = await client([finding([])], { peer: { keys } })
    expect(await failure(strict.search(ADA))).toMatchObject({
      name: 'UntrustedAnswer',
      code: 'err.signature.missing',
      message: 'signature: the message has no signature; see peer.signature in the options of the client',
    })
    const mild = await client([finding([])], { peer: { keys, signature: 'if-present' } })
    expect((await mild.search(ADA)).signed).toBe(false)
  })

  it.each([
    ['a locale of two letters', { item: { locale: 'en' } }],
    ['a reason of its own in the header', { header: { status_reason_code: 'rjct.jwt.invalid' } }],
    ['a reason of its own in an item', { item: { status: 'rjct', status_reason_code: 'rjct.consent.missing' } }],
    ['a long reason', { item: { status: 'rjct', status_reason_message: 'x'.repeat(2_000) } }],
    ['a correlation_id of other characters', { message: { correlation_id: 'c/1 (two)' } }],
  ])('with %s are taken, and it is shown', async (_name, changes: Parameters<typeof finding>[1]) => {
    const answer = await (await client([finding([], changes)])).search(ADA)
    expect(answer.header).toMatchObject(changes?.header ?? {})
    expect(answer.message).toMatchObject(changes?.message ?? {})
    expect(answer.message.search_response[0]).toMatchObject(changes?.item ?? {})
  })

  it('that are rejected for a reason that is not known here say it', async () => {
    const header = { status: 'rjct', status_reason_code: 'rjct.jwt.invalid', status_reason_message: 'no' }
    const asking = await client([finding([], { header, message: { search_response: [] } })])
    expect(await failure(asking.search(ADA))).toMatchObject({ name: 'HeaderRejected', code: 'rjct.jwt.invalid', message: 'no' })
  })

  it('that break their format are unreadable', async () => {
    const asking = await client([finding([], { item: { status: 'perhaps' } })])
    expect(await failure(asking.search(ADA))).toMatchObject({
      reason: 'unreadable',
      message: 'message.search_response[0].status: must be one of rcvd, pdng, succ, rjct',
    })
  })
})

describe('common questions', () => {
  it('searchOne gives the record, null, or says that there are several', async () => {
    expect(await (await client([finding([{ a: 1 }])])).searchOne(ADA)).toEqual({ a: 1 })
    expect(registry.asked[0]?.body.message.search_request[0].search_criteria.pagination).toEqual({ page_size: 2, page_number: 1 })
    expect(await (await client([finding([])])).searchOne(ADA)).toBeNull()
    const pagination = { page_size: 2, page_number: 1, total_count: 9 }
    const many = await failure((await client([finding([{ a: 1 }, { a: 2 }], { item: { pagination } })])).searchOne(ADA))
    expect(many).toBeInstanceOf(SeveralRecords)
    expect(many).toMatchObject({ message: 'the search finds more than one record', total_count: 9 })
  })

  it.each([
    ['an item that is pending', { item: { status: 'pdng', data: undefined } }, 'pdng'],
    ['an item that is pending, with an empty list', { item: { status: 'pdng' } }, 'pdng'],
    ['an item that was only received', { item: { status: 'rcvd', data: undefined } }, 'rcvd'],
    ['no item, and a header that is pending', { header: { status: 'pdng' }, message: { search_response: [] } }, 'pdng'],
  ])('%s does not say that nobody was found', async (_name, changes: Parameters<typeof finding>[1], status: string) => {
    const asking = await client([finding([], changes)])
    const message = `the registry has not searched yet: the status is ${status}`
    const error = { name: 'TransportError', reason: 'unreadable', message }
    expect(await failure(asking.searchOne(ADA))).toMatchObject(error)
    expect(await failure(all(asking.searchAll(ADA)))).toMatchObject(error)
  })

  it('records that are counted, but not given, do not say that nobody was found', async () => {
    const pagination = { page_size: 2, page_number: 1, total_count: 100 }
    const explained = await client([finding([], { item: { status_reason_message: 'narrow the search', pagination } })])
    const error = { name: 'ItemRejected', code: 'rjct.search.too_many_records_found', message: 'narrow the search' }
    expect(await failure(explained.searchOne(ADA))).toMatchObject(error)
    expect(await failure(all(explained.searchAll(ADA)))).toMatchObject(error)
    const bare = await client([finding([], { item: { pagination } })])
    const several = { name: 'SeveralRecords', message: 'the search finds more than one record', total_count: 100 }
    expect(await failure(bare.searchOne(ADA))).toMatchObject(several)
  })

  it('the status rcvd with data is an answer, and succ needs no data', async () => {
    const received = { header: { status: 'rcvd' }, item: { status: 'rcvd' } }
    expect(await (await client([finding([{ a: 1 }], received)])).searchOne(ADA)).toEqual({ a: 1 })
    expect(await (await client([finding([], received)])).searchOne(ADA)).toBeNull()
    expect(await (await client([finding([], { item: { data: undefined } })])).searchOne(ADA)).toBeNull()
    expect(await (await client([finding([], { message: { search_response: [] } })])).searchOne(ADA)).toBeNull()
  })

  it('several items for one search are not guessed between', async () => {
    const item = { reference_id: '1', timestamp: '2026-02-03T09:15:00Z', status: 'succ' }
    const asking = await client([finding([], { message: { search_response: [item, item] } })])
    const error = { name: 'TransportError', reason: 'unreadable', message: 'the answer must have one item' }
    expect(await failure(asking.searchOne(ADA))).toMatchObject(error)
    expect(await failure(all(asking.searchAll(ADA)))).toMatchObject(error)
  })

  const paged: Respond = (asked, response) => {
    const { page_size, page_number } = asked.body.message.search_request[0].search_criteria.pagination
    const all = Array.from({ length: 7 }, (_, index) => ({ n: index + 1 }))
    const records = all.slice((page_number - 1) * page_size, page_number * page_size)
    const pagination = { page_size, page_number, total_count: all.length }
    return finding(records, { item: { pagination } })(asked, response)
  }

  it('searchAll gives the records of all pages', async () => {
    const asking = await client([paged])
    const criteria = { ...ADA, pagination: { page_size: 3 } }
    const found = await all(asking.searchAll(criteria))
    expect(found.map(({ n }) => n)).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(registry.asked).toHaveLength(3)
    const rest = await all(asking.searchAll({ ...ADA, pagination: { page_size: 3, page_number: 3 } }))
    expect(rest.map(({ n }) => n)).toEqual([7])
  })

  it('searchAll goes on after a page of which nothing is shown', async () => {
    const pages: readonly (readonly [records: readonly object[], total_count: number])[] = [
      [[], 4],
      [[{ n: 4 }], 7],
      [[{ n: 7 }], 7],
    ]
    const asking = await client([
      (asked, response) => {
        const { page_size, page_number } = asked.body.message.search_request[0].search_criteria.pagination
        const [records = [], total_count = 0] = pages[page_number - 1] ?? []
        return finding(records, { item: { pagination: { page_size, page_number, total_count } } })(asked, response)
      },
    ])
    expect(await all(asking.searchAll({ ...ADA, pagination: { page_size: 3 } }))).toEqual([{ n: 4 }, { n: 7 }])
    expect(registry.asked).toHaveLength(3)
  })

  it('searchAll asks for a page when it is needed, and for no more', async () => {
    const asking = await client([paged])
    for await (const { n } of asking.searchAll({ ...ADA, pagination: { page_size: 3 } })) {
      if (n === 4) break
    }
    expect(registry.asked).toHaveLength(2)
  })

  it('searchAll ends with an error when the registry answers with another page', async () => {
    const pagination = { page_size: 1, page_number: 1, total_count: 3 }
    const asking = await client([finding([{ n: 1 }], { item: { pagination } })])
    const seen: unknown[] = []
    const error = await failure(
      (async () => {
        for await (const record of asking.searchAll({ ...ADA, pagination: { page_size: 1 } })) seen.push(record)
      })(),
    )
    expect(error).toMatchObject({
      name: 'TransportError',
      reason: 'unreadable',
      message: 'message.search_response[0].pagination.page_number: must be 2, the requested page',
    })
    expect(seen).toEqual([{ n: 1 }])
    expect(registry.asked).toHaveLength(2)
  })

  it('searchAll ends with a registry that knows no pages', async () => {
    const asking = await client([finding([{ n: 1 }])])
    expect(await all(asking.searchAll(ADA))).toEqual([{ n: 1 }])
    expect(registry.asked).toHaveLength(1)
  })
})
