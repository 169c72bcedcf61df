/**
 * The queue of accepted exchanges. A node claims a row for some seconds, and renews the claim while it works. When a
 * claim is not renewed, it ends, and any node may claim the exchange.
 */

import type { DeliveryClaim } from '@rollcall/core/model/delivery'
import type { ExchangeHealth } from '@rollcall/core/model/health'
import type { Database } from '@rollcall/database/database'
import { participantsWithRowsSql } from '@rollcall/database/queue'
import type pg from 'pg'
import { ACCEPTED_COLUMNS, type AcceptedExchange, SMALL_REQUEST_BYTES } from './accepted-exchanges.ts'

/** An accepted exchange that this node has claimed to answer it. */
export interface ClaimedExchange extends AcceptedExchange {
  /** The id of the claim. A write about the exchange has effect only while the row has this claim. */
  readonly claim: string
  /**
   * How often the exchange was claimed since its last page, this claim included. A claim that was released with `counted: false`
   * does not count.
   */
  readonly runs: number
}

/** An exchange that this node is answering: its id, participant and size. */
export type ExchangeInWork = Pick<ClaimedExchange, 'id' | 'participant' | 'request_bytes' | 'items'>

/** How many exchanges of one participant this node is answering. */
interface ParticipantExchangeCounts {
  /** The `Participant.id` of the participant whose exchanges are counted. */
  readonly participant: number
  readonly exchanges: number
  /** The number of exchanges whose request is larger than `SMALL_REQUEST_BYTES`. */
  readonly large: number
  /** The number of exchanges with several items that are not counted in `large`. */
  readonly batches: number
}

/** The limits of how many exchanges a node may claim. */
export interface ClaimLimits {
  /** The number of exchanges that this node can answer beside those it is answering. */
  readonly free: number
  /** The most slots that one participant may have. */
  readonly share: number
  /** The number of slots that only participants without exchanges in progress on this node may take. */
  readonly reserve: number
  /** The most large requests in progress; each participant has one at most. */
  readonly large: number
  /** The most batches in progress: each uses a connection for its searches. */
  readonly batches: number
  /** The most batches in progress of one participant. */
  readonly batchShare: number
}

/** SQL condition: the exchange is not answered. A request that was divided into chunks is answered by its chunks. */
const IS_UNANSWERED_SQL = `state in ('accepted', 'replying') and open_chunks is null`
/** SQL condition: the exchange must be answered now, and is not claimed. */
const IS_CLAIMABLE_SQL = `${IS_UNANSWERED_SQL} and due_at <= now() and (claimed_until is null or claimed_until <= now())`

/** SQL of the seconds until the first exchange is due by `due_at`, also a claimed one, because its claim may end. */
export const EXCHANGES_DUE_SQL = `with recursive ${participantsWithRowsSql('accepted_exchange', IS_UNANSWERED_SQL)}
  select extract(epoch from min(first.due_at) - now()) from waiting cross join lateral (
    select due_at from accepted_exchange where participant = waiting.participant and ${IS_UNANSWERED_SQL} order by due_at limit 1
  ) as first`

/**
 * Claims exchanges that are due, in turns: the first of each participant, then the second of each. The order of the
 * participants is another one in each call. Nodes that claim at the same time get different exchanges.
 * @param inWork the exchanges in progress on this node: they are not claimed again, and count in the shares
 */
export async function claimExchanges(
  pool: pg.Pool,
  claim: DeliveryClaim,
  { free, share, reserve, large, batches, batchShare }: ClaimLimits,
  inWork: readonly ExchangeInWork[],
): Promise<readonly ClaimedExchange[]> {
  const busy = countExchangesByParticipant(inWork)
  const left = (most: number, of: 'large' | 'batches'): number => Math.max(0, most - busy.reduce((sum, one) => sum + one[of], 0))
  const { rows } = await pool.query<ClaimedExchange>({
    name: 'claim exchanges',
    text: CLAIM_EXCHANGES,
    values: [
      ...[claim.id, claim.seconds, free, share, free - reserve],
      ...[left(large, 'large'), left(batches, 'batches'), batchShare],
      ...[busy.map(({ participant }) => participant), busy.map(({ exchanges }) => exchanges)],
      ...[busy.map((one) => one.large), busy.map((one) => one.batches), inWork.map(({ id }) => id)],
    ],
  })
  return rows
}

/** Counts exchanges in progress by participant, and among them the large ones and the batches. */
export function countExchangesByParticipant(inWork: readonly ExchangeInWork[]): readonly ParticipantExchangeCounts[] {
  const isLarge = ({ request_bytes }: ExchangeInWork): boolean => request_bytes > SMALL_REQUEST_BYTES
  return [...Map.groupBy(inWork, ({ participant }) => participant)].map(([participant, own]) => ({
    participant,
    exchanges: own.length,
    large: own.filter(isLarge).length,
    batches: own.filter((exchange) => !isLarge(exchange) && exchange.items > 1).length,
  }))
}

// Only the first rows of each participant are read. The part `locked` locks the chosen rows and checks them again, because
// another node may have claimed them.
const CLAIM_EXCHANGES = `with recursive ${participantsWithRowsSql('accepted_exchange', IS_UNANSWERED_SQL)},
  first as (
    select one.*, waiting.participant, coalesce(busy.exchanges, 0) as exchanges, coalesce(busy.large, 0) as large,
      coalesce(busy.batches, 0) as batches, md5(waiting.participant::text || $1::uuid::text) as turn,
      row_number() over (partition by waiting.participant, one.size order by one.due_at) as nth_of_size
    from waiting
      left join unnest($9::integer[], $10::integer[], $11::integer[], $12::integer[])
        as busy (participant, exchanges, large, batches) using (participant)
      cross join lateral (
        select correlation_id, due_at, case
            when coalesce(request_bytes, octet_length(request), 0) > ${SMALL_REQUEST_BYTES} then 'large'
            when items > 1 then 'batch' else 'single' end as size
        from accepted_exchange
        where participant = waiting.participant and ${IS_CLAIMABLE_SQL} and correlation_id <> all($13::uuid[])
        order by due_at limit 4 * $4::integer
      ) as one
  ),
  own as (
    select *, exchanges + row_number() over (partition by participant order by due_at) as nth from first
    where nth_of_size <= case size when 'large' then 1 - large when 'batch' then $8::integer - batches
      else $4::integer end
  ),
  sized as (
    select *, row_number() over (partition by size order by nth, turn) as position_of_size from own
    where nth <= $4::integer
  ),
  chosen as (
    select correlation_id, nth, row_number() over (order by nth, turn) as position from sized
    where position_of_size <= case size when 'large' then $6::integer when 'batch' then $7::integer
      else $3::integer end
  ),
  locked as (
    select correlation_id from accepted_exchange
    where ${IS_CLAIMABLE_SQL} and correlation_id in (
        select correlation_id from chosen
        where position <= $5::integer or (nth = 1 and position <= $3::integer))
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
  select ${ACCEPTED_COLUMNS}, claim, runs from claimed as accepted_exchange order by due_at`

/** The row id of an exchange, and the id of its claim. */
export type ExchangeClaim = Pick<ClaimedExchange, 'id' | 'claim'>

/** SQL that selects and locks the exchanges that still have the given claims. @param how the end of its `for update` clause */
const claimedExchangesSql = (how: string): string => `held as (
    select correlation_id from accepted_exchange
      join unnest($1::uuid[], $2::uuid[]) as given (id, claim) on correlation_id = id and accepted_exchange.claim = given.claim
    order by correlation_id for update of accepted_exchange ${how}
  )`

/**
 * Renews claims: they end so many seconds from now. An exchange that another node has claimed meanwhile stays with that node. An
 * exchange whose page is being committed is skipped, because that commit may end its claim.
 */
export async function renewClaims(pool: pg.Pool, claims: readonly ExchangeClaim[], seconds: number): Promise<void> {
  await pool.query({
    name: 'renew claims',
    text: `with ${claimedExchangesSql('skip locked')}
      update accepted_exchange as exchange set claimed_until = now() + make_interval(secs => $3)
      from held where exchange.correlation_id = held.correlation_id`,
    values: [...claimColumnValues(claims), seconds],
  })
}

/**
 * Releases claims; the exchanges are due again after so many seconds.
 * @param counted false: the run does not count in `runs`, because the node stops, or because the run has failed after the longest
 *   pause (`releaseFailedExchange`)
 */
export async function releaseClaims(
  pool: pg.Pool,
  claims: readonly ExchangeClaim[],
  { seconds, counted }: { readonly seconds: number; readonly counted: boolean },
): Promise<void> {
  await pool.query({
    name: 'release claims',
    text: `with ${claimedExchangesSql('')}
      update accepted_exchange as exchange set claim = null, claimed_until = null,
        due_at = now() + make_interval(secs => $3), runs = case when $4 then runs else greatest(0, runs - 1) end
      from held where exchange.correlation_id = held.correlation_id`,
    values: [...claimColumnValues(claims), seconds, counted],
  })
}

/** Counts accepted requests, or chunks of them, that have been due for more than a minute, and are not claimed. */
export async function countOverdueExchanges({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*) from accepted_exchange where ${IS_CLAIMABLE_SQL} and due_at < now() - interval '1 minute'`,
  )
  return rows[0]?.count ?? 0
}

/**
 * Counts accepted requests, or chunks of them, that are due and not claimed, and finds for how many seconds the one that waits
 * longest has been due.
 */
export async function countWaitingExchanges({ pool }: Pick<Database, 'pool'>): Promise<ExchangeHealth> {
  const { rows } = await pool.query<ExchangeHealth>({
    name: 'waiting exchanges',
    text: `select count(*) as waiting, coalesce(extract(epoch from now() - min(due_at)), 0)::float8 as oldest
      from accepted_exchange where ${IS_CLAIMABLE_SQL}`,
  })
  return rows[0] ?? { waiting: 0, oldest: 0 }
}

const claimColumnValues = (claims: readonly ExchangeClaim[]): unknown[] => [
  claims.map(({ id }) => id),
  claims.map(({ claim }) => claim),
]
