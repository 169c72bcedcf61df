/** Opens encrypted bodies of messages for an operator who gives a reason. The audit entry is written before. */

import { deliveryBodyBinding } from '@rollcall/core/model/delivery'
import { requestBodyBinding } from '@rollcall/core/model/exchange'
import { findDelivery } from '@rollcall/delivery/store/deliveries/delivery-list'
import { listEncryptedRequests } from '@rollcall/engine/store/exchanges/accepted-exchanges'
import { inboxBodyBinding } from '@rollcall/engine/store/exchanges/inbox'
import { findInInbox } from '@rollcall/engine/store/exchanges/inbox-list'
import type { TracedMessage } from '@rollcall/engine/store/exchanges/trace'
import { type BodyEncryption, BodyUnreadable, createBodyEncryption } from '@rollcall/keys/bodies'
import { oneOf } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, markPersonal, Namespace, orNull, SenderId, text } from '../members.ts'
import { findTracedMessages, MESSAGE_LOOKUP_MEMBERS } from './timeline.ts'

/** The most bodies in one answer. The operator opens further deliveries one by one, with `openDeliveryBody`. */
const MOST_BODIES = 20

const ReasonToOpen = markPersonal(
  Type.String({
    minLength: 5,
    maxLength: 255,
    pattern: '\\S',
    description: 'Why the body is opened. It is stored in the audit log, encrypted.',
  }),
)

const Body = closed({
  what: oneOf(['request', 'delivery', 'callback'], { description: 'callback: in our inbox.' }),
  id: text('id of the delivery; else the correlation_id, or the id of a part of a large request.'),
  participant: orNull(SenderId),
  body: Type.Optional(markPersonal(Type.Unknown({ description: 'Header and message in clear.' }))),
  problem: orNull(text('Why it cannot be opened.')),
})

/** Decrypts the bodies of a stored message: an asynchronous request with pages of its answer, or a callback in the inbox. */
export const openBodies = defineAct(
  {
    name: 'messages bodies',
    approval: {
      when: 'always',
      role: 'audit',
      confidential: ['reason'],
      concerns: async (_: HasVault, asked) => ({ about: asked, wanted: { opens: 'the bodies of the message' } }),
    },
    entry: 'within',
    input: closed({ ...MESSAGE_LOOKUP_MEMBERS, reason: ReasonToOpen }),
    result: closed({
      bodies: Type.Array(Body),
      more: Type.Boolean({ description: `Whether there are more than ${MOST_BODIES}: open their deliveries.` }),
    }),
  },
  async (deps: HasVault, { reason, ...asked }, enter) => {
    const { db } = deps
    const traced = await findTracedMessages({ db }, asked)
    const places = (await Promise.all(traced.map((one) => sealedBodiesOf({ db }, one)))).flat()
    if (places.length === 0) {
      throw new AdminRefusal('no body of a message with this message_id is stored', { reason: 'not_found' })
    }
    const repeats = traced.flatMap(({ correlation_id }) => correlation_id ?? [])
    const registry = asked.namespace ?? traced.find((one) => one.registry !== null)?.registry ?? undefined
    await enter({ registry, reason, repeats })
    const bodies = createBodyEncryption(db, await deps.vault())
    const opened = []
    for (const place of places.slice(0, MOST_BODIES)) opened.push(await openBody(bodies, place))
    return { bodies: opened, more: places.length > MOST_BODIES }
  },
)

/** Decrypts the message of one delivery for an operator. */
export const openDeliveryBody = defineAct(
  {
    name: 'deliveries body',
    approval: {
      when: 'always',
      role: 'audit',
      confidential: ['reason'],
      concerns: async (_: HasVault, asked) => ({ about: asked, wanted: { opens: 'the body of the delivery' } }),
    },
    entry: 'within',
    input: closed({ id: text('id of the delivery.'), namespace: Type.Optional(Namespace), reason: ReasonToOpen }),
    result: Body,
  },
  async (deps: HasVault, { id, namespace, reason }, enter) => {
    const { db } = deps
    const found = await findDelivery(db, id)
    if (found === null || (namespace !== undefined && found.registry !== namespace)) {
      throw new AdminRefusal('id: there is no delivery with this id', { reason: 'not_found' })
    }
    const { participant, registry, correlation_id, body: sealed } = found
    const repeats = correlation_id === null ? [] : [correlation_id]
    await enter({ registry: registry ?? undefined, reason, repeats })
    const bodies = createBodyEncryption(db, await deps.vault())
    return openBody(bodies, { what: 'delivery', id, participant, sealed, context: deliveryBodyBinding(id) })
  },
)

interface SealedBody extends Pick<Static<typeof Body>, 'what' | 'id' | 'participant'> {
  readonly sealed: Uint8Array
  readonly context: string
}

async function sealedBodiesOf({ db }: HasDatabase, traced: TracedMessage): Promise<readonly SealedBody[]> {
  const { participant } = traced
  if (traced.traced === 'callback') {
    const found = await findInInbox(db, traced.message_id, traced.participant)
    return found.map(({ message_id, owner, body: sealed }) => ({
      what: 'callback',
      id: message_id,
      participant,
      sealed,
      context: inboxBodyBinding({ participant: owner, message_id }),
    }))
  }
  const { correlation_id, deliveries } = traced
  const requests = correlation_id === null ? [] : await listEncryptedRequests(db, correlation_id, MOST_BODIES + 1)
  const sent = await Promise.all(deliveries.slice(0, MOST_BODIES + 1).map(({ id }) => findDelivery(db, id)))
  return [
    ...requests.map(({ id, request: sealed }) => ({
      what: 'request' as const,
      id,
      participant,
      sealed,
      context: requestBodyBinding(id),
    })),
    ...sent.flatMap((delivery) =>
      delivery === null
        ? []
        : [
            {
              what: 'delivery' as const,
              id: delivery.id,
              participant,
              sealed: delivery.body,
              context: deliveryBodyBinding(delivery.id),
            },
          ],
    ),
  ]
}

async function openBody(bodies: BodyEncryption, { what, id, participant, sealed, context }: SealedBody) {
  try {
    const body: unknown = JSON.parse(await bodies.decryptBody(sealed, context))
    return { what, id, participant, body, problem: null }
  } catch (error) {
    if (error instanceof BodyUnreadable) return { what, id, participant, problem: error.message }
    throw error
  }
}
