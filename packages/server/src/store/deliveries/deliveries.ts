/**
 * Outgoing envelopes and their attempts. A delivery is claimed, attempted without any lock, and its end recorded;
 * what nobody has claimed is taken by its participant's `drain` job, which the same statement makes sure of.
 */

import type { Attempt, Claim, ClaimedDelivery, Destination, Ended, Health } from '../../model/delivery.ts'
import type { Database } from '../db/database.ts'
import { recordDelivered } from './delivered.ts'

/** How many of the deliveries for an origin are wanted. */
export interface Wanted {
  readonly origin: string
  readonly count: number
}

/**
 * Takes deliveries that are due, of each origin the longest waiting first; of several callers each gets others. An
 * attempt that was begun under an older claim and never recorded is noted as interrupted.
 */
export async function claimDue(
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  claim: Claim,
  wanted: readonly Wanted[],
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
        asked.sender_uri, asked.correlation_id is null and taken.correlation_id is not null as forgotten
      from taken left join accepted_exchange as asked on asked.correlation_id = taken.correlation_id
      order by taken.next_attempt_at`,
    values: [
      ...[participant, claim.id, claim.seconds],
      ...[wanted.map(({ origin }) => origin), wanted.map(({ count }) => count)],
    ],
  })
  return rows.map(({ forgotten, ...row }) => (forgotten ? { ...row, sender_uri: undefined } : row))
}

/**
 * Keeps an attempt, and its end where the claim still counts: what was dropped or taken over meanwhile stays as it
 * is. What goes wrong counts towards the destination's breaker in the same statement, and a success closes it.
 * Successes are many, and are written together (`delivered.ts`).
 * @param more.target the address that was called
 * @param more.drain whether the participant's `drain` job is to be made sure of
 * @returns whether the claim counted
 */
export async function recordAttempt(
  { pool }: Pick<Database, 'pool'>,
  attempt: Attempt,
  ended: Ended,
  health: Health,
  more: { readonly claim: string; readonly target: string | null; readonly drain: boolean },
): Promise<boolean> {
  if (ended.state === 'delivered' && health.peer === 'up') {
    const { participant, origin } = health
    return recordDelivered(pool, { ...attempt, participant, origin, claim: more.claim, target: more.target })
  }
  const { rows } = await pool.query<{ counted: boolean }>({
    name: 'record attempt',
    text: RECORD_ATTEMPT,
    values: [
      ...[attempt.delivery, attempt.number, attempt.at, attempt.duration_ms],
      ...[attempt.status, attempt.error, attempt.answer],
      ...[ended.state, ended.wait, ended.reason],
      ...[health.participant, health.peer, health.probe, health.longest_pause],
      ...[more.claim, more.target, more.drain, FAILURES_TO_OPEN, FIRST_PAUSE],
      health.origin,
    ],
  })
  return rows[0]?.counted === true
}

/** Failures in a row that open a breaker. */
const FAILURES_TO_OPEN = 5
/** Seconds that an open breaker pauses at first; twice as long after each probe that fails. */
const FIRST_PAUSE = 10

const RECORD_ATTEMPT = `with ended as (
    update delivery set state = $8, next_attempt_at = now() + make_interval(secs => $9), reason = $10,
      claim = null, claimed_until = null, target = coalesce($16, target),
      finished_at = case when $8 = 'pending' then null else now() end
    where id = $1 and claim = $15 and state = 'pending'
    returning participant, next_attempt_at
  ),
  noted as (
    insert into delivery_attempt as known (delivery, number, at, duration_ms, status, error, answer)
    select id, $2, $3, $4, $5, $6, $7 from delivery where id = $1
    on conflict (delivery, number) do update
      set (at, duration_ms, status, error, answer) =
        (excluded.at, excluded.duration_ms, excluded.status, excluded.error, excluded.answer)
      where known.error = 'interrupted'
  ),
  up as (delete from breaker where participant = $11 and origin = $20 and $12 = 'up'),
  down as (
    insert into breaker as known (participant, origin, failures) select $11, $20, 1 where $12 = 'down'
    on conflict (participant, origin) do update set failed_at = now(), (failures, opened_at, probe_at) = (
      select counted.failures,
        case when counted.failures >= $18 then coalesce(known.opened_at, now()) end,
        case when counted.failures >= $18 then case when known.opened_at is not null and not $13 then known.probe_at
          else now() + make_interval(secs =>
            least($14::float8, $19::float8 * power(2, least(counted.failures - $18, 20)))) end end
      from (select known.failures + (known.opened_at is null or $13)::int as failures) as counted)
  ),
  drained as (
    select drain_deliveries(participant, next_attempt_at) from ended where $17 and next_attempt_at is not null
  )
  select exists (select from ended) as counted, (select count(*) from drained) as jobs`

/**
 * Makes sure that a participant's `drain` job runs this many seconds from now, or before.
 * @param options.ending said by the running job itself as its last word: then nothing before that is needed
 */
export async function ensureDrain(
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  seconds = 0,
  { ending = false }: { readonly ending?: boolean } = {},
): Promise<void> {
  await pool.query({
    name: 'ensure drain',
    text: 'select drain_deliveries($1, now() + make_interval(secs => $2), $3)',
    values: [participant, seconds, ending],
  })
}

/**
 * Gives up what has waited longer than its schedule lasts while its destination could not be reached; what is being
 * attempted is left alone.
 * @param seconds of the whole schedule
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
      where participant = $1 and origin = $3 and state = 'pending' and since < now() - make_interval(secs => $2)
        and (claimed_until is null or claimed_until <= now())`,
    values: [participant, seconds, origin],
  })
  return rowCount ?? 0
}
