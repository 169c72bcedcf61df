/**
 * Finds the destinations of a participant's pending deliveries. Each origin is found by one step in an index, so thousands of
 * deliveries to an origin cost little more than one.
 */
import type { Database } from '@rollcall/database/database'

/** An origin to which a delivery of the participant is pending. */
export interface WaitingDestination {
  readonly origin: string
  /** The seconds until one of its deliveries may be attempted; 0: now. An open breaker allows none before its probe. */
  readonly wait: number
  /** True when the circuit breaker of the destination is open. */
  readonly open: boolean
}

/**
 * Lists destinations in the order of their origins, from `from` on.
 * @param limit the most destinations; if there are as many, there may be more
 */
export async function findDestinations(
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  from: string,
  limit: number,
): Promise<readonly WaitingDestination[]> {
  const { rows } = await pool.query<WaitingDestination>({
    name: 'find destinations',
    text: FIND_DESTINATIONS,
    values: [participant, from, limit],
  })
  return rows
}

/** The most deliveries of a destination that are read to find the earliest end of a claim. */
const MOST_CLAIMS_READ = 128

const FIND_DESTINATIONS = `with recursive step (origin, number) as (
    (select origin, 1 from delivery where participant = $1 and state = 'pending' and origin >= $2
      order by origin limit 1)
    union all
    select following.origin, number + 1 from step cross join lateral (
      select origin from delivery where participant = $1 and state = 'pending' and origin > step.origin
      order by origin limit 1) as following
    where number < $3
  )
  select step.origin, opened_at is not null as open, greatest(0, extract(epoch from greatest(
      least(free.next_attempt_at, under_way.claimed_until), case when opened_at is not null then probe_at end
    ) - now()))::float8 as wait
  from step
    left join breaker on breaker.participant = $1 and breaker.origin = step.origin
    left join lateral (
      select next_attempt_at from delivery
      where participant = $1 and origin = step.origin and state = 'pending'
        and (claimed_until is null or claimed_until <= now())
      order by next_attempt_at limit 1
    ) as free on true
    left join lateral (
      select min(claimed_until) as claimed_until from (
        select claimed_until from delivery where participant = $1 and origin = step.origin and state = 'pending'
        order by next_attempt_at limit ${MOST_CLAIMS_READ}
      ) as first where claimed_until > now()
    ) as under_way on true
  order by number`

/** The most destinations of a participant that are read to find its next due time. */
const MOST_DUE_DESTINATIONS = 1_000
/** The longest result when `MOST_DUE_DESTINATIONS` destinations were read: a destination that was not read may be due earlier. */
const MOST_PARTIAL_READ_WAIT_SECONDS = 5

/** The seconds until a delivery of a participant may be attempted; 0: now; null: none is pending. */
export async function secondsUntilDelivery(db: Pick<Database, 'pool'>, participant: number): Promise<number | null> {
  const found = await findDestinations(db, participant, '', MOST_DUE_DESTINATIONS)
  if (found.length === 0) return null
  const behind = found.length < MOST_DUE_DESTINATIONS ? Infinity : MOST_PARTIAL_READ_WAIT_SECONDS
  return found.reduce((least, { wait }) => Math.min(least, wait), behind)
}
