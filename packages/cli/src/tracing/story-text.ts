/** The life of a message for people: one block, one line for each thing that happened. */
import type { StoryEvent, Traced } from '@rollcall/server/admin/trace'
import { printable } from '../asking/printing.ts'
import { counted, rowLines } from '../asking/summary.ts'

type TracedExchange = Extract<Traced, { readonly traced: 'exchange' }>

export function storyText(traced: Traced): string {
  const { message_id, transaction_id, correlation_id } = traced
  return [
    printable(headOf(traced)),
    ...rowLines({ message: message_id, transaction: transaction_id, correlation: correlation_id }),
    ...traced.events.map((event) => printable(`${event.at}  ${eventText(event)}`)),
    ...(traced.traced === 'exchange' ? remarksOf(traced) : []),
  ].join('\n')
}

function headOf(traced: Traced): string {
  const from = `from ${traced.participant ?? 'a participant'} to ${traced.registry ?? 'a registry'}`
  if (traced.traced === 'callback') return `${traced.callback} ${from}, in our inbox`
  return `${traced.operation ?? 'an exchange that is not stored any more'} ${from}, ${roadText(traced)}`
}

const roadText = (traced: TracedExchange): string =>
  traced.road === 'asynchronous' ? 'asynchronous' : 'synchronous: its answer is not stored'

function eventText(event: StoryEvent): string {
  switch (event.event) {
    case 'received':
      return `received${event.encrypted === null ? '' : event.encrypted ? ', encrypted' : ', not encrypted'}`
    case 'accepted':
      return `accepted with ${counted(event.items, 'item')}`
    case 'begun':
      return 'work begun'
    case 'answered':
      return `${counted(event.items, 'item')} answered: ${event.succ} succ, ${event.rjct} rjct, ${counted(event.records, 'record')}`
    case 'delivery made':
      return `page ${event.page}: ${event.callback} ${event.message_id} for ${event.target_origin ?? 'nowhere'}, delivery ${event.delivery}`
    case 'replied':
      return 'replied: every page is made'
    case 'failed':
      return 'failed: the registry could not answer, or the participant was disabled'
    case 'attempt': {
      const { page, number, duration_ms, status, error } = event
      const ending = [status === null ? null : `HTTP ${status}`, error].filter((part) => part !== null)
      return `page ${page}: attempt ${number}: ${ending.join(', ')}, ${duration_ms} ms`
    }
    case 'sent again':
      return `page ${event.page}: asked for again by an operator`
    case 'attempt under way':
      return `page ${event.page}: attempt ${event.number} is under way, until then at most`
    case 'attempt due':
      return `page ${event.page}: attempt ${event.number} is due`
    case 'kept':
      return event.state
    default:
      return `page ${event.page}: ${event.event}${event.reason === null ? '' : `, ${event.reason}`}`
  }
}

function remarksOf(traced: TracedExchange): string[] {
  const { items, deliveries, events } = traced
  const answered = events.reduce((sum, event) => sum + (event.event === 'answered' ? event.items : 0), 0)
  const begun = events.some(({ event }) => event === 'begun')
  const made = Object.values(traced.delivery_states).reduce((sum, count) => sum + count, 0)
  return [
    ...items.map((item) => printable(`  item ${item.reference_id}: ${itemText(item)}`)),
    ...leftOut('item', answered - items.length),
    ...leftOut('delivery', made - deliveries.length),
    ...(traced.state === 'accepted' && !begun ? ['  waits for a worker'] : []),
    ...holdUps(traced),
  ]
}

const itemText = ({ status, total, page_size }: TracedExchange['items'][number]): string => {
  if (total === null) return status
  const pages = page_size === null || total <= page_size ? '' : `, ${Math.ceil(total / page_size)} pages`
  return `${status}, ${counted(total, 'record')}${pages}`
}

const leftOut = (what: 'item' | 'delivery', count: number): string[] => {
  if (count === 0) return []
  const more =
    what === 'item' ? counted(count, 'item') : `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
  return [`  and ${more} more; --full prints them`]
}

/** Why a due delivery may not be attempted. */
function holdUps({ delivery_states, participant_status, breaker }: TracedExchange): string[] {
  if (delivery_states.pending === undefined) return []
  const { opened_at = null, probe_at = null } = breaker ?? {}
  const probe = probe_at === null ? '' : `; it is tried next at ${probe_at}`
  return [
    ...(participant_status === 'disabled' ? ['  waits until the participant is enabled'] : []),
    ...(opened_at === null ? [] : [`  its breaker is open since ${opened_at}${probe}`]),
  ]
}
