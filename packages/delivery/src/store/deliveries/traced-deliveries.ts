/** Deliveries with every attempt, as they are traced. */
import type { Database } from '@rollcall/database/database'
import type { DeliveryState } from './delivery-choice.ts'
import { DUE } from './delivery-list.ts'

export interface TracedDelivery {
  readonly id: string
  readonly callback: string
  readonly page: number
  readonly message_id: string
  /** Null: there is nowhere to send it to. */
  readonly target: string | null
  readonly encrypted: boolean
  readonly state: DeliveryState
  readonly reason: string | null
  /** That were begun. */
  readonly attempts: number
  /** Of them, those before `since`. */
  readonly earlier: number
  readonly next_attempt_at: Date | null
  /** Somebody is attempting it until then. */
  readonly claimed_until: Date | null
  readonly created_at: Date
  /** Later than `created_at`: an operator asked for it again. */
  readonly since: Date
  readonly finished_at: Date | null
  /** By their numbers. */
  readonly made: readonly TracedAttempt[]
}

export interface TracedAttempt {
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
}

/**
 * By page, at most `each`.
 * @param condition SQL about `$1`
 */
export async function traceDeliveries(
  { pool }: Pick<Database, 'pool'>,
  condition: string,
  value: unknown,
  each: number,
): Promise<readonly TracedDelivery[]> {
  const deliveries = await pool.query<Omit<TracedDelivery, 'made'>>(
    `select id, callback, page, message_id, target, encrypted, state, reason, attempts, earlier,
        ${DUE} as next_attempt_at, claimed_until, created_at, since, finished_at
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
