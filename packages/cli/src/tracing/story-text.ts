/** The life of a message for people: one block, one line for each thing that happened. */
import type { Traced, TracedExchange, TracedItem } from '@rollcall/server'
import { printable } from '../asking/printing.ts'
import { counted, rowLines } from '../asking/summary.ts'
import type { StoryEvent } from './story.ts'

export function storyText(traced: Traced, story: readonly StoryEvent[]): string {
  const { message_id, transaction_id, correlation_id } = traced
  return [
    printable(headOf(traced)),
    ...rowLines({ message: message_id, transaction: transaction_id, correlation: correlation_id }),
    ...story.map((event) => printable(`${event.at}  ${eventText(event)}`)),
    ...(traced.traced === 'exchange' ? remarksOf(traced) : []),
  ].join('\n')
}

function headOf(traced: Traced): string {
  const from = `from ${traced.participant ?? 'a participant'} to ${traced.registry ?? 'a registry'}`
  if (traced.traced === 'callback') return `${traced.callback} ${from}, in our inbox`
  return `${traced.operation ?? 'an exchange that is not kept any more'} ${from}, ${roadText(traced)}`
}

const roadText = (traced: TracedExchange): string =>
  isAsynchronous(traced) ? 'asynchronous' : 'synchronous: of its answer nothing is kept'

/** What is accepted, or has deliveries, is answered later. */
export const isAsynchronous = ({ accepted, deliveries }: TracedExchange): boolean =>
  accepted !== null || deliveries.length > 0

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
  const { items, accepted, deliveries } = traced
  const answered = traced.answered.reduce((sum, { succ, rjct }) => sum + succ + rjct, 0)
  const made = Object.values(traced.delivery_states).reduce((sum, count) => sum + count, 0)
  return [
    ...items.map((item) => printable(`  item ${item.reference_id}: ${itemText(item)}`)),
    ...leftOut('item', answered - items.length),
    ...leftOut('delivery', made - deliveries.length),
    ...(accepted?.state === 'accepted' && accepted.started_at === null ? ['  waits for a worker'] : []),
    ...holdUps(traced),
  ]
}

const itemText = ({ status, total, page_size }: TracedItem): string => {
  if (total === null) return status
  const pages = page_size === null || total <= page_size ? '' : `, ${Math.ceil(total / page_size)} pages`
  return `${status}, ${counted(total, 'record')}${pages}`
}

const leftOut = (what: 'item' | 'delivery', count: number): string[] => {
  if (count === 0) return []
  const more =
    what === 'item' ? counted(count, 'item') : `${count} ${count === 1 ? 'delivery' : 'deliveries'}`
  return [`  and ${more} more; --full tells them`]
}

/** Why what is due is perhaps not attempted. */
function holdUps({ delivery_states, participant_status, breaker }: TracedExchange): string[] {
  if (delivery_states.pending === undefined) return []
  const { opened_at = null, probe_at = null } = breaker ?? {}
  const probe = probe_at === null ? '' : `; it is tried next at ${probe_at.toISOString()}`
  return [
    ...(participant_status === 'disabled' ? ['  waits until the participant is enabled'] : []),
    ...(opened_at === null ? [] : [`  its breaker is open since ${opened_at.toISOString()}${probe}`]),
  ]
}
