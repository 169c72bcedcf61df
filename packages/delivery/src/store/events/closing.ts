/** Closes mailboxes whose notifications cannot be delivered, and suspends their subscriptions. Also undoes both. */

import type { Database } from '@rollcall/database/database'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL, registryIdSql } from '@rollcall/records/registries/registry-names'
import type { ClientBase } from 'pg'
import { isNewestEnvelopeSql, SET_NOTIFICATION_WAITING_SQL } from '../deliveries/deliveries.ts'
import { announceMailboxesToNodesSql } from './events.ts'

/** A mailbox that was closed. */
export interface ClosedMailbox {
  readonly mailbox: number
  /** The sender_id of the participant. */
  readonly participant: string
  /** The namespace of the registry; empty when the registry was removed. */
  readonly registry: string
  /** The number of subscriptions that were suspended because the mailbox was closed. */
  readonly subscriptions: number
}

/**
 * Closes each open mailbox whose pending envelope has been undelivered for more than `seconds`. Also closes a mailbox that has
 * rested for more than `seconds`, for example because it has no address, if one of its notifications has been due for more than
 * `seconds` too. Pending envelopes become dead letters, and waiting notifications stay.
 * @param seconds the time
 */
export async function closeStaleMailboxes({ pool }: Pick<Database, 'pool'>, seconds: number): Promise<readonly ClosedMailbox[]> {
  const { rows } = await pool.query<ClosedMailbox>(
    `with stale as (
        select id from mailbox
        where state = 'open' and ((resting_since < now() - make_interval(secs => $1) and exists (
            select from waiting_notification as held
            where held.mailbox = mailbox.id and held.due_at < now() - make_interval(secs => $1)))
          or id in (
            select mailbox from delivery
            where state = 'pending' and mailbox is not null and since < now() - make_interval(secs => $1)))
        order by id for update
      ),
      closed as (
        update mailbox set state = 'closed', closed_at = now(), claim = null, claimed_until = null,
          resting_since = null
        from stale where mailbox.id = stale.id
        returning mailbox.id, participant, registry
      ),
      given_up as (
        update delivery set state = 'dead', reason = 'expired', next_attempt_at = null, finished_at = now(),
          claim = null, claimed_until = null
        from closed where delivery.mailbox = closed.id and delivery.state = 'pending'
      ),
      suspended as (
        update subscription set state = 'suspended', reason = 'undeliverable'
        from closed where subscription.mailbox = closed.id and subscription.state = 'live'
        returning subscription.id, subscription.mailbox
      ),
      unfiled as (delete from subscription_key using suspended where subscription_key.subscription = suspended.id)
      select closed.id as mailbox, participant.sender_id as participant, coalesce(registry.namespace, '') as registry,
        (select count(*) from suspended where suspended.mailbox = closed.id) as subscriptions
      from closed join ${PARTICIPANTS_SQL} as participant on participant.id = closed.participant
        left join ${REGISTRIES_SQL} as registry on registry.id = closed.registry
      order by closed.id`,
    [seconds],
  )
  return rows
}

/**
 * Opens a closed mailbox in a transaction of the caller. The notifications of envelopes that were given up wait again,
 * in the order in which they became due.
 */
export async function openMailbox(client: Pick<ClientBase, 'query'>, mailbox: number): Promise<void> {
  await client.query(
    `with opened as (
        update mailbox set state = 'open', closed_at = null where id = $1 and state = 'closed' returning id as mailbox
      ),
      given_up as (
        update delivery set state = 'dropped', reason = 'replayed' from opened
        where delivery.mailbox = opened.mailbox and delivery.state = 'dead' and reason = 'expired'
        returning delivery.id, delivery.notifications
      ),
      renewed as (
        update notification set ${SET_NOTIFICATION_WAITING_SQL} from given_up
        where ${isNewestEnvelopeSql('given_up')}
      )
      ${announceMailboxesToNodesSql('opened')}`,
    [mailbox],
  )
}

/**
 * Makes a suspended subscription live again, in a transaction of the caller. The caller also stores the keys of the subscription
 * and opens its mailbox.
 */
export async function endSubscriptionSuspension(client: Pick<ClientBase, 'query'>, subscription: number): Promise<void> {
  await client.query(`update subscription set state = 'live', reason = null where id = $1 and state = 'suspended'`, [
    subscription,
  ])
}

/** Lists the participants that have a closed mailbox. @param namespace of the registry; null: any registry */
export async function listParticipantsWithClosedMailbox(
  { pool }: Pick<Database, 'pool'>,
  namespace: string | null = null,
): Promise<readonly { readonly sender_id: string }[]> {
  const { rows } = await pool.query<{ sender_id: string }>(
    `select sender_id from ${PARTICIPANTS_SQL} as participant
      where id in (
        select participant from mailbox where state = 'closed'
          and ($1::text is null or registry = ${registryIdSql('$1')})
      ) order by sender_id`,
    [namespace],
  )
  return rows
}
