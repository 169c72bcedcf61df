/**
 * Where the pending deliveries of a participant go: each origin is found by a step in the index, however many
 * deliveries wait for it, so that a look at thousands of them costs as much as a look at one.
 */
import type { Database } from '@rollcall/database/database'

/** An origin to which something is on its way. */
export interface WaitingDestination {
  readonly origin: string
  /** Seconds until one of its deliveries may be attempted, 0: now. While its breaker is open: its probe. */
  readonly wait: number
  /** The breaker of the destination is open. */
  readonly open: boolean
}

/**
 * Destinations in the order of their origins, beginning with the first that is `from` or after it.
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

/** Attempts at one destination at a time among which an ended claim is looked up. */
const UNDER_WAY = 128

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
        order by next_attempt_at limit ${UNDER_WAY}
      ) as first where claimed_until > now()
    ) as under_way on true
  order by number`

/** Destinations that are read for the next due time; those behind them are read soon after. */
const LOOKED_AT = 1_000
/** Seconds until the destinations beyond those are read. */
const BEFORE_LONG = 5

/** Seconds until a delivery of a participant may be attempted, 0 when one may; null when none is pending. */
export async function nextDue(db: Pick<Database, 'pool'>, participant: number): Promise<number | null> {
  const found = await findDestinations(db, participant, '', LOOKED_AT)
  if (found.length === 0) return null
  const behind = found.length < LOOKED_AT ? Infinity : BEFORE_LONG
  return found.reduce((least, { wait }) => Math.min(least, wait), behind)
}
