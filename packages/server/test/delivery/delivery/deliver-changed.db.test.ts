/** Deliveries that are attempted after something has changed, or that are not as others are. */

import { deliveryBodyBinding } from '@rollcall/core/model/delivery'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import { setMessagePolicy } from '@rollcall/participants/store/participants'
import { canonicalJson } from '@rollcall/protocol'
import { expect, test, vi } from 'vitest'
import { drainParticipant } from '../../../../delivery/src/delivery/drain-participant.ts'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { answering, attemptsOf, dueNow, kept, newDelivery, type Receiver, senderWithPeers } from '../../deliveries.ts'

const { sender, newPeer: joined } = await senderWithPeers()
let peer: Receiver

async function newPeer(): Promise<Participant> {
  const made = await joined(answering(200))
  peer = made.peer
  return made.participant
}

/** Makes a delivery with this JSON as its message. */
async function deliveryOf(participant: Participant, message: string) {
  const { database, context } = sender
  const { id, header } = await newDelivery(sender, participant)
  const text = `{"header":${canonicalJson(header)},"message":${message}}`
  const body = await context.bodies.encryptBody(text, deliveryBodyBinding(id))
  await database.db.pool.query('update delivery set body = $2 where id = $1', [id, body])
  return id
}

/** An array in an array, and so on. */
const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

test('a record that is as deep as a message may be is delivered from what is kept', async () => {
  const participant = await newPeer()
  const message = `{"transaction_id":"tx-1","search_response":[{"data":{"reg_records":[${nested(512)}]}}]}`
  const id = await deliveryOf(participant, message)
  await drainParticipant(sender.context, participant.id)
  expect(await kept(sender, id)).toMatchObject({ state: 'delivered', attempts: 1 })
  expect(peer.received[0]?.body).toContain(nested(512))
})

test('one that cannot be read for a reason of ours is attempted again, and holds up no other', async () => {
  const participant = await newPeer()
  const { id: strange } = await newDelivery(sender, participant)
  const { bodies } = sender.context
  const { decryptBody } = bodies
  const opening = vi.spyOn(bodies, 'decryptBody').mockImplementation((sealed, place) => {
    if (place === deliveryBodyBinding(strange)) throw new Error('of ours')
    return decryptBody(sealed, place)
  })
  const other = await newDelivery(sender, participant)
  await drainParticipant(sender.context, participant.id)
  opening.mockRestore()
  expect(await kept(sender, strange)).toMatchObject({ state: 'pending', attempts: 1, claimed: false })
  expect(await attemptsOf(sender, strange)).toMatchObject([{ number: 1, status: null, error: 'internal' }])
  expect(await kept(sender, other.id)).toMatchObject({ state: 'delivered' })
  expect(sender.logged()).toContain('a delivery could not be attempted; tried again later')
  await sender.database.db.pool.query('delete from delivery where id = $1', [strange])
})

test('whoever must encrypt by now gets nothing in clear that was asked in clear before', async () => {
  const participant = await newPeer()
  const { id } = await newDelivery(sender, participant, { encrypted: false })
  await setMessagePolicy(sender.database.db, participant.sender_id, { encryption_policy: 'required' })
  sender.clock.pass(SETTINGS_AGE)
  await drainParticipant(sender.context, participant.id)
  expect(await attemptsOf(sender, id)).toMatchObject([{ status: null, error: 'no_encryption_key' }])
  expect(peer.received).toEqual([])

  await setMessagePolicy(sender.database.db, participant.sender_id, { encryption_policy: 'allowed' })
  sender.clock.pass(SETTINGS_AGE)
  await dueNow(sender, participant.id)
  await drainParticipant(sender.context, participant.id)
  expect(await kept(sender, id)).toMatchObject({ state: 'delivered' })
})

test.each<[string, Partial<GrantTerms> | null, 'delivered' | 'dead']>([
  ['the grant is revoked', null, 'dead'],
  ['the operation is granted no more', { operations: ['txn-status'] }, 'dead'],
  ['a newer grant shows less of its records', { see: ['birth_date'] }, 'dead'],
  ['a newer grant has conditions', { rows: { Person: { sex: { eq: 'F' } } } }, 'dead'],
  ['a newer grant shows as much', { see: ['sex'] }, 'delivered'],
])('a reply when %s: it is sent as it is or not at all', async (_, terms, state) => {
  const participant = await newPeer()
  const message =
    '{"search_response":[{"data":{"reg_record_type":"Person","reg_records":[{"sex":"F"}]}}],"transaction_id":"tx-1"}'
  const id = await deliveryOf(participant, message)
  if (terms === null) {
    await sender.database.db.pool.query('update participant_grant set revoked_at = now() where participant = $1', [
      participant.id,
    ])
  } else await grant(sender.database, participant.sender_id, 'civil', terms)
  sender.clock.pass(SETTINGS_AGE)
  await drainParticipant(sender.context, participant.id)
  expect(await kept(sender, id)).toMatchObject({ state, reason: state === 'dead' ? 'not_permitted' : null })
  expect(peer.received).toHaveLength(state === 'dead' ? 0 : 1)
})
