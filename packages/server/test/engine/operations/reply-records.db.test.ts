/** The most records that one request may find if all of their pages follow. */
import { expect, it } from 'vitest'
import { accepted, answerExchange, asyncServer, byExpression, callbacksTo, deliverAll, searchFor } from '../../asynchronous.ts'
import { postSearch } from '../../server.ts'

const PEOPLE = 6
const CAP = 1_000
/** The last of them is the first that finds too much. */
const ITEMS = Math.floor(CAP / PEOPLE) + 1

const people = Array.from({ length: PEOPLE }, (_, n) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `U${n}` }],
  name: { surname: n === 0 ? 'Alone' : 'Okoro' },
  sex: 'female',
}))
const { server, newPeer } = await asyncServer(people, { limits: { reply_records: CAP } })
const peer = await newPeer()

const women = byExpression({ sex: { eq: 'F' } }, { pagination: { page_size: 1 } })
const items = Array.from({ length: ITEMS }, () => women)

it('what an answer of many pages finds has an end; smaller items still have their turn', async () => {
  const alone = byExpression({ surname: { eq: 'Alone' } })
  const correlation_id = await accepted(server, peer, searchFor(peer, [...items, alone]))
  await answerExchange(server, correlation_id)
  // On a busy machine an attempt goes on in the background.
  await deliverAll(server)
  const [first, second] = callbacksTo(peer.receiver).map(({ envelope }) => envelope.message.search_response)
  const statuses = first.map(({ status }: { status: string }) => status)
  expect(statuses).toEqual([...Array(ITEMS - 1).fill('succ'), 'rjct', 'succ'])
  expect(first[ITEMS - 1]).toMatchObject({
    status_reason_code: 'rjct.search.too_many_records_found',
    status_reason_message:
      'search_criteria: the records that this request finds are too many; send fewer items or narrow the search',
  })
  expect(second).toHaveLength(ITEMS - 1)
  const { rows } = await server.database.db.pool.query(
    'select sum(cardinality(record_ids)) as ids from exchange_item where correlation_id = $1',
    [correlation_id],
  )
  expect(rows).toEqual([{ ids: (ITEMS - 1) * PEOPLE }])
})

it('an answer at once holds one page of each, and is not bounded by it', async () => {
  const { body } = await postSearch(server, peer, items)
  const statuses = body.message.search_response.map(({ status }: { status: string }) => status)
  expect(new Set(statuses)).toEqual(new Set(['succ']))
})

it('a grant that never shows records takes nothing of it: what is left would say how many match', async () => {
  const counting = await newPeer({}, { query_forms: 'all', ask: 'all', see: [], counts: 'none' })
  await accepted(server, counting, searchFor(counting, items))
  await deliverAll(server)
  const callbacks = callbacksTo(counting.receiver).map(({ envelope }) => envelope.message.search_response)
  const answers = callbacks.flat().map(({ status, status_reason_code }) => [status, status_reason_code])
  expect([callbacks.length, answers]).toEqual([1, items.map(() => ['succ', undefined])])
})
