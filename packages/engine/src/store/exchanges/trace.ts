/**
 * Finds what is stored about a message, by one of its ids: the exchange, its items, deliveries and attempts, or the
 * callback in the inbox. Bodies and answers stay encrypted, and nothing names the person of the message.
 */

import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import {
  DELIVERY_OF_EXCHANGE_SQL,
  EXCHANGES_OF_DELIVERIES_SQL,
  type ExchangeDeliveries,
  findDeliveriesOfExchange,
} from '@rollcall/delivery/store/deliveries/traced-deliveries'
import { EXCHANGES_OF_SUBSCRIPTION_SQL } from '@rollcall/delivery/store/events/find-subscriptions'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import type { AcceptedExchange } from './accepted-exchanges.ts'

/** An exchange with its deliveries, or deliveries whose exchange was deleted. */
export interface TracedExchange extends ExchangeDeliveries {
  readonly traced: 'exchange'
  readonly correlation_id: string | null
  /** The sender_id of the participant; null: it was removed after the exchange was found. */
  readonly participant: string | null
  readonly participant_status: Participant['status'] | null
  /** The namespace of the registry. */
  readonly registry: string | null
  /** The operation, or `notify` for a notification; null: the exchange was deleted. */
  readonly operation: string | null
  readonly message_id: string | null
  readonly transaction_id: string | null
  readonly received_at: Date | null
  /** How far the answer has come; null: the request was answered synchronously or was deleted, or this is a notification. */
  readonly accepted: TracedAnswerProgress | null
  /** The numbers of answered items, grouped by the time of their answer, such as those of one chunk. */
  readonly answered: readonly AnsweredItemCounts[]
  /** The answered items in the order of the request, at most `bounds.each`. */
  readonly items: readonly TracedItem[]
}

/** How far the answer to an accepted request has come. */
export interface TracedAnswerProgress extends Pick<AcceptedExchange, 'encrypted' | 'items' | 'state' | 'started_at'> {
  readonly finished_at: Date | null
}

/** The numbers of items that were answered at one time. */
export interface AnsweredItemCounts {
  readonly at: Date
  readonly succ: number
  readonly rjct: number
  /** The number of records that these items found. */
  readonly records: number
}

/** An answered item of a traced exchange. */
export interface TracedItem {
  readonly reference_id: string
  readonly status: 'succ' | 'rjct'
  /** The number of records found; null when none were searched for. */
  readonly total: number | null
  readonly page_size: number | null
}

/** A callback that another system has sent to us. */
export interface TracedCallback {
  readonly traced: 'callback'
  readonly message_id: string
  /** The name of the callback in the table CALLBACKS of the protocol. */
  readonly callback: string
  /** The correlation_id of our ack: the one that the callback has, or a new one when the callback has none. */
  readonly correlation_id: string | null
  readonly transaction_id: string | null
  /** The status in the header of the callback. */
  readonly status: string | null
  /** `quarantined`: the callback answers a request, but this server has sent none. */
  readonly state: 'stored' | 'quarantined'
  readonly participant: string
  readonly registry: string | null
  readonly received_at: Date
}

export type TracedMessage = TracedExchange | TracedCallback

/** The limits of what `traceMessage` reads. */
export interface TraceReadLimits {
  /** The most exchanges and callbacks that are read. */
  readonly found: number
  /** The most items, and the most deliveries, that are read of each exchange. */
  readonly each: number
}

/**
 * Finds the exchanges and callbacks that have this transaction_id, correlation_id or message_id. If the id is the code of a
 * subscription, finds the exchange that made it and the one that ended it. At most `bounds.found`, the oldest first.
 */
export async function traceMessage(
  { pool }: Pick<Database, 'pool'>,
  id: string,
  bounds: TraceReadLimits,
): Promise<readonly TracedMessage[]> {
  if (!isTextStorable(id)) return []
  const uuid = UUID_PATTERN.test(id) ? id : null
  const values = [messageIdKey(id), id, uuid, bounds.found]
  const exchanges = await pool.query<{ id: string; at: Date }>(FIND_EXCHANGES, values)
  const callbacks = await pool.query<Omit<TracedCallback, 'traced'>>(FIND_CALLBACKS, [messageIdKey(id), id, bounds.found])
  const found = [
    ...exchanges.rows.map(({ id, at }) => ({ at, read: () => traceExchange({ pool }, id, bounds.each) })),
    ...callbacks.rows.map((callback) => ({
      at: callback.received_at,
      read: async (): Promise<TracedMessage> => ({ traced: 'callback', ...callback }),
    })),
  ]
  const oldest = found.toSorted((a, b) => a.at.getTime() - b.at.getTime()).slice(0, bounds.found)
  const traced: TracedMessage[] = []
  for (const { read } of oldest) traced.push(await read())
  return traced
}

const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

// Each participant is joined, because the indexes of exchanges begin with the participant, and participants are few.
const FIND_EXCHANGES = `with matching as (
    select exchange.correlation_id as id, received_at as at
      from ${PARTICIPANTS_SQL} as participant join exchange on exchange.participant = participant.id and exchange.message_id = $1
    union all
    select exchange.correlation_id, received_at
      from ${PARTICIPANTS_SQL} as participant join exchange on exchange.participant = participant.id and exchange.transaction_id = $2
    union all
    select correlation_id, received_at from exchange where correlation_id = $3
    union all
    ${EXCHANGES_OF_DELIVERIES_SQL}
    union all
    select correlation_id, received_at from ${EXCHANGES_OF_SUBSCRIPTION_SQL} as subscribed join exchange using (correlation_id)
  )
  select id, min(at) as at from matching group by id order by at, id limit $4`

const FIND_CALLBACKS = `select participant.sender_id as participant, namespace as registry, message_id, callback, correlation_id,
    transaction_id, inbox_message.status, state, received_at
  from inbox_message join ${PARTICIPANTS_SQL} as participant on participant.id = inbox_message.participant
    left join ${REGISTRIES_SQL} as registry on registry.id = inbox_message.registry
  where message_id = $1 or correlation_id = $2 or transaction_id = $2
  order by received_at, message_id limit $3`

type ExchangeRow = Omit<TracedExchange, 'traced' | 'accepted' | 'answered' | 'items' | keyof ExchangeDeliveries> & {
  readonly accepted: boolean
} & TracedAnswerProgress

/**
 * Traces one exchange.
 * @param id a correlation_id, or the id of a delivery without an exchange
 * @param each the most items, and the most deliveries, that are read
 */
async function traceExchange({ pool }: Pick<Database, 'pool'>, id: string, each: number): Promise<TracedExchange> {
  const exchange = await pool.query<ExchangeRow>(READ_EXCHANGE, [id])
  const [row] = exchange.rows
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  const answered = await pool.query<AnsweredItemCounts>(COUNT_ITEMS, [id])
  const items = await pool.query<TracedItem>(
    `select reference_id, status, total, page_size from exchange_item where correlation_id = $1
      order by position limit $2`,
    [id, each],
  )
  const { accepted, encrypted, items: asked, state, started_at, finished_at, ...about } = row
  return {
    traced: 'exchange',
    ...about,
    accepted: accepted ? { encrypted, items: asked, state, started_at, finished_at } : null,
    answered: answered.rows,
    items: items.rows,
    ...(await findDeliveriesOfExchange({ pool }, id, each)),
  }
}

const READ_EXCHANGE = `select coalesce(exchange.correlation_id, accepted.correlation_id, sent.correlation_id)
      as correlation_id,
    participant.sender_id as participant, participant.status as participant_status, namespace as registry,
    coalesce(exchange.operation, accepted.operation, case when sent.mailbox is not null then 'notify' end) as operation,
    coalesce(exchange.message_id, accepted.message_id) as message_id,
    coalesce(exchange.transaction_id, accepted.transaction_id) as transaction_id,
    coalesce(exchange.received_at, accepted.received_at) as received_at,
    accepted.correlation_id is not null as accepted, accepted.encrypted, accepted.items, accepted.state,
    accepted.started_at, accepted.finished_at
  from (select $1::uuid as id) as asked
    left join exchange on exchange.correlation_id = asked.id
    left join accepted_exchange as accepted on accepted.correlation_id = asked.id
    left join ${DELIVERY_OF_EXCHANGE_SQL} as sent on true
    left join ${PARTICIPANTS_SQL} as participant
      on participant.id = coalesce(exchange.participant, accepted.participant, sent.participant)
    left join ${REGISTRIES_SQL} as registry on registry.id = coalesce(exchange.registry, accepted.registry, sent.registry)
  limit 1`

const COUNT_ITEMS = `select answered_at as at, count(*) filter (where status = 'succ') as succ,
    count(*) filter (where status = 'rjct') as rjct, coalesce(sum(total), 0)::float8 as records
  from exchange_item where correlation_id = $1 group by answered_at order by answered_at`
