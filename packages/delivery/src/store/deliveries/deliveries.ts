/**
 * Stores outgoing envelopes and their attempts. A node claims a delivery that is due, attempts it without any lock, and
 * records the result.
 */

import type {
  ClaimedDelivery,
  DeliveryAttempt,
  DeliveryClaim,
  DeliveryUpdate,
  Destination,
  HealthVerdict,
} from '@rollcall/core/model/delivery'
import type { Database } from '@rollcall/database/database'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { participantsWithRowsSql } from '@rollcall/database/queue'
import { GRANT_STARTS_SQL } from '@rollcall/participants/store/grants'
import { protectionVersionSql } from '@rollcall/records/records/protection'
import type pg from 'pg'

/**
 * SQL condition on a row of `notification`: its newest envelope is a row of `delivery`.
 * @param delivery the name of a table or subquery with the columns `id` and `notifications`
 */
export const isNewestEnvelopeSql = (delivery: string): string =>
  `notification.id = any(${delivery}.notifications) and notification.delivery = ${delivery}.id`

/** SQL for `set` that lets a `notification` wait again, in its subscription's present mailbox. */
export const SET_NOTIFICATION_WAITING_SQL = `state = 'waiting', delivery = null,
  mailbox = (select subscription.mailbox from subscription where subscription.id = notification.subscription)`

/**
 * SQL that inserts deliveries. A delivery with a target is pending and due now; without one it is held. The node that makes a
 * delivery with a claim attempts it at once.
 * @param rows SQL for a `from` clause with the columns participant, registry and correlation_id, and a table `new` with a row for
 * each delivery: id, callback, message_id, target, encrypted, body, granted and protection (`NewDelivery.disclosedUnder`), claim,
 * and the seconds of the claim
 * @param page SQL of the page number
 * @param more SQL of the mailbox, of the envelope's number in the mailbox, and of the ids of its notifications
 */
export const insertDeliveriesSql = (rows: string, page: string, more = 'null::integer, null::bigint, null::bigint[]'): string =>
  `insert into delivery (id, participant, registry, correlation_id, callback, page, message_id, target, encrypted, body,
      granted, protection, mailbox, sequence, notifications, state, next_attempt_at, claim, claimed_until, attempts)
    select new.id, participant, registry, correlation_id, new.callback, ${page}, new.message_id, new.target,
      new.encrypted, new.body, new.granted, coalesce(new.protection, 0), ${more}, case when new.target is null then 'held' else 'pending' end,
      case when new.target is not null then now() end, case when new.target is not null then new.claim end,
      case when new.target is not null then now() + make_interval(secs => new.seconds) end,
      (new.target is not null and new.claim is not null)::int
    from ${rows}`

/** The accepted requests that deliveries answer. The package engine owns their table, and passes the SQL. */
export interface AcceptedRequestsSql {
  /** SQL for a `from` clause: the accepted requests with correlation_id, operation and sender_uri. */
  readonly requests: string
}

/** An origin, and the number of due deliveries to it that the caller wants to claim. */
export interface DeliveryCountToClaim {
  readonly origin: string
  readonly count: number
}

/**
 * Claims due deliveries, for each origin those with the earliest due time. Simultaneous callers get different deliveries. An
 * attempt that was begun under an older claim and has no result is recorded as interrupted.
 */
export async function claimDueDeliveries(
  { db: { pool }, requests }: AcceptedRequestsSql & { readonly db: Pick<Database, 'pool'> },
  participant: number,
  claim: DeliveryClaim,
  wanted: readonly DeliveryCountToClaim[],
): Promise<readonly ClaimedDelivery[]> {
  const { rows } = await pool.query<ClaimedDelivery & { forgotten: boolean }>({
    name: 'claim deliveries',
    text: `with due as (
        select first.id, first.claim, first.attempts
        from unnest($4::text[], $5::integer[]) as wanted (origin, count) cross join lateral (
          select id, claim, attempts from delivery
          where participant = $1 and origin = wanted.origin collate "C" and state = 'pending'
            and next_attempt_at <= now() and (claimed_until is null or claimed_until <= now())
          order by next_attempt_at limit wanted.count for update skip locked
        ) as first
      ),
      lost as (
        insert into delivery_attempt (delivery, number, at, duration_ms, error)
        select id, attempts, now(), 0, 'interrupted' from due where claim is not null on conflict do nothing
      ),
      taken as (
        update delivery set claim = $2, claimed_until = now() + make_interval(secs => $3),
          attempts = delivery.attempts + 1
        from due where delivery.id = due.id returning delivery.*
      )
      select taken.id, taken.participant, taken.registry, taken.correlation_id, taken.callback, taken.page,
        taken.message_id, taken.target, taken.origin, taken.encrypted, taken.body, taken.attempts as number, taken.earlier,
        taken.mailbox, asked.operation, coalesce(asked.sender_uri, nullif(mailbox.sender_uri, '')) as sender_uri,
        asked.correlation_id is null and taken.correlation_id is not null as forgotten
      from taken left join ${requests} as asked on asked.correlation_id = taken.correlation_id
        left join mailbox on mailbox.id = taken.mailbox
      order by taken.next_attempt_at`,
    values: [
      ...[participant, claim.id, claim.seconds],
      ...[wanted.map(({ origin }) => origin), wanted.map(({ count }) => count)],
    ],
  })
  return rows.map(({ forgotten, ...row }) => (forgotten ? { ...row, sender_uri: undefined } : row))
}

/**
 * Records an attempt, and the new state of its delivery. A delivery that was dropped or claimed anew since keeps its state. The
 * same statement counts a failure in the destination's breaker, or closes the breaker when the peer is up. Successes are
 * frequent, so `recordSuccess` records several in one statement.
 * @param more.target the address that was called, which becomes the delivery's address; null: the address stays as it is
 * @returns true when the delivery still had the claim
 */
export async function recordAttempt(
  { pool }: Pick<Database, 'pool'>,
  attempt: DeliveryAttempt,
  update: DeliveryUpdate,
  health: HealthVerdict,
  more: { readonly claim: string; readonly target: string | null },
): Promise<boolean> {
  if (update.state === 'delivered' && health.peer === 'up') {
    const { participant, origin } = health
    return recordSuccess(pool, { ...attempt, participant, origin, claim: more.claim, target: more.target })
  }
  const { rows } = await pool.query<{ counted: boolean }>({
    name: 'record attempt',
    text: RECORD_ATTEMPT_SQL,
    values: [
      ...[attempt.delivery, attempt.number, attempt.at, attempt.duration_ms],
      ...[attempt.status, attempt.error, attempt.answer],
      ...[update.state, update.wait, update.reason],
      ...[health.participant, health.peer, health.probe, health.longest_pause],
      ...[more.claim, more.target, FAILURES_TO_OPEN_BREAKER, FIRST_PROBE_PAUSE_SECONDS],
      health.origin,
    ],
  })
  return rows[0]?.counted === true
}

/**
 * Records that a claimed delivery was not attempted: the attempt is not counted. `claimed_until` stays, so nobody claims the
 * delivery before that time.
 */
export async function releaseUnattemptedDelivery(
  { pool }: Pick<Database, 'pool'>,
  { id }: Pick<ClaimedDelivery, 'id'>,
  claim: Pick<DeliveryClaim, 'id'>,
): Promise<void> {
  await pool.query({
    name: 'record unattempted',
    text: `update delivery set claim = null, attempts = attempts - 1 where id = $1 and claim = $2 and state = 'pending'`,
    values: [id, claim.id],
  })
}

/** The failures in a row that open a breaker. */
const FAILURES_TO_OPEN_BREAKER = 5
/** Seconds until the first probe of an open breaker. Each failed probe doubles the pause, up to `HealthVerdict.longest_pause`. */
const FIRST_PROBE_PAUSE_SECONDS = 10

const RECORD_ATTEMPT_SQL = `with ended as (
    update delivery set state = $8, next_attempt_at = now() + make_interval(secs => $9), reason = $10,
      claim = null, claimed_until = null, target = coalesce($16, target),
      finished_at = case when $8 = 'pending' then null else now() end
    where id = $1 and claim = $15 and state = 'pending'
    returning id
  ),
  noted as (
    insert into delivery_attempt as known (delivery, number, at, duration_ms, status, error, answer)
    select id, $2, $3, $4, $5, $6, $7 from delivery where id = $1
    on conflict (delivery, number) do update
      set (at, duration_ms, status, error, answer) =
        (excluded.at, excluded.duration_ms, excluded.status, excluded.error, excluded.answer)
      where known.error = 'interrupted'
  ),
  up as (delete from breaker where participant = $11 and origin = $19 and $12 = 'up'),
  down as (
    insert into breaker as known (participant, origin, failures) select $11, $19, 1 where $12 = 'down'
    on conflict (participant, origin) do update set failed_at = now(), (failures, opened_at, probe_at) = (
      select counted.failures,
        case when counted.failures >= $17 then coalesce(known.opened_at, now()) end,
        case when counted.failures >= $17 then case when known.opened_at is not null and not $13 then known.probe_at
          else now() + make_interval(secs =>
            least($14::float8, $18::float8 * power(2, least(counted.failures - $17, 20)))) end end
      from (select known.failures + (known.opened_at is null or $13)::int as failures) as counted)
  )
  select exists (select 1 from ended) as counted`

/** Whether the grant or the protected persons have changed since a delivery was made. */
export interface GrantAndProtectionChanges {
  /** True when another grant is in force than when the delivery was made. */
  readonly grant: boolean
  /** True when the protected persons of the registry have changed since the delivery was made. */
  readonly protection: boolean
}

/**
 * Finds out what has changed since a delivery was made. If no grant is stored with the delivery, the time at which it was made is
 * compared with the start of the present grant. A delivery that was made less than two seconds after this start counts as older
 * than the grant, because a node may have used the former grant for a moment.
 * @param grant `Grant.id` of the present grant
 */
export async function readGrantAndProtectionChanges(
  pool: Pick<pg.Pool, 'query'>,
  delivery: string,
  grant: number,
): Promise<GrantAndProtectionChanges> {
  const { rows } = await pool.query<GrantAndProtectionChanges>({
    name: 'what has changed since a delivery was made',
    text: `select delivery.protection <> ${protectionVersionSql('granted.registry')} as protection, coalesce(delivery.granted <> granted.id,
        delivery.created_at < granted.starts + interval '2 seconds') as "grant"
      from delivery, ${GRANT_STARTS_SQL} as granted
      where delivery.id = $1 and granted.id = $2`,
    values: [delivery, grant],
  })
  // A delivery or a grant that is not stored any more counts as changed, so that the caller checks again what it sends.
  return rows[0] ?? { grant: true, protection: true }
}

/** SQL for `secondsUntilDue`: a row with 0 when a delivery is pending. The dispatcher finds out when the delivery is due. */
export const DELIVERIES_DUE_SQL = `select 0 where exists (select from delivery where state = 'pending')`

/** Lists the participants that have pending deliveries, due now or later. */
export async function findWaitingParticipants({ pool }: Pick<Database, 'pool'>): Promise<readonly number[]> {
  const { rows } = await pool.query<{ participant: number }>({
    name: 'participants with deliveries',
    text: `with recursive ${participantsWithRowsSql('delivery', "state = 'pending'")}
      select participant from waiting`,
  })
  return rows.map(({ participant }) => participant)
}

/**
 * Gives up deliveries to a destination that cannot be reached, when they have waited longer than their schedule. Leaves those
 * that are being attempted, and envelopes of notifications, whose mailbox is closed later.
 * @param seconds the length of the whole schedule
 * @returns how many
 */
export async function expireDeliveries(
  { pool }: Pick<Database, 'pool'>,
  { participant, origin }: Destination,
  seconds: number,
): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'expire deliveries',
    text: `update delivery set state = 'dead', reason = 'expired', next_attempt_at = null, finished_at = now(),
        claim = null, claimed_until = null
      where participant = $1 and origin = $3 and state = 'pending' and since < now() - make_interval(secs => $2) and mailbox is null
        and (claimed_until is null or claimed_until <= now())`,
    values: [participant, seconds, origin],
  })
  return rowCount ?? 0
}

/** A successful attempt: its destination, the claim of its delivery, and the called address. */
export interface SuccessfulAttempt extends DeliveryAttempt, Destination {
  readonly claim: string
  /** The address that was called; null leaves the stored address of the delivery as it is. */
  readonly target: string | null
}

/** Records a successful attempt, together with others in one statement. Returns true when the delivery still had the claim. */
export const recordSuccess = (pool: pg.Pool, delivered: SuccessfulAttempt): Promise<boolean> =>
  successfulAttemptWriteBatcher(pool).submit(delivered)

/** Collects successful attempts for one statement. The group needs no limit, because attempts in progress are limited. */
const successfulAttemptWriteBatcher = oncePerPool((pool) =>
  createGroupCommit<SuccessfulAttempt, boolean>((entries) => writeSuccesses(pool, entries), { waiting: Infinity }),
)

async function writeSuccesses(pool: pg.Pool, entries: readonly SuccessfulAttempt[]): Promise<readonly boolean[]> {
  const { rows } = await pool.query<{ claim: string; id: string }>({
    name: 'record delivered',
    text: RECORD_SUCCESSES_SQL,
    values: SUCCESSFUL_ATTEMPT_COLUMNS.map((column) => entries.map((entry) => entry[column])),
  })
  const counted = new Set(rows.map(({ id, claim }) => `${id} ${claim}`))
  return entries.map(({ delivery, claim }) => counted.has(`${delivery} ${claim}`))
}

const SUCCESSFUL_ATTEMPT_COLUMNS = [
  ...['delivery', 'number', 'at', 'duration_ms', 'status', 'error', 'answer'],
  ...['participant', 'claim', 'target', 'origin'],
] as (keyof SuccessfulAttempt)[]

const RECORD_SUCCESSES_SQL = `with said as (
    select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::integer[], $6::text[],
      $7::bytea[], $8::integer[], $9::uuid[], $10::text[], $11::text[])
      as said (delivery, number, at, duration_ms, status, error, answer, participant, claim, target, origin)
  ),
  ended as (
    update delivery set state = 'delivered', next_attempt_at = null, reason = null, claim = null,
      claimed_until = null, target = coalesce(said.target, delivery.target), finished_at = now()
    from said where delivery.id = said.delivery and delivery.claim = said.claim and delivery.state = 'pending'
    returning delivery.id, said.claim
  ),
  noted as (
    insert into delivery_attempt as known (delivery, number, at, duration_ms, status, error, answer)
    select said.delivery, said.number, said.at, said.duration_ms, said.status, said.error, said.answer
    from said join delivery on delivery.id = said.delivery
    on conflict (delivery, number) do update
      set (at, duration_ms, status, error, answer) =
        (excluded.at, excluded.duration_ms, excluded.status, excluded.error, excluded.answer)
      where known.error = 'interrupted'
  ),
  up as (
    delete from breaker using said
    where breaker.participant = said.participant and breaker.origin = said.origin collate "C"
  )
  select id, claim from ended`
