/**
 * Ends and suspends subscriptions, and opens them again. Most statements lock several of them in the order of their
 * ids, so that their transactions do not deadlock.
 */

import {
  STOP_SENDING_END_REASONS,
  type SubscriptionEndReason,
  type SubscriptionSuspensionReason,
} from '@rollcall/core/model/event'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import type { ClientBase } from 'pg'

/** Deletes the keys of subscriptions (`FilterKey`), so that changes of records are no longer matched with these subscriptions. */
async function deleteSubscriptionFilterKeys(client: ClientBase, subscriptions: readonly number[]): Promise<void> {
  await client.query('delete from subscription_key where subscription = any($1::int[])', [subscriptions])
}

/**
 * Ends subscriptions and deletes their keys.
 * @param ended.by the correlation_id of the unsubscribe request; absent when no such request ends the subscriptions
 * @returns the number of subscriptions that this call has ended
 */
export async function endSubscriptions(
  client: ClientBase,
  subscriptions: readonly number[],
  { reason, at = new Date(), by }: { readonly reason: SubscriptionEndReason; readonly at?: Date; readonly by?: string },
): Promise<number> {
  if (subscriptions.length === 0) return 0
  const { rowCount } = await client.query(
    `update subscription set state = 'ended', reason = $2, ended_at = $3, ended_by = $4
     where id = any($1::int[]) and state <> 'ended'`,
    [subscriptions, reason, at, by ?? null],
  )
  await deleteSubscriptionFilterKeys(client, subscriptions)
  return rowCount ?? 0
}

/**
 * Gives ended subscriptions the end reason `unsubscribed`, so that they are not opened again when a death is taken back. A reason
 * of `STOP_SENDING_END_REASONS` is kept. The state stays `ended`.
 * @returns how many of the given subscriptions had ended
 */
export async function markUnsubscribed(client: ClientBase, subscriptions: readonly number[]): Promise<number> {
  if (subscriptions.length === 0) return 0
  const { rowCount } = await client.query(
    `update subscription set reason = case when reason = any($2) then reason else 'unsubscribed' end
     where id in (
       select id from subscription where id = any($1::int[]) and state = 'ended' order by id for no key update)`,
    [subscriptions, STOP_SENDING_END_REASONS],
  )
  return rowCount ?? 0
}

/** The most subscriptions that are ended in one statement. */
const MOST_EXPIRED_SUBSCRIPTIONS = 1_000

/** Ends the subscriptions whose end has come. Several nodes may do so at once. @returns how many */
export async function expireSubscriptions(client: Pick<ClientBase, 'query'>, now: Date): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await client.query(
      `with expired as (
         update subscription set state = 'ended', reason = 'expired', ended_at = $1
         where id = any(array(
           select id from subscription where end_at <= $1 and state <> 'ended'
           order by end_at limit ${MOST_EXPIRED_SUBSCRIPTIONS} for update skip locked))
         returning id
       ),
       unfiled as (delete from subscription_key using expired where subscription = expired.id)
       select from expired`,
      [now],
    )
    total += rowCount ?? 0
    if ((rowCount ?? 0) < MOST_EXPIRED_SUBSCRIPTIONS) return total
  }
}

/** Ends the live subscriptions whose filter names one person, and that have a notification of these events. */
export async function endNotifiedPersonSubscriptions(
  client: ClientBase,
  events: readonly number[],
  reason: SubscriptionEndReason,
  now: Date,
): Promise<void> {
  const { rows } = await client.query<{ id: number }>(
    `update subscription set state = 'ended', reason = $2, ended_at = $3
     where id in (
       select id from subscription
       where id in (
         select subscription from notification where event = any($1::bigint[]) and purpose = 'event'
       ) and person and state = 'live'
       order by id for no key update)
     returning id`,
    [events, reason, now],
  )
  if (rows.length > 0) {
    await deleteSubscriptionFilterKeys(
      client,
      rows.map(({ id }) => id),
    )
  }
}

/** Suspends those of the subscriptions that are live. Changes of records are no longer matched with them. */
export async function suspendSubscriptions(
  client: ClientBase,
  subscriptions: readonly number[],
  reason: SubscriptionSuspensionReason,
): Promise<void> {
  if (subscriptions.length === 0) return
  await client.query(
    `update subscription set state = 'suspended', reason = $2, suspension_logged = false
     where id in (
       select id from subscription where id = any($1::int[]) and state = 'live' order by id for no key update)`,
    [subscriptions, reason],
  )
  await deleteSubscriptionFilterKeys(client, subscriptions)
}

/** The subscriptions of a registry that were suspended for the same `reason`, which is not a closed mailbox. */
export interface SuspendedSubscriptions {
  /** The namespace of the registry; empty when the registry was removed. */
  readonly registry: string
  readonly reason: SubscriptionSuspensionReason
  /** The ids of the subscriptions. */
  readonly subscriptions: readonly number[]
}

/** The most subscriptions that one line of the log names. */
const MOST_LOGGED_SUSPENSIONS = 100

/**
 * Finds at most `MOST_LOGGED_SUSPENSIONS` suspended subscriptions that were not logged, except those of closed mailboxes, and
 * marks them as logged.
 */
export async function takeUnloggedSuspensions(client: Pick<ClientBase, 'query'>): Promise<readonly SuspendedSubscriptions[]> {
  const { rows } = await client.query<SuspendedSubscriptions>(
    `with logged as (
       update subscription set suspension_logged = true
       where id in (
         select id from subscription
         where state = 'suspended' and not suspension_logged and reason <> 'undeliverable'
         order by id limit ${MOST_LOGGED_SUSPENSIONS} for no key update skip locked)
       returning id, registry, reason
     )
     select coalesce(namespace, '') as registry, reason, array_agg(logged.id order by logged.id) as subscriptions
     from logged left join ${REGISTRIES_SQL} as registry on registry.id = logged.registry
     group by namespace, reason order by namespace, reason`,
  )
  return rows
}

/** A subscription that had ended and was opened again. */
export interface ReopenedSubscription {
  readonly id: number
  readonly event_type: string
  readonly record_type: string
  /** `suspended` when the mailbox is closed. The caller files a live subscription under its keys. */
  readonly state: 'live' | 'suspended'
}

/**
 * Opens again, under their codes, the subscriptions that ended for `reason`, if their `end_at` has not come. A subscription stays
 * ended when an equal one is live or suspended. When several equal subscriptions have ended, only the newest is opened.
 */
export async function reopenSubscriptions(
  client: ClientBase,
  subscriptions: readonly number[],
  reason: SubscriptionEndReason,
  now: Date,
): Promise<readonly ReopenedSubscription[]> {
  // The lock keeps others from closing a mailbox, until the transaction ends.
  await client.query(
    `select from mailbox
     where id in (select mailbox from subscription where id = any($1::int[])) order by id for share`,
    [subscriptions],
  )
  const { rows } = await client.query<ReopenedSubscription>(
    `with held as (
       select * from subscription as ended
       where id = any($1::int[]) and state = 'ended' and reason = $2 and (end_at is null or end_at > $3)
         and not exists (
           select from subscription as other
           where other.state <> 'ended' and other.fingerprint = ended.fingerprint
             and (other.participant, other.registry, other.event_type, other.record_type)
               = (ended.participant, ended.registry, ended.event_type, ended.record_type)
         )
       order by id for no key update
     ),
     newest as (
       select distinct on (participant, registry, event_type, record_type, fingerprint) id, mailbox
       from held order by participant, registry, event_type, record_type, fingerprint, id desc
     )
     update subscription set ended_at = null,
       state = case mailbox.state when 'open' then 'live' else 'suspended' end,
       reason = case mailbox.state when 'open' then null else 'undeliverable' end
     from newest join mailbox on mailbox.id = newest.mailbox
     where subscription.id = newest.id
     returning subscription.id, event_type, record_type, subscription.state`,
    [subscriptions, reason, now],
  )
  return rows
}

/** A row of `subscription_key`. `whole`: a record with this key fulfils the whole filter of the subscription (`FilterKey`). */
export interface SubscriptionFilterKeyRow {
  readonly subscription: number
  readonly event_type: string
  readonly record_type: string
  readonly key: Uint8Array
  readonly whole: boolean
}

/** Stores the keys of live subscriptions. Changes of records are matched with subscriptions by these keys. */
export async function insertSubscriptionFilterKeys(
  client: ClientBase,
  registryId: number,
  keys: readonly SubscriptionFilterKeyRow[],
): Promise<void> {
  await client.query(
    `insert into subscription_key (registry, event_type, record_type, key, subscription, whole)
     select $1, event_type, record_type, key, subscription, whole
     from unnest($2::text[], $3::text[], $4::bytea[], $5::int[], $6::bool[])
       as filed (event_type, record_type, key, subscription, whole)
     on conflict do nothing`,
    [registryId, ...groupValuesByColumn(keys, ['event_type', 'record_type', 'key', 'subscription', 'whole'])],
  )
}
