/** Registries that acknowledge a search with the envelope of an empty answer, and what is never taken for such an ack. */
import { expect, it } from 'vitest'
import { itemsOrThrow } from '../src/index.ts'
import { CIVIL, onSearch, receiver, sent, signed } from './callbacks.ts'
import { finding, json, type Respond } from './loopback.ts'
import { ADA, client, failure } from './world.ts'

/** An answer with no items, under this HTTP status. */
const empty =
  (status: number): Respond =>
  async (asked, response) => {
    const body = await finding([], { message: { search_response: [] } })(asked, response)
    return json(response, status, body ?? {})
  }

it('a search waits for its callback after 202 and an envelope without items', async () => {
  const to = receiver({ peers: [CIVIL] })
  const asking = await client([empty(202)], { receiver: to })
  const accepted = await asking.searchAsync(ADA, { transaction_id: 'tx-1' })
  expect(accepted).toEqual({ ack_status: 'ACK', correlation_id: 'c-1', transaction_id: 'tx-1', timestamp: '' })
  await sent(to, signed(onSearch()))
  const callback = await asking.awaitCallback('c-1')
  expect(callback.name === 'on-search' && itemsOrThrow(callback)[0]?.data?.reg_records).toEqual([{ a: 1 }])
})

it('an answer with 200 that nobody was found is no ack', async () => {
  const asking = await client([empty(200)])
  expect(await failure(asking.searchAsync(ADA))).toMatchObject({
    name: 'TransportError',
    reason: 'unreadable',
    message: 'the answer is no ack',
  })
})

it.each([200, 202])('a synchronous search with %i is answered, and awaits nothing', async (status) => {
  const answer = await (await client([empty(status)])).search(ADA)
  expect(answer.message).toMatchObject({ correlation_id: 'c-1', search_response: [] })
})
