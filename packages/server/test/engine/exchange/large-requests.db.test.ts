/** Large accepted requests (how many are in work at a time: `store/exchanges/claims.db.test.ts`). */

import { findAcceptedExchange, SMALL_REQUEST_BYTES } from '@rollcall/engine/store/exchanges/accepted-exchanges'
import { expect, it } from 'vitest'
import { type AsyncPeer, accepted, asyncServer, byIdentifier, searchFor } from '../../asynchronous.ts'
import { askStatus } from '../../txn-status.ts'

const { server, newPeer } = await asyncServer([{ identifier: [{ identifier_type: 'UIN', identifier_value: '1' }] }])
const [peer, other] = [await newPeer(), await newPeer()]

let count = 0

/** A request of so many bytes, and a little more. */
async function sent(by: AsyncPeer, bytes: number): Promise<string> {
  const header = { message_id: `m-${count}`, meta: { padding: 'x'.repeat(bytes) } }
  const item = { ...byIdentifier('UIN', '1'), reference_id: `item-${count}` }
  count += 1
  return accepted(server, by, searchFor(by, [item], { header }))
}

const query = (text: string, values: unknown[]) => server.database.db.pool.query(text, values)

it('is not read with its exchange; what an earlier version accepted counts as large as it is kept', async () => {
  const { db } = server.context
  const [small, large] = [await sent(peer, SMALL_REQUEST_BYTES - 2_000), await sent(peer, SMALL_REQUEST_BYTES)]
  const sizeOf = async (id: string) => {
    const found = await findAcceptedExchange(db, id)
    return [found?.request === null, (found?.request_bytes ?? 0) > SMALL_REQUEST_BYTES]
  }
  expect([await sizeOf(small), await sizeOf(large)]).toEqual([
    [false, false],
    [true, true],
  ])
  await query('update accepted_exchange set request_bytes = null where correlation_id = $1', [large])
  const found = await findAcceptedExchange(db, large)
  expect(found?.request_bytes).toBe(found?.request?.length)
})

it('is found by its items while it waits, also by several who ask at once', async () => {
  const ids = [await sent(other, 300_000), await sent(other, 300_000)]
  const answers = await Promise.all(
    [`item-${count - 2}`, `item-${count - 1}`].map((reference_id) =>
      askStatus(server, other, 'reference_id_list', [reference_id]),
    ),
  )
  const told = answers.map(({ message }) => message.txnstatus_response.txn_status)
  expect(told.map(({ correlation_id }) => correlation_id)).toEqual(ids)
  expect(told.map(({ search_response: [item] }) => item.status)).toEqual(['rcvd', 'rcvd'])
})
