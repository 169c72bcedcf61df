/** What our own records show of the system of a participant in a registry, and the reports of checks made of it. */
import type { CheckStep } from '@rollcall/core/model/check'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'

interface Of {
  readonly participant: Pick<Participant, 'id'>
  readonly registry: Pick<Registry, 'id'>
  /** What was seen before does not count. */
  readonly since: Date
}

/** When something was seen last; null: not yet. */
export interface Evidence {
  /** A request was accepted, for which an access token is needed. */
  readonly asked_at: Date | null
  /** A synchronous search whose signature was verified had an answer. */
  readonly searched_at: Date | null
  /** A callback with the answer to an asynchronous search was acknowledged. */
  readonly delivered_at: Date | null
  /** Such a callback was acknowledged after it had been sent again under its message_id. */
  readonly retried_at: Date | null
  readonly subscribed_at: Date | null
  /** A test notification was acknowledged. */
  readonly notified_at: Date | null
  readonly unsubscribed_at: Date | null
  /** The id of a delivery that was acknowledged at the first attempt; null: one was sent again already. */
  readonly delivery: string | null
  /** The code of a live subscription. */
  readonly subscription: string | null
  /** Whether a test notification waits for it, or is on its way. */
  readonly testing: boolean
}

const OWN = 'participant = $1 and registry = $2'

const SEEN = `select
  (select max(received_at) from exchange where ${OWN} and received_at >= $3) as asked_at,
  (select max(exchange.received_at) from exchange
    join account on account.message_id = exchange.message_id
    cross join lateral (select account.entry::jsonb as entry) as read
    where ${OWN} and operation = 'search' and exchange.received_at >= $3
      and read.entry ->> 'kind' = 'answer' and read.entry ->> 'correlation_id' = exchange.correlation_id::text
      and read.entry -> 'request' ->> 'signature' is not null and read.entry -> 'outcomes' ? 'succ') as searched_at,
  (select max(finished_at) from delivery where ${OWN} and callback = 'on-search' and state = 'delivered'
    and created_at >= $3) as delivered_at,
  (select max(finished_at) from delivery where ${OWN} and callback = 'on-search' and state = 'delivered'
    and created_at >= $3 and attempts > 1) as retried_at,
  (select max(created_at) from subscription where ${OWN} and created_at >= $3) as subscribed_at,
  (select max(delivery.finished_at) from subscription
    join notification on notification.subscription = subscription.id
    join delivery on delivery.id = notification.delivery
    where subscription.participant = $1 and subscription.registry = $2 and notification.purpose = 'test'
      and delivery.state = 'delivered' and delivery.created_at >= $3) as notified_at,
  (select max(ended_at) from subscription where ${OWN} and ended_by is not null and ended_at >= $3) as unsubscribed_at,
  (select id from delivery where ${OWN} and callback = 'on-search' and state = 'delivered' and created_at >= $3
    and attempts = 1 and not exists (select from delivery where ${OWN} and callback = 'on-search'
      and created_at >= $3 and (earlier > 0 or attempts > 1))
    order by created_at desc limit 1) as delivery,
  (select code from subscription where ${OWN} and state = 'live' and created_at >= $3
    order by created_at desc limit 1) as subscription,
  exists (select from subscription
    join notification on notification.subscription = subscription.id
    left join delivery on delivery.id = notification.delivery
    where subscription.participant = $1 and subscription.registry = $2 and notification.purpose = 'test'
      and (notification.state = 'waiting' or delivery.state = 'pending')) as testing`

export async function findEvidence(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, since }: Of,
): Promise<Evidence> {
  const { rows } = await pool.query<Evidence>(SEEN, [participant.id, registry.id, since])
  const [row] = rows
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  return row
}

/** A report. */
export interface ParticipantCheck {
  readonly namespace: string
  readonly since: Date
  readonly checked_at: Date
  /** Of this software. */
  readonly version: string
  readonly passed: boolean
  readonly steps: readonly CheckStep[]
}

/** Stores the report of a check, in place of that of the same check at an earlier time. */
export async function saveCheck(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, since }: Of,
  { checked_at, version, passed, steps }: Omit<ParticipantCheck, 'namespace' | 'since'>,
): Promise<void> {
  await pool.query(
    `insert into participant_check (participant, registry, since, checked_at, version, passed, steps)
      values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (participant, registry, since) do update set
        checked_at = excluded.checked_at, version = excluded.version, passed = excluded.passed, steps = excluded.steps`,
    [participant.id, registry.id, since, checked_at, version, passed, JSON.stringify(steps)],
  )
}

/** The newest first. */
export async function listChecks(
  { pool }: Pick<Database, 'pool'>,
  { id }: Pick<Participant, 'id'>,
  limit: number,
): Promise<readonly ParticipantCheck[]> {
  const { rows } = await pool.query<ParticipantCheck>(
    `select namespace, since, checked_at, version, passed, steps
      from participant_check join registry on registry.id = participant_check.registry
      where participant = $1 order by checked_at desc, participant_check.id desc limit $2`,
    [id, limit],
  )
  return rows
}
