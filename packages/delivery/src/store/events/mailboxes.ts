/**
 * Mailboxes: the notifications of one participant, registry and address, sent in order. The node that makes the next
 * envelope claims the mailbox. While that envelope is being delivered, its delivery holds the mailbox.
 */

import type { DeliveryClaim } from '@rollcall/core/model/delivery'
import type { Database } from '@rollcall/database/database'
import { MAILBOXES_NOTIFY_PREFIX, WORK_CHANNEL } from '@rollcall/database/queue'
import { queryWithoutTimeLimit } from '@rollcall/database/transaction'
import type pg from 'pg'
import { openMailbox } from './closing.ts'

/** A mailbox with due notifications, which this node has claimed. */
export interface ClaimedMailbox {
  readonly id: number
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  /** The address that the mailbox's subscriptions have named; null when they named none. */
  readonly sender_uri: string | null
  /** The id of the mailbox, as `header.meta` of its envelopes has it. */
  readonly public_id: string
  /** The number of the mailbox's last envelope. */
  readonly sequence: number
}

/**
 * The column with the number of each mailbox's last envelope. A restore raises it above all numbers that were used before. So the
 * receiver sees a gap, and does not mistake a new envelope for one that it already has.
 */
export const ENVELOPE_NUMBER_COLUMN = { table: 'mailbox', column: 'sequence' } as const

/** SQL for `secondsUntilDue`: a row with 0 when a notification waits. A poll of mailboxes finds out when it is due. */
export const NOTIFICATIONS_DUE_SQL = 'select 0 where exists (select from waiting_notification)'

/** The result of a poll of mailboxes. */
export interface PolledMailboxes {
  readonly claimed: readonly ClaimedMailbox[]
  /** The number of mailboxes that were polled. */
  readonly seen: number
  /** The id of the last mailbox that was polled; 0 when none was polled. */
  readonly last: number
  /** The seconds until the next notification in these mailboxes becomes due; null: none becomes due later. */
  readonly wait: number | null
}

/** The mailboxes that a poll reads: those with these ids, or at most `most` in which something waits, with ids above `from`. */
export type PolledRange = { readonly ids: readonly number[] } | { readonly from: number; readonly most: number }

/** The mailboxes that a poll may claim, and those that it leaves out. */
export interface MailboxPoll {
  readonly claim: DeliveryClaim
  /** The most mailboxes to claim. */
  readonly wanted: number
  /** The mailboxes that this node is draining. They are left out. */
  readonly inWork: readonly number[]
}

const MAILBOXES_AFTER_ID_SQL = `step (mailbox, number) as (
    (select mailbox, 1 from waiting_notification where mailbox > $5 order by mailbox limit 1)
    union all
    select following.mailbox, number + 1 from step cross join lateral (
      select mailbox from waiting_notification where mailbox > step.mailbox order by mailbox limit 1
    ) as following
    where number < $6
  )`
const MAILBOXES_BY_ID_SQL = 'step as (select mailbox from unnest($5::integer[]) as named (mailbox))'

/** SQL of a mailbox's first waiting notification. @param isBackfill true: of its backfills; false: of all other notifications */
const firstWaitingNotificationSql = (isBackfill: boolean): string => `left join lateral (
      select due_at from waiting_notification
      where mailbox = step.mailbox and is_backfill = ${isBackfill} order by due_at, id limit 1
    ) as ${isBackfill ? 'last' : 'first'} on true`

/**
 * Polls mailboxes, and claims open ones with something due, unless they are claimed or have a pending delivery. One step in an
 * index finds each mailbox, however much waits in it.
 */
export async function claimMailboxes(
  pool: pg.Pool,
  { claim, wanted, inWork }: MailboxPoll,
  range: PolledRange,
): Promise<PolledMailboxes> {
  const [name, steps, values] =
    'ids' in range
      ? ['claim named mailboxes', MAILBOXES_BY_ID_SQL, [range.ids]]
      : ['claim mailboxes', MAILBOXES_AFTER_ID_SQL, [range.from, range.most]]
  // Each mailbox is looked up by its id: a join would read all those with lower ids.
  const { rows } = await pool.query<PolledMailboxes>({
    name,
    text: `with recursive ${steps},
      waiting as (
        select step.mailbox, least(first.due_at, last.due_at) as due_at
        from step ${firstWaitingNotificationSql(false)} ${firstWaitingNotificationSql(true)}
      ),
      free as (
        select unclaimed.id from waiting cross join lateral (
          select id from mailbox
          where id = waiting.mailbox and state = 'open' and (claimed_until is null or claimed_until <= now())
            and not exists (select 1 from delivery where delivery.mailbox = waiting.mailbox and state = 'pending')
          for update skip locked
        ) as unclaimed
        where waiting.due_at <= now() and waiting.mailbox <> all($4::integer[])
        limit $3
      ),
      claimed as (
        update mailbox set claim = $1, claimed_until = now() + make_interval(secs => $2)
        from free where mailbox.id = free.id
        returning mailbox.id, participant, registry, nullif(sender_uri, '') as sender_uri, public_id, sequence
      )
      select coalesce((select json_agg(claimed order by id) from claimed), '[]') as claimed,
        (select count(*) from step) as seen, coalesce((select max(mailbox) from step), 0) as last,
        (select extract(epoch from min(due_at) - now())::float8 from waiting where due_at > now()) as wait`,
    values: [claim.id, claim.seconds, wanted, inWork, ...values],
  })
  return rows[0] ?? { claimed: [], seen: 0, last: 0, wait: null }
}

/** Releases a claimed mailbox, so that any node may send what waits in it. The mailbox rests no longer. */
export async function releaseMailbox(
  pool: Pick<pg.Pool, 'query'>,
  mailbox: number,
  claim: Pick<DeliveryClaim, 'id'>,
): Promise<void> {
  await pool.query({
    name: 'release mailbox',
    text: `update mailbox set claim = null, claimed_until = null, resting_since = null where id = $1 and claim = $2`,
    values: [mailbox, claim.id],
  })
}

/** Lets a claimed mailbox rest for `claim.seconds`, because nothing can be sent from it now. */
export async function letMailboxRest(pool: Pick<pg.Pool, 'query'>, mailbox: number, claim: DeliveryClaim): Promise<void> {
  await pool.query({
    name: 'rest mailbox',
    text: `update mailbox set claimed_until = now() + make_interval(secs => $3),
        resting_since = coalesce(resting_since, now())
      where id = $1 and claim = $2`,
    values: [mailbox, claim.id, claim.seconds],
  })
}

/** The most seconds until every node knows changed settings of a participant. */
const MOST_SETTINGS_DELAY_SECONDS = 1

/**
 * Makes a participant's pending deliveries due, as soon as every node knows its new settings: they may succeed now, and
 * their next attempt may be hours away. Without `origin`, mailboxes that rest are tried again too. Announces the
 * participant to the nodes.
 * @param origin a destination that answers again: only its pending envelopes of notifications become due
 */
export async function makeDeliveriesDue(
  { pool }: Pick<Database, 'pool'>,
  participant: number,
  { origin = null }: { readonly origin?: string | null } = {},
): Promise<void> {
  const statement = {
    name: 'retry mailboxes',
    text: `with retried as (
        update delivery set next_attempt_at = least(next_attempt_at, now() + make_interval(secs => $2))
        where participant = $1 and state = 'pending' and ($3::text is null or mailbox is not null and origin = $3)
          and (claimed_until is null or claimed_until <= now())
        returning origin
      ),
      probed as (
        update breaker set probe_at = least(probe_at, now() + make_interval(secs => $2))
        where participant = $1 and opened_at is not null and origin in (select origin from retried)
      ),
      rested as (
        update mailbox set claimed_until = least(claimed_until, now() + make_interval(secs => $2))
        where participant = $1 and $3::text is null and state = 'open' and resting_since is not null
          and claimed_until is not null
      )
      select pg_notify('${WORK_CHANNEL}', $1::integer::text), pg_notify('${WORK_CHANNEL}', '${MAILBOXES_NOTIFY_PREFIX}')`,
    values: [participant, MOST_SETTINGS_DELAY_SECONDS, origin],
  }
  // Without `origin` any number of pending deliveries may change, so there is no time limit. With `origin` only deliveries of
  // notifications change, of which each mailbox has at most one that is pending.
  await (origin === null ? queryWithoutTimeLimit(pool, statement) : pool.query(statement))
}

/** The participant, registry and address of a mailbox. Together they identify it. */
export interface MailboxIdentity {
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  /** The sender_uri of the request that subscribed; null when it named none. */
  readonly sender_uri: string | null
}

/** Returns the id of the mailbox with these values. Makes a missing mailbox, and opens a closed one. */
export async function ensureMailbox(
  client: Pick<pg.ClientBase, 'query'>,
  { participant, registry, sender_uri }: MailboxIdentity,
): Promise<number> {
  const { rows } = await client.query<{ id: number; state: 'open' | 'closed' }>({
    name: 'ensure mailbox',
    text: `with made as (
        insert into mailbox (participant, registry, sender_uri) values ($1, $2, $3)
        on conflict (participant, registry, sender_uri) do nothing
        returning id, state
      ),
      found as (
        -- It is not closed before the caller's transaction ends.
        select id, state from mailbox where participant = $1 and registry = $2 and sender_uri = $3 for share
      )
      select id, state from made union all select id, state from found limit 1`,
    values: [participant, registry, sender_uri ?? ''],
  })
  const [row] = rows
  if (row === undefined) throw new Error('a mailbox was made by somebody else at the same time')
  if (row.state === 'closed') await openMailbox(client, row.id)
  return row.id
}
