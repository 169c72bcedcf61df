/** Acts about messages that may wait for a second operator. */

import { showInboxMessage } from '@rollcall/admin/callbacks/inbox'
import { changeDeliveries, showDelivery } from '@rollcall/admin/deliveries/deliveries'
import { backfillSubscription } from '@rollcall/admin/events/subscription-mailbox'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { acting } from '../../admin/test/acting.ts'
import { subscribeLive } from '../../delivery/test/subscriptions.ts'
import { accepted, asyncPeer, byIdentifier, deliverAll, searchFor } from './asynchronous.ts'
import { envelope, sendCallback } from './inbox.ts'
import { type ActServer, OUTDATED, REASON, type ReadyActs } from './proposed-act.ts'

export function actsOfMessages({ server, db, query, fresh, uin, peer, rowOf }: ActServer): ReadyActs {
  /** A message that was answered by a callback. */
  async function exchanged() {
    const asking = await asyncPeer(server, `peer-${fresh()}.example`)
    const asked = searchFor(asking, [byIdentifier('UIN', uin())])
    await accepted(server, asking, asked)
    await deliverAll(server)
    const { rows } = await query('select id from delivery where participant = $1', [asking.id])
    return { asking, message_id: asked.header.message_id, delivery: String(rows[0]?.id) }
  }
  const without = (delivery: string) => () => query('delete from delivery where id = $1', [delivery])
  const NO_DELIVERY = /there is no delivery/

  return {
    async 'deliveries change'() {
      const { asking, delivery } = await exchanged()
      const input = { change: 'replay' as const, participant: asking.sender_id }
      return {
        words: ['deliveries', 'replay', '--participant', asking.sender_id],
        command: (at) => changeDeliveries(acting(at), input),
        shows: asking.sender_id,
        hides: [],
        refusal: OUTDATED,
        meanwhile: without(delivery),
      }
    },
    async 'deliveries replay'() {
      const { asking, delivery } = await exchanged()
      return {
        path: '/deliveries/replay',
        body: { participant: asking.sender_id },
        shows: asking.sender_id,
        hides: [],
        refusal: OUTDATED,
        meanwhile: without(delivery),
      }
    },
    async 'subscriptions backfill'() {
      const { id: participant } = await rowOf(await peer())
      const subscription = await subscribeLive(db, await requireRegistry(db, 'civil'), 'MARRIAGE', undefined, { participant })
      const { rows } = await query('select code from subscription where id = $1', [subscription])
      const code = String(rows[0]?.code)
      return {
        words: ['subscriptions', 'backfill', code],
        command: (at) => backfillSubscription(acting(at), { code }),
        shows: code,
        hides: [],
        refusal: /^code: the subscription is suspended/,
        meanwhile: () => query("update subscription set state = 'suspended' where id = $1", [subscription]),
      }
    },
    async 'messages bodies'() {
      const { asking, message_id, delivery } = await exchanged()
      const gone = async () => {
        await without(delivery)()
        await query('delete from accepted_exchange where participant = $1', [asking.id])
      }
      return {
        path: `/messages/${message_id}/bodies`,
        body: { reason: REASON },
        shows: message_id,
        hides: [REASON],
        looks: true,
        refusal: /^no body of a message/,
        meanwhile: gone,
      }
    },
    async 'deliveries body'() {
      const { delivery } = await exchanged()
      return {
        path: `/deliveries/${delivery}/body`,
        body: { reason: REASON },
        shows: delivery,
        hides: [REASON],
        looks: true,
        refusal: NO_DELIVERY,
        meanwhile: without(delivery),
      }
    },
    async 'deliveries show'() {
      const { delivery } = await exchanged()
      return {
        words: ['deliveries', 'show', delivery, '--body'],
        command: (at) => showDelivery(acting(at), { id: delivery, body: true }),
        shows: delivery,
        hides: ['Okoro'],
        looks: true,
        refusal: NO_DELIVERY,
        meanwhile: without(delivery),
      }
    },
    async 'inbox show'() {
      const sender = await peer()
      const { sender_id: participant } = sender
      const sent = envelope('notify', { header: { sender_id: participant } })
      await sendCallback(server, 'notify', sent, sender)
      const { message_id } = sent.header
      return {
        words: ['inbox', 'show', message_id, '--participant', participant, '--body'],
        command: (at) => showInboxMessage(acting(at), { message_id, participant, body: true }),
        shows: message_id,
        hides: ['Okoro'],
        looks: true,
        refusal: /^there is no message /,
        meanwhile: () => query('delete from inbox_message where message_id = $1', [message_id]),
      }
    },
  }
}
