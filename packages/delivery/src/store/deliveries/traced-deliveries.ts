/** Deliveries with every attempt, as they are traced. */
import type { Database } from '@rollcall/database/database'
import type { DeliveryState } from './delivery-choice.ts'
import { SHOWN_DUE_TIME } from './delivery-list.ts'

export interface TracedDelivery {
  readonly id: string
  readonly callback: string
  readonly page: number
  readonly message_id: string
  /** Null: there is no address. */
  readonly target: string | null
  readonly encrypted: boolean
  readonly state: DeliveryState
  readonly reason: string | null
  /** The number of attempts that were begun. */
  readonly attempts: number
  /** The number of attempts before `since`. */
  readonly earlier: number
  readonly next_attempt_at: Date | null
  /** An attempt is under way, and its claim ends at this time. */
  readonly claimed_until: Date | null
  readonly created_at: Date
  /**
   * The beginning of the present schedule. It is later than `created_at` when an operator had the delivery sent again.
   */
  readonly since: Date
  readonly finished_at: Date | null
  /** The attempts in the order of their numbers. */
  readonly made: readonly TracedAttempt[]
}

export interface TracedAttempt {
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
}

/** The breaker of a destination at which attempts fail. */
export interface TracedBreaker {
  readonly failures: number
  readonly opened_at: Date | null
  readonly probe_at: Date | null
}

/** The deliveries of one exchange. */
export interface ExchangeDeliveries {
  readonly delivery_states: Readonly<Partial<Record<DeliveryState, number>>>
  /** Some of the deliveries, by page. */
  readonly deliveries: readonly TracedDelivery[]
  /** The breaker of a waiting delivery's address, when attempts there fail. */
  readonly breaker: TracedBreaker | null
}

const OF_EXCHANGE = '(correlation_id = $1 or (id = $1 and correlation_id is null))'

/** SQL of a relation: a delivery of the exchange `$1`, which may be a delivery that answers none. */
export const DELIVERY_OF_EXCHANGE = `(select participant, registry, correlation_id, mailbox from delivery where ${OF_EXCHANGE} limit 1)`

/** SQL of the exchanges, as `id` and `at`, for which something was sent under the message_id `$2` or the correlation_id `$3`. */
export const FIND_SENT = `select coalesce(correlation_id, id) as id, created_at as at from delivery where message_id = $2
    union all
    select correlation_id, created_at from delivery where correlation_id = $3`

/**
 * @param id a correlation_id, or the id of a delivery that answers no exchange
 * @param each the most deliveries
 */
export async function deliveriesOfExchange(
  { pool }: Pick<Database, 'pool'>,
  id: string,
  each: number,
): Promise<ExchangeDeliveries> {
  const states = await pool.query<{ state: DeliveryState; deliveries: number }>(
    `select state, count(*) as deliveries from delivery where ${OF_EXCHANGE} group by state order by state`,
    [id],
  )
  const deliveries = await traceDeliveries({ pool }, OF_EXCHANGE, id, each)
  const breakers = await pool.query<TracedBreaker>(
    `select failures, opened_at, probe_at from delivery join breaker using (participant, origin)
      where ${OF_EXCHANGE} and state = 'pending' order by opened_at limit 1`,
    [id],
  )
  return {
    delivery_states: Object.fromEntries(states.rows.map(({ state, deliveries }) => [state, deliveries])),
    deliveries,
    breaker: breakers.rows[0] ?? null,
  }
}

/** Deliveries in the order of pages, at most `each`. @param condition SQL about `$1` */
export async function traceDeliveries(
  { pool }: Pick<Database, 'pool'>,
  condition: string,
  value: unknown,
  each: number,
): Promise<readonly TracedDelivery[]> {
  const deliveries = await pool.query<Omit<TracedDelivery, 'made'>>(
    `select id, callback, page, message_id, target, encrypted, state, reason, attempts, earlier,
        ${SHOWN_DUE_TIME} as next_attempt_at, claimed_until, created_at, since, finished_at
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
