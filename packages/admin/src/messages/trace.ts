/** Traces a message from its arrival to the last attempt at its answer, without any content. */

import { DELIVERY_STATES } from '@rollcall/delivery/store/deliveries/delivery-choice'
import type { TracedDelivery } from '@rollcall/delivery/store/deliveries/traced-deliveries'
import { type TracedNotification, traceNotifications } from '@rollcall/delivery/store/events/traced-notifications'
import { type TracedExchange, traceMessage as traceRows } from '@rollcall/engine/store/exchanges/trace'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import type { HasClock, HasDatabase } from '../deps.ts'
import { closed, flag, instant, isoTime, orNull, text, wholeNumber } from '../members.ts'
import { listTraceEvents, type TraceEvent } from './story.ts'

export type { TraceEvent } from './story.ts'

/** The most items, and the most deliveries, of an exchange that are shown without `full`. */
export const MOST_TRACED_DELIVERIES = 100
const NO_LIMIT = 2_147_483_647

const IdOrNull = orNull(Type.String())
const Count = wholeNumber('A number of things.')

/** The schema of an event of a message. The event's name decides which members it has. */
const TraceEventSchema = Type.Unsafe<TraceEvent>({
  type: 'object',
  required: ['at', 'event'],
  additionalProperties: false,
  properties: {
    at: instant('When it happened, or will.'),
    event: text('What happened.'),
    by: IdOrNull,
    encrypted: orNull(Type.Boolean()),
    items: Count,
    succ: Count,
    rjct: Count,
    records: Type.Number(),
    delivery: text('id of the delivery.'),
    page: Count,
    callback: text('Name of the callback.'),
    message_id: text('message_id of the delivery.'),
    target_origin: orNull(text('Origin of the address; the rest of it may be a secret.')),
    number: Count,
    duration_ms: Type.Number(),
    status: orNull(Type.Integer()),
    error: IdOrNull,
    reason: IdOrNull,
    state: Type.String(),
    event_type: Type.String(),
    record_type: Type.String(),
    count: Count,
    sequence: orNull(Count),
  },
})

const TRACED_MEMBERS = {
  participant: IdOrNull,
  registry: IdOrNull,
  message_id: IdOrNull,
  transaction_id: IdOrNull,
  correlation_id: IdOrNull,
  events: Type.Array(TraceEventSchema, { description: 'The oldest first; what is still to come is at the end.' }),
} as const

const Delivery = closed({
  id: Type.String(),
  callback: Type.String(),
  page: Count,
  message_id: Type.String(),
  state: oneOf(DELIVERY_STATES),
  attempts: Count,
  reason: IdOrNull,
})

const Exchange = closed({
  ...TRACED_MEMBERS,
  traced: Type.Literal('exchange'),
  participant_status: orNull(oneOf(['active', 'disabled'])),
  operation: orNull(text('Null: the exchange is not stored any more.')),
  items: Type.Array(
    closed({
      reference_id: Type.String(),
      status: oneOf(['succ', 'rjct']),
      total: orNull(Type.Number({ description: 'Records found.' })),
      page_size: orNull(Type.Number()),
    }),
  ),
  road: oneOf(['synchronous', 'asynchronous'], { description: 'Answered at once, or later.' }),
  state: orNull(text('State of an accepted exchange.')),
  encrypted: orNull(Type.Boolean()),
  items_requested: orNull(Type.Number()),
  delivery_states: Type.Unsafe<TracedExchange['delivery_states']>({
    type: 'object',
    description: 'How many deliveries are in each state.',
    propertyNames: { enum: DELIVERY_STATES },
    additionalProperties: { type: 'integer' },
  }),
  deliveries: Type.Array(Delivery),
  breaker: orNull(
    closed({
      failures: Count,
      opened_at: orNull(instant('When it opened.')),
      probe_at: orNull(instant('When the next attempt is made.')),
    }),
  ),
})

const Callback = closed({
  ...TRACED_MEMBERS,
  traced: Type.Literal('callback'),
  callback: Type.String(),
  status: IdOrNull,
  state: Type.String(),
})

const Notification = closed({
  traced: Type.Literal('notification'),
  participant: IdOrNull,
  participant_status: orNull(oneOf(['active', 'disabled'])),
  registry: IdOrNull,
  reference_id: orNull(text('reference_id of its item; null: it was never composed.')),
  subscriptions: Type.Array(
    closed({ code: text('Code of a subscription that caused it.'), presence: oneOf(['entered', 'stayed', 'left']) }),
  ),
  purpose: oneOf(['event', 'correction', 'backfill', 'test']),
  event_type: text('Type of the event.'),
  record_type: text('Type of the record.'),
  event_id: orNull(text('What the publishing system calls the event.')),
  matched: wholeNumber('Subscriptions that were notified of the event.'),
  state: oneOf(['waiting', 'sent', 'dropped']),
  due_at: instant('When it is due.'),
  mailbox: text('What its receiver knows the mailbox by.'),
  mailbox_state: oneOf(['open', 'closed']),
  sequence: orNull(wholeNumber('Position of its envelope in the mailbox.')),
  delivery: orNull(Delivery),
  recalled: Type.Array(Delivery, {
    description: 'Earlier envelopes with it, the oldest first. Each was taken back and composed anew.',
  }),
  events: TRACED_MEMBERS.events,
})

/**
 * Finds at most `limit` messages by an id. First come exchanges and callbacks, the oldest first: the id is their transaction_id,
 * correlation_id or message_id, or the code of the subscription that they began or ended. Then come notifications, the newest
 * first: the id is their reference_id, or the code of their subscription.
 */
export const traceMessages = defineAct(
  {
    name: 'trace',
    approval: 'never',
    input: closed({
      id: text(
        'A transaction_id, a correlation_id, a message_id of theirs or ours, a reference_id of a notification, or the code of a subscription.',
      ),
      limit: Type.Optional(wholeNumber('At most so many messages (default: 20).', 1, 1_001)),
      full: Type.Optional(flag(`All items and deliveries of each message, not only the first ${MOST_TRACED_DELIVERIES}.`)),
    }),
    result: Type.Array(Type.Union([Exchange, Callback, Notification])),
  },
  async ({ db, now = () => new Date() }: HasDatabase & HasClock, { id, limit = 20, full = false }) => {
    const messages = await traceRows(db, id, { found: limit, each: full ? NO_LIMIT : MOST_TRACED_DELIVERIES })
    const notifications = await traceNotifications(db, id, limit)
    return [...messages, ...notifications].slice(0, limit).map((traced) => {
      const events = listTraceEvents(traced, now())
      if (traced.traced === 'exchange') return { ...exchangeFacts(traced), events }
      if (traced.traced === 'notification') return { ...notificationFacts(traced), events }
      const { received_at: _, ...callback } = traced
      return { ...callback, events }
    })
  },
)

export type TracedMessage = Awaited<ReturnType<typeof traceMessages>>[number]

/** The facts of an exchange, without its events. */
function exchangeFacts(traced: TracedExchange) {
  const { accepted, answered: _, deliveries, delivery_states, breaker, received_at: __, ...exchange } = traced
  const later = accepted !== null || deliveries.length > 0
  return {
    ...exchange,
    road: later ? ('asynchronous' as const) : ('synchronous' as const),
    state: accepted?.state ?? null,
    encrypted: accepted?.encrypted ?? null,
    items_requested: accepted?.items ?? null,
    delivery_states,
    deliveries: deliveries.map(deliveryFacts),
    // The state of the circuit breaker matters only while a delivery is pending.
    breaker: delivery_states.pending !== undefined ? breakerFacts(breaker) : null,
  }
}

function notificationFacts({ delivery, recalled, due_at, ...traced }: TracedNotification) {
  const { occurred_at: _, recorded_at: __, ...facts } = traced
  const envelopes = { delivery: delivery && deliveryFacts(delivery), recalled: recalled.map(deliveryFacts) }
  return { ...facts, due_at: isoTime(due_at), ...envelopes }
}

/** The facts of a delivery, without its times: the events have them. */
const deliveryFacts = ({ id, callback, page, message_id, state, attempts, reason }: TracedDelivery) => ({
  id,
  callback,
  page,
  message_id,
  state,
  attempts,
  reason,
})

const breakerFacts = (breaker: TracedExchange['breaker']) =>
  breaker && { failures: breaker.failures, opened_at: isoTime(breaker.opened_at), probe_at: isoTime(breaker.probe_at) }
