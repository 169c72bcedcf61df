/**
 * Breakers of participants, which all nodes share. A breaker is open after several failures in a row; then one attempt
 * at a time is let through to see how the peer is (`recordAttempt` counts and closes).
 */
import type { Database } from './database.ts'

export interface Breaker {
  /** Failures in a row; while it is open, with each probe that failed. */
  readonly failures: number
  /** Null: it is closed. */
  readonly opened_at: Date | null
  /** Seconds until a probe may be made, 0 or less: now. Null while it is closed. */
  readonly probe_in: number | null
}

const CLOSED: Breaker = { failures: 0, opened_at: null, probe_in: null }

/** Of a participant, by `Participant.id`. */
export async function findBreaker({ pool }: Pick<Database, 'pool'>, participant: number): Promise<Breaker> {
  const { rows } = await pool.query<Breaker>({
    name: 'find breaker',
    text: `select failures, opened_at, extract(epoch from probe_at - now())::float8 as probe_in
      from breaker where participant = $1`,
    values: [participant],
  })
  return rows[0] ?? CLOSED
}

/**
 * Takes the right to make the probe of an open breaker: of all nodes one gets it, and when it is not heard of again,
 * another one after `seconds`.
 */
export async function takeProbe(
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  seconds: number,
): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'take probe',
    text: `update breaker set probe_at = now() + make_interval(secs => $2)
      where participant = $1 and opened_at is not null and probe_at <= now()`,
    values: [participant, seconds],
  })
  return rowCount === 1
}

/** Closes a breaker: an operator knows that the peer is there again. */
export async function closeBreaker({ pool }: Pick<Database, 'pool'>, participant: number): Promise<void> {
  await pool.query({
    name: 'close breaker',
    text: 'delete from breaker where participant = $1',
    values: [participant],
  })
}
