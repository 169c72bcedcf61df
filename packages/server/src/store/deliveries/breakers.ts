/**
 * Circuit breakers of destinations, which all nodes share. A breaker is open after several failures in a row; then one
 * attempt at a time is let through to see how the peer is (`recordAttempt` counts and closes).
 */

import type { Destination } from '../../model/delivery.ts'
import type { Database } from '../db/database.ts'

export interface Breaker {
  /** Failures in a row; while it is open, with each probe that failed. */
  readonly failures: number
  /** Null: it is closed. */
  readonly opened_at: Date | null
  /** Seconds until a probe may be made, 0 or less: now. Null while it is closed. */
  readonly probe_in: number | null
}

const CLOSED: Breaker = { failures: 0, opened_at: null, probe_in: null }

export async function findBreaker(
  { pool }: Pick<Database, 'pool'>,
  { participant, origin }: Destination,
): Promise<Breaker> {
  const { rows } = await pool.query<Breaker>({
    name: 'find breaker',
    text: `select failures, opened_at, extract(epoch from probe_at - now())::float8 as probe_in
      from breaker where participant = $1 and origin = $2`,
    values: [participant, origin],
  })
  return rows[0] ?? CLOSED
}

/**
 * Takes the right to make the probes of open breakers: of all nodes one gets each, and when it is not heard of again,
 * another one after `seconds`.
 * @returns the origins whose probe may be made
 */
export async function takeProbes(
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

/** Seconds after its last failure for which a destination to which nothing is on its way is remembered. */
const IDLE = 600

/**
 * Forgets the breakers of destinations to which nothing is on its way: a participant may name any number of them.
 * @returns how many
 */
export async function forgetBreakers({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from breaker where failed_at < now() - make_interval(secs => $1) and not exists (
        select from delivery where delivery.participant = breaker.participant and delivery.origin = breaker.origin
          and state = 'pending')`,
    [IDLE],
  )
  return rowCount ?? 0
}
