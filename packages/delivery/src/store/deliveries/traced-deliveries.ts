/** Reads deliveries with every attempt, for a trace. */
import type { Database } from '@rollcall/database/database'
import type { DeliveryState } from './delivery-choice.ts'
import { SHOWN_DUE_TIME_SQL } from './delivery-list.ts'

export interface TracedDelivery {
  readonly id: string
  readonly callback: string
  readonly page: number
  readonly message_id: string
  /** The address to which the delivery goes; null when none is known. */
  readonly target: string | null
  readonly encrypted: boolean
  readonly state: DeliveryState
  readonly reason: string | null
  /** The number of attempts at the delivery that were begun. */
  readonly attempts: number
  /** How many of `attempts` were begun before `since`; 0 when the delivery was never retried or replayed. */
  readonly earlier: number
  readonly next_attempt_at: Date | null
  /** The end of the claim of an attempt without a result, which may be past; null: there is no such attempt. */
  readonly claimed_until: Date | null
  readonly created_at: Date
  /** The time at which the delivery was last retried or replayed, from which its retry schedule counts; else `created_at`. */
  readonly since: Date
  readonly finished_at: Date | null
  /** The attempts that were made at the delivery and recorded, in the order of their numbers. */
  readonly made: readonly TracedAttempt[]
}

export interface TracedAttempt {
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
}

/** The breaker of a destination at which attempts have failed since the last success. It is open if `opened_at` is not null. */
export interface TracedBreaker {
  readonly failures: number
  readonly opened_at: Date | null
  readonly probe_at: Date | null
}

/** The deliveries of one exchange, and their number by state. */
export interface ExchangeDeliveries {
  readonly delivery_states: Readonly<Partial<Record<DeliveryState, number>>>
  /** The first deliveries of the exchange in the order of their pages, at most `each`. */
  readonly deliveries: readonly TracedDelivery[]
  /** The breaker of a pending delivery's destination, of several the one that opened first; null when none has failures. */
  readonly breaker: TracedBreaker | null
}

const IS_OF_EXCHANGE_SQL = '(correlation_id = $1 or (id = $1 and correlation_id is null))'

/** SQL for a `from` clause: one delivery of exchange `$1`, or the delivery with id `$1` that answers no exchange. */
export const DELIVERY_OF_EXCHANGE_SQL = `(select participant, registry, correlation_id, mailbox from delivery where ${IS_OF_EXCHANGE_SQL} limit 1)`

/** SQL of the exchanges (`id`, `at`) that have a delivery with message_id `$2` or correlation_id `$3`. */
export const EXCHANGES_OF_DELIVERIES_SQL = `select coalesce(correlation_id, id) as id, created_at as at from delivery where message_id = $2
    union all
    select correlation_id, created_at from delivery where correlation_id = $3`

/**
 * Reads the deliveries of an exchange.
 * @param id a correlation_id, or the id of a delivery that answers no exchange
 * @param each the most deliveries
 */
export async function findDeliveriesOfExchange(
  { pool }: Pick<Database, 'pool'>,
  id: string,
  each: number,
): Promise<ExchangeDeliveries> {
  const states = await pool.query<{ state: DeliveryState; deliveries: number }>(
    `select state, count(*) as deliveries from delivery where ${IS_OF_EXCHANGE_SQL} group by state order by state`,
    [id],
  )
  const deliveries = await traceDeliveries({ pool }, IS_OF_EXCHANGE_SQL, id, each)
  const breakers = await pool.query<TracedBreaker>(
    `select failures, opened_at, probe_at from delivery join breaker using (participant, origin)
      where ${IS_OF_EXCHANGE_SQL} and state = 'pending' order by opened_at limit 1`,
    [id],
  )
  return {
    delivery_states: Object.fromEntries(states.rows.map(({ state, deliveries }) => [state, deliveries])),
    deliveries,
    breaker: breakers.rows[0] ?? null,
  }
}

/** Reads deliveries with their attempts in the order of pages, at most `each`. @param condition SQL in which `$1` is `value` */
export async function traceDeliveries(
  { pool }: Pick<Database, 'pool'>,
  condition: string,
  value: unknown,
  each: number,
): Promise<readonly TracedDelivery[]> {
  const deliveries = await pool.query<Omit<TracedDelivery, 'made'>>(
    `select id, callback, page, message_id, target, encrypted, state, reason, attempts, earlier,
        ${SHOWN_DUE_TIME_SQL} as next_attempt_at, claimed_until, created_at, since, finished_at
      from delivery where ${condition} order by page, created_at, id limit $2`,
    [value, each],
  )
  const attempts = await pool.query<TracedAttempt & { delivery: string }>(
    `select delivery, number, at, duration_ms, status, error from delivery_attempt
      where delivery = any($1::uuid[]) order by delivery, number`,
    [deliveries.rows.map((delivery) => delivery.id)],
  )
  const made = Map.groupBy(attempts.rows, ({ delivery }) => delivery)
  return deliveries.rows.map((delivery) => ({
    ...delivery,
    made: (made.get(delivery.id) ?? []).map(({ delivery: _, ...attempt }) => attempt),
  }))
}
