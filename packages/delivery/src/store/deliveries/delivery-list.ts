/** Lists deliveries for an operator. */
import type { StoredEnvelope } from '@rollcall/core/model/delivery'
import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { namespaceSql } from '@rollcall/records/registries/registry-names'
import { type DeliveryFilter, type DeliveryState, makeDeliveryFilterSql, UUID_PATTERN } from './delivery-choice.ts'

export interface ListedDelivery {
  readonly id: string
  /** The sender_id of the participant. */
  readonly participant: string
  /** The namespace of the registry; null: the registry was removed. */
  readonly registry: string | null
  readonly callback: string
  readonly page: number
  readonly message_id: string
  readonly correlation_id: string | null
  readonly state: DeliveryState
  readonly attempts: number
  readonly target: string | null
  /** Why the delivery was given up, refused or dropped; `no_address` for a held one; null otherwise. */
  readonly reason: string | null
  /** The last error of a pending delivery; null: no attempt has failed yet, or the delivery is not pending. */
  readonly last_error: string | null
  readonly created_at: Date
  readonly next_attempt_at: Date | null
  readonly finished_at: Date | null
}

export interface ListedAttempt {
  readonly number: number
  readonly at: Date
  readonly duration_ms: number
  readonly status: number | null
  readonly error: string | null
  /** The beginning of the peer's answer, encrypted with the binding `deliveryAnswerBinding`; null: no answer, or no body. */
  readonly answer: Buffer | null
}

/**
 * SQL of the due time that operators and participants are shown. The stored due time of a retried delivery is not a real time
 * (`DUE_TIME_BEFORE_OTHERS_SQL`); the time of the retry is shown in its place. Null when nothing more is attempted.
 */
export const SHOWN_DUE_TIME_SQL = 'case when next_attempt_at is not null then greatest(next_attempt_at, since) end'

/** SQL of the last error of a delivery, apart from interrupted attempts. @param delivery SQL of its id */
export const lastErrorSql = (delivery: string): string =>
  `(select error from delivery_attempt where delivery_attempt.delivery = ${delivery} and error <> 'interrupted'
    order by number desc limit 1)`

const LISTED_DELIVERY_COLUMNS = `delivery.id, participant.sender_id as participant,
  ${namespaceSql('delivery.registry')} as registry, callback, page, message_id, correlation_id, state,
  attempts, target, coalesce(reason, case state when 'held' then 'no_address' end) as reason,
  case state when 'pending' then ${lastErrorSql('delivery.id')} end as last_error,
  delivery.created_at, ${SHOWN_DUE_TIME_SQL} as next_attempt_at, finished_at`

/** Lists at most `limit` deliveries, the newest first. */
export async function listDeliveries(
  { pool }: Pick<Database, 'pool'>,
  choice: DeliveryFilter,
  limit: number,
): Promise<readonly ListedDelivery[]> {
  const { text, values } = makeDeliveryFilterSql(choice)
  const { rows } = await pool.query<ListedDelivery>(
    `select ${LISTED_DELIVERY_COLUMNS} from delivery join ${PARTICIPANTS_SQL} as participant on participant.id = delivery.participant
      where ${text} order by delivery.created_at desc, delivery.id limit $${values.length + 1}`,
    [...values, limit],
  )
  return rows
}

/** Finds a delivery with its attempts and its encrypted body (`deliveryBodyBinding`); null when there is none. */
export async function findDelivery(
  { pool }: Pick<Database, 'pool'>,
  id: string,
): Promise<(ListedDelivery & { body: StoredEnvelope; made: readonly ListedAttempt[] }) | null> {
  if (!UUID_PATTERN.test(id)) return null
  const { rows } = await pool.query<ListedDelivery & { body: StoredEnvelope }>(
    `select ${LISTED_DELIVERY_COLUMNS}, body from delivery join ${PARTICIPANTS_SQL} as participant on participant.id = delivery.participant
      where delivery.id = $1`,
    [id],
  )
  const [found] = rows
  if (found === undefined) return null
  const attempts = await pool.query<ListedAttempt>(
    `select number, at, duration_ms, status, error, answer from delivery_attempt
      where delivery = $1 order by number`,
    [id],
  )
  return { ...found, made: attempts.rows }
}
