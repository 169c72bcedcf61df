import type { TracedDelivery } from '@rollcall/delivery/store/deliveries/traced-deliveries'
import type { TracedNotification } from '@rollcall/delivery/store/events/traced-notifications'
import type { TracedExchange } from '@rollcall/engine/store/exchanges/trace'
import { expect, test } from 'vitest'
import { listTraceEvents } from './story.ts'

const at = (seconds: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds))
const NOW = at(50)

const delivery: TracedDelivery = {
  id: 'd-1',
  callback: 'on-search',
  page: 1,
  message_id: 'ours-1',
  target: 'https://sp.example/hidden?key=1',
  encrypted: false,
  state: 'pending',
  reason: null,
  attempts: 0,
  earlier: 0,
  next_attempt_at: at(60),
  claimed_until: null,
  created_at: at(10),
  since: at(10),
  finished_at: null,
  made: [],
}

const exchange: TracedExchange = {
  traced: 'exchange',
  correlation_id: 'c-1',
  participant: 'sp.example',
  participant_status: 'active',
  registry: 'civil',
  operation: 'search',
  message_id: 'm-1',
  transaction_id: 'tx-1',
  received_at: at(1),
  accepted: { encrypted: true, items: 1, state: 'replied', started_at: at(2), finished_at: at(10) },
  answered: [{ at: at(10), succ: 1, rjct: 0, records: 1 }],
  items: [{ reference_id: 'r-1', status: 'succ', total: 1, page_size: 10 }],
  delivery_states: { pending: 1 },
  deliveries: [delivery],
  breaker: null,
}

const attempt = (number: number, seconds: number, status: number | null, error: string | null) => ({
  number,
  at: at(seconds),
  duration_ms: 7,
  status,
  error,
})

/** The story of the delivery alone, with these changes. */
function told(changes: Partial<TracedDelivery>): readonly (readonly [number, string])[] {
  const lone: TracedExchange = {
    ...exchange,
    received_at: null,
    accepted: null,
    answered: [],
    deliveries: [{ ...delivery, ...changes }],
  }
  return listTraceEvents(lone, NOW).map((event) => [new Date(event.at).getUTCSeconds(), event.event])
}

test('what was written at one moment is told in the order of its causes', () => {
  const events = listTraceEvents(exchange, NOW).map(({ event }) => event)
  expect(events).toEqual([...['received', 'accepted', 'begun', 'answered', 'delivery made', 'replied', 'attempt due']])
})

test('a node whose clock is behind does not deliver before there is something to deliver', () => {
  const made = [attempt(1, 4, 500, 'http_5xx'), attempt(2, 3, 200, null)]
  expect(told({ state: 'delivered', finished_at: at(11), made })).toEqual([
    [10, 'delivery made'],
    [4, 'attempt'],
    [3, 'attempt'],
    [11, 'delivered'],
  ])
})

test('what an operator asked for again stands between the attempts before it and those after', () => {
  const made = [attempt(1, 10, 500, 'http_5xx'), attempt(2, 30, null, 'timeout')]
  expect(told({ made, attempts: 2, earlier: 1, since: at(30) })).toEqual([
    [10, 'delivery made'],
    [10, 'attempt'],
    [30, 'sent again'],
    [30, 'attempt'],
    [0, 'attempt due'],
  ])
})

test('an attempt that nobody has recorded yet is under way until its claim is over', () => {
  expect(told({ attempts: 1, claimed_until: at(55) }).at(-1)).toEqual([55, 'attempt under way'])
  expect(told({ attempts: 1, claimed_until: at(45) }).at(-1)).toEqual([0, 'attempt due'])
})

test('what has no address is held from the beginning', () => {
  const held = { state: 'held', next_attempt_at: null, target: null } as const
  expect(told(held)).toEqual([
    [10, 'delivery made'],
    [10, 'held'],
  ])
})

const notification: TracedNotification = {
  traced: 'notification',
  participant: 'sp.example',
  participant_status: 'active',
  registry: 'civil',
  reference_id: 'n-1',
  subscriptions: [{ code: 'SUB-1', presence: 'entered' }],
  purpose: 'event',
  event_type: 'Death',
  record_type: 'Person',
  event_id: null,
  occurred_at: at(1),
  recorded_at: at(5),
  matched: 3,
  state: 'sent',
  due_at: at(5),
  mailbox: 'm-1',
  mailbox_state: 'open',
  sequence: 4,
  delivery,
  recalled: [],
}
const notified = (changes: Partial<TracedNotification>) => listTraceEvents({ ...notification, ...changes }, NOW)

test('a notification is told from its event to the attempts at its envelope', () => {
  const made = [attempt(1, 11, 503, 'http_5xx')]
  expect(notified({ delivery: { ...delivery, made, attempts: 1 } })).toMatchObject([
    { event: 'occurred', event_type: 'Death', record_type: 'Person', at: at(1).toISOString() },
    { event: 'matched', count: 3, at: at(5).toISOString() },
    { event: 'composed', message_id: 'ours-1', sequence: 4, target_origin: 'https://sp.example' },
    { event: 'attempt', number: 1, status: 503 },
    { event: 'attempt due', number: 2 },
  ])
})

test('an envelope that was taken back comes before the one that was composed anew', () => {
  const back = { ...delivery, id: 'd-0', message_id: 'ours-0', created_at: at(6), since: at(6) }
  const recalled = { ...back, state: 'dropped', reason: 'recalled', finished_at: at(9) } as const
  expect(notified({ recalled: [{ ...recalled, made: [attempt(1, 7, 503, 'http_5xx')] }] })).toMatchObject([
    ...[{ event: 'occurred' }, { event: 'matched' }],
    { event: 'composed', message_id: 'ours-0', sequence: null },
    { event: 'attempt', delivery: 'd-0', status: 503 },
    { event: 'dropped', delivery: 'd-0', reason: 'recalled' },
    { event: 'composed', message_id: 'ours-1', sequence: 4 },
    { event: 'attempt due', delivery: 'd-1' },
  ])
})

test('what waits, what is left out, and an event that is entered before it happens', () => {
  const names = (changes: Partial<TracedNotification>) => notified(changes).map(({ event }) => event)
  expect(names({ state: 'waiting', delivery: null, due_at: at(4) })).toEqual([...['occurred', 'matched', 'waits']])
  expect(names({ state: 'dropped', delivery: null })).toEqual(['occurred', 'matched', 'left out'])
  expect(names({ occurred_at: at(59) }).slice(0, 3)).toEqual(['occurred', 'matched', 'composed'])
})
