/** Takes committed envelopes back before they are sent, or before they are sent again. */

import type pg from 'pg'
import { isNewestEnvelopeSql, SET_NOTIFICATION_WAITING_SQL } from '../deliveries/deliveries.ts'
import { announceMailboxesToNodesSql } from './events.ts'
import { IS_SUBSCRIPTION_SILENCED_SQL, IS_UNFILTERED_SQL } from './waiting.ts'

/** The types of a subscription that has a notification in an envelope, and whether it may still be notified. */
export interface SubscriptionOfEnvelope {
  /** The canonical names of the event type and the record type. */
  readonly event_type: string
  readonly record_type: string
  readonly unfiltered: boolean
  /** True when nothing more may be sent for the subscription (`IS_SUBSCRIPTION_SILENCED_SQL`). */
  readonly unwanted: boolean
}

/** Finds the types and states of the subscriptions of an envelope, each combination once. */
export async function findSubscriptionsOfEnvelope(
  pool: Pick<pg.Pool, 'query'>,
  delivery: string,
): Promise<readonly SubscriptionOfEnvelope[]> {
  const { rows } = await pool.query<SubscriptionOfEnvelope>({
    name: 'subscriptions of a delivery',
    text: `select distinct event_type, record_type, ${IS_UNFILTERED_SQL} as unfiltered, ${IS_SUBSCRIPTION_SILENCED_SQL} as unwanted
      from delivery join notification on ${isNewestEnvelopeSql('delivery')}
        join subscription on subscription.id = notification.subscription
      where delivery.id = $1`,
    values: [delivery],
  })
  return rows
}

/** An envelope to take back, with the claim of the node that would attempt its delivery. */
export interface EnvelopeToRecall {
  readonly delivery: string
  readonly mailbox: number
  readonly claim: string
  /** True when somebody may have received the envelope. When false, the next envelope gets its number. */
  readonly attempted: boolean
}

/**
 * SQL that drops envelopes and lets their notifications wait again.
 * @param which SQL of the envelopes
 * @param attempted SQL condition on a row of `dropped`: somebody may have received the envelope
 */
const dropEnvelopesSql = (which: string, attempted: string): string => `dropped as (
        update delivery set state = 'dropped', reason = 'recalled', next_attempt_at = null, finished_at = now(),
          claim = null, claimed_until = null
        ${which}
        returning delivery.id, delivery.mailbox, delivery.sequence, delivery.attempts, delivery.notifications
      ),
      renewed as (
        update notification set ${SET_NOTIFICATION_WAITING_SQL} from dropped
        where ${isNewestEnvelopeSql('dropped')}
      ),
      given_back as (
        update mailbox set sequence = mailbox.sequence - 1 from dropped
        where mailbox.id = dropped.mailbox and mailbox.sequence = dropped.sequence and not ${attempted}
      )`

/** Subscriptions that move from their present mailboxes to another one. */
export interface SubscriptionMailboxMove {
  readonly subscriptions: readonly number[]
  /** The ids of the mailboxes that the subscriptions had before. */
  readonly from: readonly number[]
  readonly to: number
}

/**
 * Moves the waiting notifications of subscriptions into their new mailbox. Pending envelopes of the old mailboxes that contain
 * such notifications are dropped, even during an attempt. So are envelopes that were given up because their mailbox was closed.
 * Their notifications wait again, each in the mailbox of its subscription. Runs in the caller's transaction.
 */
export async function moveNotificationsToMailbox(
  client: Pick<pg.ClientBase, 'query'>,
  { subscriptions, from, to }: SubscriptionMailboxMove,
): Promise<void> {
  // Locks the rows of the old mailboxes: until the transaction ends, nobody else commits an envelope of these mailboxes.
  const { rows } = await client.query<{ closed: boolean }>(
    `select state = 'closed' as closed from mailbox where id = any($1::int[]) order by id for no key update`,
    [from],
  )
  // Only a closed mailbox has envelopes that were given up: for others the dead letters of all participants need not be read.
  const givenUp = rows.some(({ closed }) => closed) ? "or (state = 'dead' and reason = 'expired')" : ''
  await client.query(
    `with ${dropEnvelopesSql(
      `where mailbox = any($1::int[]) and (state = 'pending' ${givenUp}) and exists (
          select from notification where subscription = any($2::int[]) and ${isNewestEnvelopeSql('delivery')})`,
      'dropped.attempts > 0',
    )}
      select count(*) from dropped`,
    [from, subscriptions],
  )
  await client.query(
    `update notification set mailbox = $1 where subscription = any($2::int[]) and mailbox <> $1 and state = 'waiting'`,
    [to, subscriptions],
  )
  await client.query(announceMailboxesToNodesSql('unnest($1::int[]) as moved (mailbox)'), [[to, ...from]])
}

/**
 * Drops an envelope. Its notifications wait again, and are sent under another message_id.
 * @returns whether the delivery still had the claim; if not, nothing is changed
 */
export async function recallEnvelope(
  pool: Pick<pg.Pool, 'query'>,
  { delivery, mailbox, claim, attempted }: EnvelopeToRecall,
): Promise<boolean> {
  const { rows } = await pool.query<{ recalled: boolean }>({
    name: 'recall envelope',
    // The mailbox is locked first, as in `closeStaleMailboxes`, so that the two functions do not deadlock.
    text: `with own as materialized (select id from mailbox where id = $1 for no key update),
      ${dropEnvelopesSql("from own where delivery.id = $2 and delivery.mailbox = own.id and claim = $3 and state = 'pending'", '$4')}
      select exists (select 1 from dropped) as recalled, (${announceMailboxesToNodesSql('dropped')}) as announced`,
    values: [mailbox, delivery, claim, attempted],
  })
  return rows[0]?.recalled === true
}
