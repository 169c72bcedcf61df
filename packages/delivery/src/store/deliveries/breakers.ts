/**
 * Stores the circuit breakers of destinations, which all nodes share. A breaker is open after several failures in a row. Then one
 * attempt at a time, a probe, finds out whether the peer is back. See `recordAttempt`.
 */

import type { Destination } from '@rollcall/core/model/delivery'
import type { DeliveryHealth } from '@rollcall/core/model/health'
import type { Database } from '@rollcall/database/database'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'

/** The state of the circuit breaker of one destination. */
export interface Breaker {
  /** The number of failed attempts in a row at the destination; while the breaker is open, only failed probes count. */
  readonly failures: number
  /** The time at which the breaker opened; null when it is closed. */
  readonly opened_at: Date | null
  /** The seconds until a probe may be made; 0 or less: now; null: the breaker is closed. */
  readonly probe_in: number | null
}

const CLOSED_BREAKER: Breaker = { failures: 0, opened_at: null, probe_in: null }

/** Finds the breaker of a destination. Simultaneous calls share one statement. */
export const findBreaker = ({ pool }: Pick<Database, 'pool'>, { participant, origin }: Destination): Promise<Breaker> =>
  breakerReadBatcher(pool).submit({ participant, origin })

/** Returns the batcher of a pool: it reads the breakers of calls that wait at the same time with one statement. */
const breakerReadBatcher = oncePerPool((pool) =>
  createGroupCommit<Destination, Breaker>(
    async (destinations) => {
      const { rows } = await pool.query<Breaker & { readonly nth: number }>({
        name: 'find breakers',
        text: `select nth::integer, failures, opened_at, extract(epoch from probe_at - now())::float8 as probe_in
          from unnest($1::integer[], $2::text[]) with ordinality as wanted (participant, origin, nth)
            join breaker on breaker.participant = wanted.participant and breaker.origin = wanted.origin collate "C"`,
        values: [destinations.map(({ participant }) => participant), destinations.map(({ origin }) => origin)],
      })
      const found = new Map(rows.map(({ nth, ...breaker }) => [nth, breaker]))
      return destinations.map((_, at) => found.get(at + 1) ?? CLOSED_BREAKER)
    },
    { waiting: Infinity },
  ),
)

/**
 * Claims the probes of open breakers. Only one node gets each. If that node records no result, another one may claim
 * the probe after `seconds`.
 * @returns the origins whose probe may be made
 */
export async function claimBreakerProbes(
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  origins: readonly string[],
  seconds: number,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ origin: string }>({
    name: 'take probes',
    text: `update breaker set probe_at = now() + make_interval(secs => $3)
      where participant = $1 and origin = any($2::text[]) and opened_at is not null and probe_at <= now()
      returning origin`,
    values: [participant, origins, seconds],
  })
  return rows.map(({ origin }) => origin)
}

/** Seconds for which a breaker is kept after the last failure, when no delivery to its destination is pending. */
const IDLE_BREAKER_SECONDS = 600

/**
 * Deletes old breakers of destinations without pending deliveries: a participant may name any number of destinations.
 * @returns how many
 */
export async function deleteIdleBreakers({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from breaker where failed_at < now() - make_interval(secs => $1) and not exists (
        select 1 from delivery where delivery.participant = breaker.participant and delivery.origin = breaker.origin
          and state = 'pending')`,
    [IDLE_BREAKER_SECONDS],
  )
  return rowCount ?? 0
}

/** The most participants in the result of `readDeliveryHealth`: those with the most waiting deliveries. */
const MOST_PARTICIPANTS_REPORTED = 1_000

/**
 * The health of participants that have pending deliveries, deliveries given up in the last day, a breaker with failures, waiting
 * notifications, or a closed mailbox; at most `MOST_PARTICIPANTS_REPORTED` participants.
 */
export async function readDeliveryHealth({ pool }: Pick<Database, 'pool'>): Promise<readonly DeliveryHealth[]> {
  const { rows } = await pool.query<DeliveryHealth>({
    name: 'delivery health',
    text: `with waiting as (
        select participant, count(*) as pending, extract(epoch from now() - min(created_at))::float8 as oldest
        from delivery where state = 'pending' group by participant
      ),
      lost as (
        select participant, count(*) as dead from delivery
        where state = 'dead' and finished_at > now() - interval '1 day' group by participant
      ),
      failing as (
        select participant, count(opened_at) as opened,
          bool_or(opened_at is not null and probe_at > now()) as paused
        from breaker group by participant
      ),
      filled as (
        select mailbox, count(*) as notifications from notification where state = 'waiting' group by mailbox
      ),
      notified as (
        select participant, coalesce(sum(notifications), 0)::float8 as notifications_waiting,
          count(*) filter (where state = 'closed') as mailboxes_closed
        from mailbox left join filled on filled.mailbox = mailbox.id
        where state = 'closed' or filled.mailbox is not null group by participant
      )
      select sender_id, coalesce(pending, 0) as pending, coalesce(oldest, 0) as oldest, coalesce(dead, 0) as dead,
        coalesce(opened, 0) as breakers_open, coalesce(notifications_waiting, 0) as notifications_waiting,
        coalesce(mailboxes_closed, 0) as mailboxes_closed,
        case when coalesce(opened, 0) = 0 then 'closed' when paused then 'open' else 'probing' end as breaker
      from ${PARTICIPANTS_SQL} as participant
      left join waiting on waiting.participant = participant.id
      left join lost on lost.participant = participant.id
      left join failing on failing.participant = participant.id
      left join notified on notified.participant = participant.id
      where coalesce(waiting.participant, lost.participant, failing.participant, notified.participant) is not null
      order by pending desc, sender_id limit ${MOST_PARTICIPANTS_REPORTED}`,
  })
  return rows
}
