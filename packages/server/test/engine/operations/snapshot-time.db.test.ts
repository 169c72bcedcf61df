/** The time within which the searches of one request begin that read one state of the database. */
import { expect, it } from 'vitest'
import { holdTable, lockWaits } from '../../../../keys/test/held-table.ts'
import { accepted, answerExchange, asyncServer, byExpression, byIdentifier, callbacksTo, searchFor } from '../../asynchronous.ts'

const people = [{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }], sex: 'female' }]
const { server, newPeer } = await asyncServer(people, { limits: { snapshot_search_time: 1 } })
const peer = await newPeer()

const slow = byExpression({ sex: { eq: 'F' } })

/** The answers to the items when the first search takes longer than the time to begin searches. */
async function answered(items: readonly object[]): Promise<string[]> {
  const held = await holdTable(server.database)
  const correlation_id = await accepted(server, peer, searchFor(peer, items))
  const processed = answerExchange(server, correlation_id)
  await expect.poll(() => lockWaits(server.database)).toBe(1)
  server.clock.pass(1_200)
  await held.release()
  await processed
  // On a busy machine the attempt goes on in the background.
  await server.context.limiter.idle()
  const items_answered = callbacksTo(peer.receiver).at(-1)?.envelope.message.search_response
  return items_answered.map((item: Record<string, string>) =>
    item.status === 'succ' ? 'succ' : `${item.status_reason_code} ${item.status_reason_message}`,
  )
}

it('has an end: what is left is rejected, and identifiers are looked up', async () => {
  const late =
    'rjct.search_criteria.invalid search_criteria.query: not begun: the searches of this request took 1 seconds; send fewer slow ones in one request'
  expect(await answered([slow, slow, byIdentifier('UIN', '1'), slow])).toEqual(['succ', late, 'succ', late])
  // The next request has its own time.
  expect(await answered([slow, byIdentifier('UIN', '1')])).toEqual(['succ', 'succ'])
})
