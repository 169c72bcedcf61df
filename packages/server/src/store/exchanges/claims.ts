/**
 * The queue of accepted exchanges: each row is claimed by the node that answers it, for the time of a lease that the node
 * renews while it works. A claim that is not renewed ends, and another node takes the exchange.
 */
import type pg from 'pg'
import type { Claim } from '../../model/delivery.ts'
import type { Database } from '../db/database.ts'
import { type AcceptedExchange, COLUMNS, SMALL_REQUEST } from './accepted-exchanges.ts'

/** An accepted exchange that this node is to answer. */
export interface ClaimedExchange extends AcceptedExchange {
  /** The id of its claim: what is written about the exchange is written under it. */
  readonly claim: string
  /** How often it was claimed since its last page, this time included. */
  readonly runs: number
}

/** What a participant has in work on this node. */
export interface InWork {
  /** `Participant.id` */
  readonly participant: number
  readonly exchanges: number
  /** Of them, those whose request is larger than `SMALL_REQUEST`. */
  readonly large: number
}

/** How many exchanges a node takes. */
export interface Slots {
  /** Slots that are free now. */
  readonly free: number
  /** Slots that one participant may have in all. */
  readonly share: number
  /** Large requests that may be in work at a time, one of each participant. */
  readonly large: number
}

/** What is not answered yet. A request that was cut into chunks is answered by its chunks. */
const OPEN = `state in ('accepted', 'replying') and open_chunks is null`
/** What is to be answered now, and is not claimed. */
const DUE = `${OPEN} and due_at <= now() and (claimed_until is null or claimed_until <= now())`

/**
 * Claims exchanges that are due, participant by participant in turns: the first of each, then the second of each. A
 * participant with nothing in work is served before one that has something, and the last free slot is for such a one.
 * Several nodes that ask at the same time get different exchanges.
 */
export async function claimExchanges(
  pool: pg.Pool,
  claim: Claim,
  { free, share, large }: Slots,
  inWork: readonly InWork[],
): Promise<readonly ClaimedExchange[]> {
  const { rows } = await pool.query<ClaimedExchange>({
    name: 'claim exchanges',
    text: CLAIM_EXCHANGES,
    values: [
      ...[claim.id, claim.seconds, free, share],
      Math.max(0, large - inWork.reduce((sum, one) => sum + one.large, 0)),
      inWork.map(({ participant }) => participant),
      inWork.map(({ exchanges }) => exchanges),
      inWork.map((one) => one.large),
    ],
  })
  return rows
}

// Participants are found one by one in the index, so that a long queue of one of them costs no more than a short one.
// Rows are locked in the end only, and looked at once more then: another node may have taken them.
const CLAIM_EXCHANGES = `with recursive waiting (participant) as (
    (select participant from accepted_exchange where ${OPEN} order by participant limit 1)
    union all
    select following.participant from waiting cross join lateral (
      select participant from accepted_exchange
      where ${OPEN} and participant > waiting.participant order by participant limit 1
    ) as following
  ),
  first as (
    select one.correlation_id, one.due_at, one.large, busy.large as large_in_work,
      coalesce(busy.exchanges, 0) + row_number() over (partition by waiting.participant order by one.due_at) as nth,
      row_number() over (partition by waiting.participant, one.large order by one.due_at) as nth_of_size
    from waiting
      left join unnest($6::integer[], $7::integer[], $8::integer[]) as busy (participant, exchanges, large)
        using (participant)
      cross join lateral (
        select correlation_id, due_at, coalesce(request_bytes, octet_length(request), 0) > ${SMALL_REQUEST} as large
        from accepted_exchange where participant = waiting.participant and ${DUE}
        order by due_at limit greatest(0, $4::integer - coalesce(busy.exchanges, 0))
      ) as one
  ),
  allowed as (
    select correlation_id, nth, row_number() over (order by nth, due_at) as position
    from (
      select *, row_number() over (partition by large order by nth, due_at) as position_of_size from first
      where not large or (nth_of_size = 1 and coalesce(large_in_work, 0) = 0)
    ) as sized
    where not large or position_of_size <= $5::integer
  ),
  locked as (
    select correlation_id from accepted_exchange
    where ${DUE} and correlation_id in (
        select correlation_id from allowed where position < $3::integer or (position = $3::integer and nth = 1))
    for update skip locked
  ),
  claimed as (
    update accepted_exchange set claim = $1, claimed_until = now() + make_interval(secs => $2), runs = runs + 1,
      started_at = coalesce(started_at, now())
    from locked where accepted_exchange.correlation_id = locked.correlation_id
    returning accepted_exchange.*
  ),
  parents as (
    update accepted_exchange set started_at = now()
    from (select distinct parent from claimed) as begun
    where accepted_exchange.correlation_id = begun.parent and accepted_exchange.started_at is null
  )
  select ${COLUMNS}, claim, runs from claimed as accepted_exchange order by due_at`

/** An exchange and the claim under which it is in work. */
export type ClaimOf = Pick<ClaimedExchange, 'id' | 'claim'>

/** Rows of claims that still hold. One whose page is being committed this moment is left alone: it has its end there. */
const HELD = `held as (
    select correlation_id from accepted_exchange
      join unnest($1::uuid[], $2::uuid[]) as given (id, claim) on correlation_id = id and accepted_exchange.claim = given.claim
    for update of accepted_exchange skip locked
  )`

/** Renews claims for so many seconds more. A claim that has ended and was taken by another node stays with that node. */
export async function renewClaims(pool: pg.Pool, claims: readonly ClaimOf[], seconds: number): Promise<void> {
  await pool.query({
    name: 'renew claims',
    text: `with ${HELD}
      update accepted_exchange as exchange set claimed_until = now() + make_interval(secs => $3)
      from held where exchange.correlation_id = held.correlation_id`,
    values: [...columns(claims), seconds],
  })
}

/** Gives claims back: the exchanges are due again so many seconds from now. */
export async function releaseClaims(
  pool: pg.Pool,
  claims: readonly ClaimOf[],
  seconds: number,
): Promise<void> {
  await pool.query({
    name: 'release claims',
    text: `with ${HELD}
      update accepted_exchange as exchange set claim = null, claimed_until = null,
        due_at = now() + make_interval(secs => $3)
      from held where exchange.correlation_id = held.correlation_id`,
    values: [...columns(claims), seconds],
  })
}

/** Accepted requests that are due for a minute, and that no node has claimed. */
export async function countOverdue({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from accepted_exchange where ${DUE} and due_at < now() - interval '1 minute'`,
  )
  return rows[0]?.count ?? 0
}

const columns = (claims: readonly ClaimOf[]): unknown[] => [
  claims.map(({ id }) => id),
  claims.map(({ claim }) => claim),
]
