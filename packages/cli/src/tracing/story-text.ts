/** Returns the life of a message as text: a line for each step. */

import type { TracedMessage, TraceEvent } from '@rollcall/admin/messages/trace'
import { toPrintableLine } from '../asking/printing.ts'
import { nameValueLines } from '../asking/summary.ts'
import { countWithNoun } from '../output.ts'

type TracedNotification = Extract<TracedMessage, { readonly traced: 'notification' }>
type TracedExchange = Extract<TracedMessage, { readonly traced: 'exchange' }>

export function tracedMessageText(traced: TracedMessage): string {
  // A notification has only one page, so its steps name no page.
  const page = traced.traced === 'notification' ? () => '' : pageText
  return [
    toPrintableLine(tracedMessageHeadline(traced)),
    ...nameValueLines(tracedIds(traced)),
    ...traced.events.map((event) => toPrintableLine(`${event.at}  ${tracedEventText(event, page)}`)),
    ...remarkLines(traced),
  ].join('\n')
}

const pageText = (page: number): string => `page ${page}: `

function tracedIds(traced: TracedMessage): Readonly<Record<string, string | null>> {
  if (traced.traced !== 'notification') {
    const { message_id, transaction_id, correlation_id } = traced
    return { message: message_id, transaction: transaction_id, correlation: correlation_id }
  }
  const { reference_id, mailbox, event_id, subscriptions } = traced
  const codes = subscriptions.map(({ code, presence }) => `${code} (${presence})`).join(', ')
  return { reference: reference_id, event: event_id, subscription: codes, mailbox }
}

function remarkLines(traced: TracedMessage): readonly string[] {
  if (traced.traced === 'exchange') return exchangeRemarkLines(traced)
  return traced.traced === 'notification' ? waitReasonLines(traced) : []
}

/** Says that a notification waits because its participant is disabled or its mailbox is closed; no lines otherwise. */
function waitReasonLines({ state, delivery, mailbox_state, participant_status }: TracedNotification): string[] {
  if (state !== 'waiting' && delivery?.state !== 'pending') return []
  return [
    ...(participant_status === 'disabled' ? ['  waits until the participant is enabled'] : []),
    ...(mailbox_state === 'closed' ? ['  its mailbox is closed; rollcall subscriptions resume opens it'] : []),
  ]
}

const NOTIFICATION_PURPOSE_NAMES: Readonly<Record<TracedNotification['purpose'], string>> = {
  event: 'notification',
  correction: 'correction',
  backfill: 'notification of a backfill',
  test: 'test notification',
}

function tracedMessageHeadline(traced: TracedMessage): string {
  if (traced.traced === 'notification') {
    return `${NOTIFICATION_PURPOSE_NAMES[traced.purpose]} to ${traced.participant ?? 'a participant'} from ${traced.registry ?? 'a registry'}`
  }
  if (traced.traced === 'exchange' && traced.operation === 'notify') {
    return `notify to ${traced.participant ?? 'a participant'} from ${traced.registry ?? 'a registry'}`
  }
  const from = `from ${traced.participant ?? 'a participant'} to ${traced.registry ?? 'a registry'}`
  if (traced.traced === 'callback') return `${traced.callback} ${from}, in our inbox`
  return `${traced.operation ?? 'an exchange that is not stored any more'} ${from}, ${answerModeText(traced)}`
}

const answerModeText = (traced: TracedExchange): string =>
  traced.road === 'asynchronous' ? 'asynchronous' : 'synchronous: its answer is not stored'

function tracedEventText(event: TraceEvent, pageOf: (page: number) => string): string {
  switch (event.event) {
    case 'received':
      return `received${event.encrypted === null ? '' : event.encrypted ? ', encrypted' : ', not encrypted'}`
    case 'accepted':
      return `accepted with ${countWithNoun(event.items, 'item')}`
    case 'begun':
      return 'work begun'
    case 'answered':
      return `${countWithNoun(event.items, 'item')} answered: ${event.succ} succ, ${event.rjct} rjct, ${countWithNoun(event.records, 'record')}`
    case 'delivery made':
      return `${pageOf(event.page)}${event.callback} ${event.message_id} for ${event.target_origin ?? 'nowhere'}, delivery ${event.delivery}`
    case 'replied':
      return 'replied: every page is made'
    case 'failed':
      return 'failed: the registry could not answer, or the participant was disabled'
    case 'attempt': {
      const { page, number, duration_ms, status, error } = event
      const ending = [status === null ? null : `HTTP ${status}`, error].filter((part) => part !== null)
      return `${pageOf(page)}attempt ${number}: ${ending.join(', ')}, ${duration_ms} ms`
    }
    case 'sent again':
      return `${pageOf(event.page)}asked for again by an operator or the participant`
    case 'attempt under way':
      return `${pageOf(event.page)}attempt ${event.number} is under way, until then at most`
    case 'attempt due':
      return `${pageOf(event.page)}attempt ${event.number} is due`
    case 'kept':
      return event.state
    case 'occurred':
      return `${event.event_type} of a ${event.record_type} occurred`
    case 'matched':
      return `recorded, ${countWithNoun(event.count, 'subscription')} matched`
    case 'composed': {
      const { message_id, sequence, target_origin, delivery } = event
      return `composed into ${sequence === null ? 'an envelope' : `envelope ${sequence}`}: notify ${message_id} for ${target_origin ?? 'nowhere'}, delivery ${delivery}`
    }
    case 'waits':
      return 'due in its mailbox'
    case 'left out':
      return 'not sent: its subscription was taken back, or is not permitted any more'
    default:
      return `${pageOf(event.page)}${event.event}${event.reason === null ? '' : `, ${event.reason}`}`
  }
}

function exchangeRemarkLines(traced: TracedExchange): string[] {
  const { items, deliveries, events } = traced
  const answered = events.reduce((sum, event) => sum + (event.event === 'answered' ? event.items : 0), 0)
  const begun = events.some(({ event }) => event === 'begun')
  const made = Object.values(traced.delivery_states).reduce((sum, count) => sum + count, 0)
  return [
    ...items.map((item) => toPrintableLine(`  item ${item.reference_id}: ${itemText(item)}`)),
    ...leftOutCountLines('item', answered - items.length),
    ...leftOutCountLines('delivery', made - deliveries.length),
    ...(traced.state === 'accepted' && !begun ? ['  waits for a worker'] : []),
    ...deliveryDelayLines(traced),
  ]
}

const itemText = ({ status, total, page_size }: TracedExchange['items'][number]): string => {
  if (total === null) return status
  const pages = page_size === null || total <= page_size ? '' : `, ${Math.ceil(total / page_size)} pages`
  return `${status}, ${countWithNoun(total, 'record')}${pages}`
}

const leftOutCountLines = (what: 'item' | 'delivery', count: number): string[] => {
  if (count === 0) return []
  const more = what === 'item' ? countWithNoun(count, 'item') : `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
  return [`  and ${more} more; --full prints them`]
}

/** Says whether a disabled participant or an open breaker delays pending deliveries; no lines when neither does. */
function deliveryDelayLines({ delivery_states, participant_status, breaker }: TracedExchange): string[] {
  if (delivery_states.pending === undefined) return []
  const { opened_at = null, probe_at = null } = breaker ?? {}
  const probe = probe_at === null ? '' : `; it is tried next at ${probe_at}`
  return [
    ...(participant_status === 'disabled' ? ['  waits until the participant is enabled'] : []),
    ...(opened_at === null ? [] : [`  its breaker is open since ${opened_at}${probe}`]),
  ]
}
