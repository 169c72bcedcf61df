/** Slow searches that are answered later: they do not take all slots of a node, and are answered in the end. */
import { expect, it } from 'vitest'
import { holdTable } from '../../../../keys/test/held-table.ts'
import { type AsyncPeer, accepted, asyncServer, byExpression, byIdentifier, callbacksTo, searchFor } from '../../asynchronous.ts'

const people = [{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }], sex: 'female' }]
const { server, newPeer } = await asyncServer(people, {
  ROLLCALL_ROLE: 'all',
  limits: { worker_concurrency: 4, search_timeout: 60 },
})
await server.registry('civil', people, 'other')
const [hog, other] = [await newPeer(), await newPeer()]

const slow = byExpression({ sex: { eq: 'F' } })
const statuses = (peer: AsyncPeer) =>
  callbacksTo(peer.receiver).map(({ envelope }) =>
    envelope.message.search_response.map(({ status }: { status: string }) => status),
  )

it('of one participant leave slots to others, one by one and in batches', async () => {
  const held = await holdTable(server.database)
  try {
    const requests = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? [slow] : [slow, slow]))
    for (const [at, items] of requests.entries()) {
      await accepted(server, hog, searchFor(hog, items, { header: { message_id: `slow-${at}` } }))
    }
    await accepted(server, other, searchFor(other, [byIdentifier('UIN', '1'), slow]), 'search', 'other')
    await expect.poll(() => statuses(other), { timeout: 60_000 }).toEqual([['succ', 'succ']])
    expect(statuses(hog)).toEqual([])
  } finally {
    await held.release()
  }
  await expect.poll(() => statuses(hog).length, { timeout: 60_000 }).toBe(12)
  expect(new Set(statuses(hog).flat())).toEqual(new Set(['succ']))
})
