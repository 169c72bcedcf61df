/**
 * The life of a message in order, from stored exchanges, deliveries and notifications. A target address is shown as its origin.
 */
import type { TracedAttempt, TracedDelivery } from '@rollcall/delivery/store/deliveries/traced-deliveries'
import type { TracedNotification } from '@rollcall/delivery/store/events/traced-notifications'
import type { TracedCallback, TracedExchange } from '@rollcall/engine/store/exchanges/trace'

/** An event of a message, still without its time `at`, which `TraceEvent` adds. `delivery` is the id of a delivery. */
export type UntimedTraceEvent =
  | { readonly event: 'received'; readonly by: string | null; readonly encrypted: boolean | null }
  | { readonly event: 'accepted'; readonly items: number }
  | { readonly event: 'begun' }
  | { readonly event: 'answered'; readonly items: number; readonly succ: number; readonly rjct: number; readonly records: number }
  | (DeliveryOfPage & {
      readonly event: 'delivery made'
      readonly callback: string
      readonly message_id: string
      readonly target_origin: string | null
    })
  | { readonly event: 'replied' | 'failed' }
  | (DeliveryOfPage & TracedAttemptFacts & { readonly event: 'attempt' })
  /** An operator or the participant had the delivery sent again. */
  | (DeliveryOfPage & { readonly event: 'sent again' })
  | (DeliveryOfPage & { readonly event: 'delivered' | 'refused' | 'dead' | 'dropped' | 'held'; readonly reason: string | null })
  /** `at` is the latest time at which the attempt may end. */
  | (DeliveryOfPage & { readonly event: 'attempt under way'; readonly number: number })
  /** `at` is the time at which the attempt is due. */
  | (DeliveryOfPage & { readonly event: 'attempt due'; readonly number: number })
  | { readonly event: 'kept'; readonly state: TracedCallback['state'] }
  | { readonly event: 'occurred'; readonly event_type: string; readonly record_type: string }
  /** The registry event was recorded; `count` subscriptions are notified of it. */
  | { readonly event: 'matched'; readonly count: number }
  | (DeliveryOfPage & {
      readonly event: 'composed'
      readonly message_id: string
      readonly sequence: number | null
      readonly target_origin: string | null
    })
  /** `at` is the time at which the notification is due in its mailbox. */
  | { readonly event: 'waits' }
  /** The notification was dropped and is not sent, for example because its subscription is not permitted any more. */
  | { readonly event: 'left out' }

interface DeliveryOfPage {
  readonly delivery: string
  readonly page: number
}

type TracedAttemptFacts = Omit<TracedAttempt, 'at'>

/** An event of a message, with the time at which it happened or will happen. */
export type TraceEvent = { readonly at: string } & UntimedTraceEvent

/** An event with its place in the order. The place may differ from the recorded time `at`. */
interface SortableEvent {
  readonly order: number
  readonly event: TraceEvent
}

/** The events of an exchange, callback or notification in order. What is to come has the time at which it is due. */
export function listTraceEvents(traced: TracedExchange | TracedCallback | TracedNotification, now: Date): readonly TraceEvent[] {
  const moments = sortableEventsOf(traced, now)
  return moments.toSorted((a, b) => a.order - b.order).map(({ event }) => event)
}

function sortableEventsOf(traced: TracedExchange | TracedCallback | TracedNotification, now: Date): readonly SortableEvent[] {
  if (traced.traced === 'callback') return callbackTraceEvents(traced)
  return traced.traced === 'notification' ? notificationTraceEvents(traced, now) : exchangeTraceEvents(traced, now)
}

const toSortableEvent = (at: Date, happening: UntimedTraceEvent): SortableEvent => ({
  order: at.getTime(),
  event: { at: at.toISOString(), ...happening },
})

const callbackTraceEvents = ({ received_at, participant, state }: TracedCallback): readonly SortableEvent[] => [
  toSortableEvent(received_at, { event: 'received', by: participant, encrypted: null }),
  toSortableEvent(received_at, { event: 'kept', state }),
]

function notificationTraceEvents(traced: TracedNotification, now: Date): readonly SortableEvent[] {
  const { occurred_at, recorded_at, event_type, record_type, matched, state, due_at, sequence } = traced
  const { delivery, recalled } = traced
  const occurred = toSortableEvent(occurred_at, { event: 'occurred', event_type, record_type })
  const moments = [
    // An event may be recorded before the time at which it happens.
    { ...occurred, order: Math.min(occurred.order, recorded_at.getTime()) },
    toSortableEvent(recorded_at, { event: 'matched', count: matched }),
    ...recalled.flatMap((envelope) => [toEnvelopeEvent(envelope, null), ...attemptEvents(envelope, now)]),
  ]
  if (state === 'waiting') return [...moments, { ...toSortableEvent(due_at, { event: 'waits' }), order: Infinity }]
  if (state === 'dropped') return [...moments, { ...toSortableEvent(due_at, { event: 'left out' }), order: Infinity }]
  // There is no envelope any more: it was deleted after its retention.
  if (delivery === null) return moments
  return [...moments, toEnvelopeEvent(delivery, sequence), ...attemptEvents(delivery, now)]
}

/**
 * The composing of an envelope.
 * @param sequence the number of the envelope in the mailbox; null for a recalled envelope: another one may have its number now
 */
const toEnvelopeEvent = ({ id, page, created_at, message_id, target }: TracedDelivery, sequence: number | null): SortableEvent =>
  toSortableEvent(created_at, {
    event: 'composed',
    delivery: id,
    page,
    message_id,
    sequence,
    target_origin: targetOrigin(target),
  })

/** The events of an exchange. Events of the same time are shown in the order in which this function adds them. */
function exchangeTraceEvents(traced: TracedExchange, now: Date): readonly SortableEvent[] {
  const { accepted, received_at, participant: by, answered, deliveries } = traced
  const moments: SortableEvent[] = []
  if (received_at !== null) {
    moments.push(toSortableEvent(received_at, { event: 'received', by, encrypted: accepted?.encrypted ?? null }))
    if (accepted !== null) moments.push(toSortableEvent(received_at, { event: 'accepted', items: accepted.items }))
  }
  if (accepted?.started_at) moments.push(toSortableEvent(accepted.started_at, { event: 'begun' }))
  for (const { at, succ, rjct, records } of answered) {
    moments.push(toSortableEvent(at, { event: 'answered', items: succ + rjct, succ, rjct, records }))
  }
  moments.push(...deliveries.map(toDeliveryMadeEvent))
  if (accepted?.finished_at) {
    const event = accepted.state === 'failed' ? 'failed' : 'replied'
    moments.push(toSortableEvent(accepted.finished_at, { event }))
  }
  moments.push(...deliveries.flatMap((delivery) => attemptEvents(delivery, now)))
  return moments
}

const toDeliveryMadeEvent = ({ created_at, target, id, page, callback, message_id }: TracedDelivery): SortableEvent =>
  toSortableEvent(created_at, {
    event: 'delivery made',
    delivery: id,
    page,
    callback,
    message_id,
    target_origin: targetOrigin(target),
  })

/** The origin of an address. The rest of the address may be a secret. */
const targetOrigin = (target: string | null): string | null =>
  target !== null && URL.canParse(target) ? new URL(target).origin : null

/** The attempts of a delivery and its end. They are ordered after its making, even if the clock of a node is wrong. */
function attemptEvents(delivery: TracedDelivery, now: Date): readonly SortableEvent[] {
  const { id, page, state, reason, earlier, since, created_at, finished_at, made } = delivery
  const of = { delivery: id, page }
  const moments = made.map(({ at, ...attempt }) => toSortableEvent(at, { event: 'attempt', ...of, ...attempt }))
  if (since > created_at) {
    const before = made.filter(({ number }) => number <= earlier).length
    moments.splice(before, 0, toSortableEvent(since, { event: 'sent again', ...of }))
  }
  if (state === 'pending') moments.push(...comingEvents(delivery, now))
  else moments.push(toSortableEvent(finished_at ?? created_at, { event: state, ...of, reason }))
  let last = created_at.getTime()
  return moments.map(({ order, event }) => {
    last = Math.max(last, order)
    return { order: last, event }
  })
}

function comingEvents(delivery: TracedDelivery, now: Date): readonly SortableEvent[] {
  const { id, page, attempts, claimed_until, next_attempt_at } = delivery
  const of = { delivery: id, page }
  if (claimed_until !== null && claimed_until > now) {
    return [toSortableEvent(claimed_until, { event: 'attempt under way', ...of, number: attempts })]
  }
  if (next_attempt_at === null) return []
  return [toSortableEvent(next_attempt_at, { event: 'attempt due', ...of, number: attempts + 1 })]
}
