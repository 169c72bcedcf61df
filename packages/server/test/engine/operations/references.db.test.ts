/** Questions by reference_ids: what they open, and requests that an earlier version accepted. */

import { storeMissingReferenceIds } from '@rollcall/engine/operations/references'
import { beforeEach, expect, it, vi } from 'vitest'
import { listReferences } from '../../../../engine/src/store/exchanges/references.ts'
import { type AsyncPeer, accepted, asyncServer, byIdentifier, searchFor } from '../../asynchronous.ts'
import { askStatus } from '../../txn-status.ts'

const { server, newPeer } = await asyncServer()
let peer: AsyncPeer
beforeEach(async () => {
  peer = await newPeer()
})

const send = (...reference_ids: readonly string[]) =>
  accepted(
    server,
    peer,
    searchFor(
      peer,
      reference_ids.map((reference_id) => ({ ...byIdentifier('UIN', 'U1'), reference_id })),
    ),
  )

async function ask(attribute_type: string, attribute_value: unknown) {
  const { header, message } = await askStatus(server, peer, attribute_type, attribute_value)
  const { txn_status } = message.txnstatus_response
  return { status: header.status, items: txn_status.search_response, of: txn_status.correlation_id }
}

/** Leaves exchanges as an earlier version accepted them. */
async function forgetReferences(correlation_ids: readonly string[]): Promise<void> {
  const { pool } = server.database.db
  await pool.query('delete from exchange_reference where correlation_id = any($1)', [correlation_ids])
  await pool.query('update accepted_exchange set references_stored = false where correlation_id = any($1)', [correlation_ids])
}

it('a question opens no request that waits, however many do', async () => {
  const waiting = await Promise.all([send('a', 'b'), send('c', 'd'), send('e')])
  const opened = vi.spyOn(server.context.bodies, 'decryptBody')
  expect(await ask('reference_id_list', ['d', 'nobody', 'c'])).toMatchObject({
    of: waiting[1],
    items: [
      { reference_id: 'd', status: 'rcvd' },
      { reference_id: 'nobody', status: 'rjct', status_reason_code: 'rjct.reference_id.invalid' },
      { reference_id: 'c', status: 'rcvd' },
    ],
  })
  expect((await ask('correlation_id', waiting[0])).items).toMatchObject([{ reference_id: 'a' }, { reference_id: 'b' }])
  expect(opened).not.toHaveBeenCalled()
  opened.mockRestore()
})

it('references that repeat, or that cannot be named, are kept at their positions', async () => {
  const long = 'x'.repeat(120)
  const id = await send('a', 'a', long)
  expect(await listReferences(server.database.db, id, null)).toEqual([
    { position: 0, reference_id: 'a' },
    { position: 1, reference_id: 'a' },
    { position: 2, reference_id: 'x'.repeat(99) },
  ])
})

it('requests of an earlier version are found, and one question opens eight of them at most', async () => {
  const ids: string[] = []
  for (let n = 0; n < 10; n += 1) ids.push(await send(`old-${n}`))
  await forgetReferences(ids)
  const opened = vi.spyOn(server.context.bodies, 'decryptBody')
  expect(await ask('reference_id_list', 'old-9')).toMatchObject({ of: ids[9] })
  expect(opened).toHaveBeenCalledTimes(8)
  expect(await ask('reference_id_list', 'old-0')).toMatchObject({ of: ids[0] })
  expect(opened).toHaveBeenCalledTimes(10)
  await ask('reference_id_list', 'old-5')
  expect(opened).toHaveBeenCalledTimes(10)
  opened.mockRestore()
})

it('a request of an earlier version is told by its correlation_id as well', async () => {
  const id = await send('one', 'two')
  await forgetReferences([id])
  expect((await ask('correlation_id', id)).items).toMatchObject([
    { reference_id: 'one', status: 'rcvd' },
    { reference_id: 'two', status: 'rcvd' },
  ])
})

it('what cannot be read stops none of the others, and is said', async () => {
  const { db } = server.database
  const ids = [await send('readable'), await send('of another operation'), await send('altered')]
  await forgetReferences(ids)
  await db.pool.query(`update accepted_exchange set operation = 'unknown' where correlation_id = $1`, [ids[1]])
  await db.pool.query(`update accepted_exchange set request = '\\x00' where correlation_id = $1`, [ids[2]])
  expect(await storeMissingReferenceIds(server.context, 100)).toBe(3)
  expect(await storeMissingReferenceIds(server.context, 100)).toBe(0)
  expect(await listReferences(db, ids[0] ?? '', null)).toEqual([{ position: 0, reference_id: 'readable' }])
  expect(server.logged()).toContain(`"correlation_id":"${ids[1]}"`)
})
