/** Subscriptions of participants: which there are, and how an operator ends one. */

import type { SubscriptionState } from '@rollcall/core/model/event'
import { withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import {
  findSubscription,
  type ListedSubscription,
  listSubscriptions as listRows,
  type ShownSubscription,
} from '@rollcall/delivery/store/events/subscription-list'
import { endSubscriptions } from '@rollcall/delivery/store/events/subscription-states'
import { isJsonObject, type JsonObject, oneOf } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, instant, isoTime, markPersonal, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'

export const SUBSCRIPTION_STATES = ['live', 'suspended', 'ended'] as const satisfies readonly SubscriptionState[]

const Code = text('Code of the subscription.')

const LISTED_MEMBERS = {
  code: Code,
  participant: SenderId,
  namespace: Namespace,
  event_type: text('Event that is notified.'),
  record_type: text('Record type that is sent.'),
  state: oneOf(SUBSCRIPTION_STATES, { description: 'Only live ones match events.' }),
  reason: orNull(text('Why it is not live.')),
  cron: orNull(text('When notifications are sent, as a cron expression of 7 fields with Sunday as 0; null: at once.')),
  start_at: orNull(instant('When its frequency begins.')),
  end_at: orNull(instant('When it ends by itself.')),
  created_at: instant('When it was made.'),
  ended_at: orNull(instant('When it ended.')),
} as const

const SUBSCRIPTION_DETAIL_MEMBERS = {
  ...LISTED_MEMBERS,
  sender_uri: orNull(text('Address that its request named, from which that of its notifications is derived.')),
  transaction_id: text('transaction_id of the request that made it.'),
  correlation_id: text('correlation_id of the request that made it.'),
  reference_id: text('reference_id of the item that made it.'),
  locale: orNull(text('Language of its notifications.')),
  waiting: wholeNumber('Notifications that wait.'),
  mailbox: closed(
    {
      id: text('What receivers know it by.'),
      state: oneOf(['open', 'closed'], {
        description: 'closed: nothing could be delivered for too long; resuming the subscription opens it.',
      }),
      closed_at: orNull(instant('When it was closed.')),
      sequence: wholeNumber('Number of its newest notification that was sent.'),
      waiting: wholeNumber('Notifications that wait in it, of all its subscriptions.'),
      subscriptions: wholeNumber('Subscriptions that have not ended, this one among them.'),
    },
    { description: 'Of the same participant, registry and address: what waits in it is sent in order.' },
  ),
  criteria: Type.Optional(markPersonal(Type.Unsafe<JsonObject>(Type.Object({}, { description: 'What it was asked for with.' })))),
} as const

/** The most subscriptions that one call lists: one more than a command shows, to say whether there are more. */
const MOST_LISTED = 10_001

/** Lists subscriptions, the newest first. */
export const listSubscriptions = defineAdminFunction(
  {
    input: closed({
      participant: Type.Optional(SenderId),
      namespace: Type.Optional(Namespace),
      state: Type.Optional(LISTED_MEMBERS.state),
      before: Type.Optional(text('Only those older than the one with this code: for the next page, the last code of this one.')),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, MOST_LISTED)),
    }),
    result: Type.Array(closed(LISTED_MEMBERS)),
  },
  async ({ db }: HasDatabase, { participant, namespace, state, before, limit = 50 }) => {
    const choice = {
      ...(participant !== undefined && { participant: (await requireParticipant(db, participant)).id }),
      ...(namespace !== undefined && { registry: (await requireRegistry(db, namespace)).id }),
      ...(state !== undefined && { state }),
      ...(before !== undefined && { before: (await requireSubscription({ db }, before)).id }),
    }
    return (await listRows(db, choice, limit)).map(listedRow)
  },
)

/** Shows one subscription, with its criteria only if they are asked for. */
export const showSubscription = defineAct(
  {
    name: 'subscriptions show',
    approval: 'never',
    input: closed({ code: Code, criteria: Type.Optional(flag('Also show its criteria, whose filter may be personal data.')) }),
    result: closed(SUBSCRIPTION_DETAIL_MEMBERS),
  },
  async ({ db }: HasDatabase, { code, criteria = false }) => {
    const found = await requireSubscription({ db }, code)
    return { ...subscriptionDetails(found), ...(criteria && { criteria: parseCriteria(found) }) }
  },
)

/** Ends a subscription: no more events match it, and its waiting notifications are not sent. */
export const cancelSubscription = defineAct(
  { name: 'subscriptions cancel', approval: 'never', input: closed({ code: Code }), result: closed(SUBSCRIPTION_DETAIL_MEMBERS) },
  async ({ db }: HasDatabase, { code }) => {
    const { id, registry } = await requireSubscription({ db }, code)
    const ended = await withTransaction(db.pool, async (client) => {
      await lockRegistryFor(client, registry, 'subscribe')
      return endSubscriptions(client, [id], { reason: 'cancelled' })
    })
    if (ended === 0) {
      throw new AdminRefusal(`subscription ${code} had ended before`, { reason: 'conflict' })
    }
    return subscriptionDetails(await requireSubscription({ db }, code))
  },
)

async function requireSubscription({ db }: HasDatabase, code: string): Promise<ShownSubscription> {
  const found = await findSubscription(db, code)
  if (found === null) throw new AdminRefusal(`there is no subscription ${code}`, { reason: 'not_found' })
  return found
}

const listedRow = (subscription: ListedSubscription) => ({
  ...subscription,
  start_at: isoTime(subscription.start_at),
  end_at: isoTime(subscription.end_at),
  created_at: isoTime(subscription.created_at),
  ended_at: isoTime(subscription.ended_at),
})

function subscriptionDetails({ id: _, registry: __, criteria: ___, ...subscription }: ShownSubscription) {
  const { sender_uri, transaction_id, correlation_id, reference_id, locale, waiting } = subscription
  const request = { sender_uri, transaction_id, correlation_id, reference_id, locale, waiting }
  const { id, closed_at, sequence, ...mailbox } = subscription.mailbox
  return {
    ...listedRow(subscription),
    ...request,
    mailbox: { ...mailbox, id, closed_at: isoTime(closed_at), sequence: Number(sequence) },
  }
}

function parseCriteria({ criteria }: ShownSubscription): JsonObject {
  const read: unknown = JSON.parse(criteria)
  return isJsonObject(read) ? read : {}
}
