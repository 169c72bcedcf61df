import type { TracedMessage } from '@rollcall/admin/messages/trace'
import { expect, test } from 'vitest'
import { tracedMessageText } from './story-text.ts'

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()

const delivery = { delivery: 'd-1', page: 1 }
const made: TracedMessage['events'][number] = {
  at: at(10),
  event: 'delivery made',
  ...delivery,
  callback: 'on-search',
  message_id: 'ours-1',
  target_origin: 'https://sp.example',
}

const exchange: Extract<TracedMessage, { traced: 'exchange' }> = {
  traced: 'exchange',
  correlation_id: 'c-1',
  participant: 'sp.example',
  participant_status: 'disabled',
  registry: 'civil',
  operation: 'search',
  message_id: 'm-1',
  transaction_id: 'tx\u001b[2J',
  items: [{ reference_id: 'r-1', status: 'succ', total: 1, page_size: 10 }],
  road: 'asynchronous',
  state: 'replied',
  encrypted: true,
  items_requested: 1,
  delivery_states: { pending: 3 },
  deliveries: [{ id: 'd-1', callback: 'on-search', page: 1, message_id: 'ours-1', state: 'pending', attempts: 0, reason: null }],
  breaker: { failures: 5, opened_at: at(20), probe_at: at(58) },
  events: [
    { at: at(1), event: 'received', by: 'sp.example', encrypted: true },
    { at: at(1), event: 'accepted', items: 1 },
    { at: at(2), event: 'begun' },
    { at: at(10), event: 'answered', items: 1, succ: 1, rjct: 0, records: 1 },
    made,
    { at: at(10), event: 'replied' },
    { at: at(60), event: 'attempt due', ...delivery, number: 1 },
  ],
}

test('as a text: no paths, no control characters, and what holds it up', () => {
  expect(tracedMessageText(exchange).split('\n')).toEqual([
    'search from sp.example to civil, asynchronous',
    '  message      m-1',
    '  transaction  tx\\u001b[2J',
    '  correlation  c-1',
    '2026-01-01T00:00:01.000Z  received, encrypted',
    '2026-01-01T00:00:01.000Z  accepted with 1 item',
    '2026-01-01T00:00:02.000Z  work begun',
    '2026-01-01T00:00:10.000Z  1 item answered: 1 succ, 0 rjct, 1 record',
    '2026-01-01T00:00:10.000Z  page 1: on-search ours-1 for https://sp.example, delivery d-1',
    '2026-01-01T00:00:10.000Z  replied: every page is made',
    '2026-01-01T00:01:00.000Z  page 1: attempt 1 is due',
    '  item r-1: succ, 1 record',
    '  and 2 deliveries more; --full prints them',
    '  waits until the participant is enabled',
    '  its breaker is open since 2026-01-01T00:00:20.000Z; it is tried next at 2026-01-01T00:00:58.000Z',
  ])
})

test('of an exchange that is forgotten its deliveries are told', () => {
  const forgotten: TracedMessage = {
    ...exchange,
    operation: null,
    message_id: null,
    transaction_id: null,
    items: [],
    delivery_states: { dead: 1 },
    breaker: null,
    events: [
      made,
      { at: at(20), event: 'dead', ...delivery, reason: 'http_5xx' },
      { at: at(30), event: 'sent again', ...delivery },
    ],
  }
  expect(tracedMessageText(forgotten).split('\n')).toEqual([
    'an exchange that is not stored any more from sp.example to civil, asynchronous',
    '  correlation  c-1',
    '2026-01-01T00:00:10.000Z  page 1: on-search ours-1 for https://sp.example, delivery d-1',
    '2026-01-01T00:00:20.000Z  page 1: dead, http_5xx',
    '2026-01-01T00:00:30.000Z  page 1: asked for again by an operator or the participant',
  ])
})

test('a notification is told from its event on, with what holds it up', () => {
  const notification: TracedMessage = {
    traced: 'notification',
    participant: 'sp.example',
    participant_status: 'disabled',
    registry: 'civil',
    reference_id: 'n-1',
    subscriptions: [{ code: 'SUB-1', presence: 'entered' }],
    purpose: 'correction',
    event_type: 'CANCEL',
    record_type: 'Person',
    event_id: null,
    matched: 3,
    state: 'sent',
    due_at: at(5),
    mailbox: 'm-1',
    mailbox_state: 'closed',
    sequence: 4,
    delivery: { id: 'd-1', callback: 'notify', page: 1, message_id: 'ours-1', state: 'pending', attempts: 1, reason: null },
    recalled: [],
    events: [
      { at: at(1), event: 'occurred', event_type: 'CANCEL', record_type: 'Person' },
      { at: at(5), event: 'matched', count: 3 },
      { at: at(6), event: 'composed', ...delivery, message_id: 'ours-1', sequence: 4, target_origin: 'https://sp.example' },
      { at: at(6), event: 'attempt', ...delivery, number: 1, duration_ms: 7, status: 503, error: 'http_5xx' },
      { at: at(36), event: 'attempt due', ...delivery, number: 2 },
    ],
  }
  expect(tracedMessageText(notification).split('\n')).toEqual([
    'correction to sp.example from civil',
    '  reference    n-1',
    '  subscription SUB-1 (entered)',
    '  mailbox      m-1',
    '2026-01-01T00:00:01.000Z  CANCEL of a Person occurred',
    '2026-01-01T00:00:05.000Z  recorded, 3 subscriptions matched',
    '2026-01-01T00:00:06.000Z  composed into envelope 4: notify ours-1 for https://sp.example, delivery d-1',
    '2026-01-01T00:00:06.000Z  attempt 1: HTTP 503, http_5xx, 7 ms',
    '2026-01-01T00:00:36.000Z  attempt 2 is due',
    '  waits until the participant is enabled',
    '  its mailbox is closed; rollcall subscriptions resume opens it',
  ])
  const waits: TracedMessage = {
    ...notification,
    state: 'waiting',
    participant_status: 'active',
    mailbox_state: 'open',
    purpose: 'event',
    delivery: null,
    events: [{ at: at(60), event: 'waits' }],
  }
  expect(tracedMessageText(waits).split('\n').at(0)).toBe('notification to sp.example from civil')
  expect(tracedMessageText(waits).split('\n').at(-1)).toBe('2026-01-01T00:01:00.000Z  due in its mailbox')
})
