/** Stops subscriptions, notifications and answers whose consent has ended. */

import { hasConsentEndedSql } from '@rollcall/consents/store/consent-ended'
import { type ConsentUseSelection, exchangesOfEndedConsentsSql } from '@rollcall/consents/store/consent-uses'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import type { ClientBase } from 'pg'
import { lockRegistryFor } from './lock.ts'
import { endSubscriptions } from './subscription-states.ts'

/** The subscriptions, notifications and answers that were stopped because their consent has ended. */
export interface StoppedSubscriptionsAndAnswers {
  /** The codes of the subscriptions that were ended. */
  readonly subscriptions: readonly string[]
  /** The number of notifications of these subscriptions that were waiting, or are in envelopes not yet delivered. */
  readonly notifications: number
  /** The number of deliveries of answers, one for each page, that were stopped because their consent has ended. */
  readonly deliveries: number
  /** The number of deliveries of such answers that are being attempted now. They are not attempted again. */
  readonly in_flight: number
}

/**
 * Stops the subscriptions and answers of those selected consents that have ended. The caller has committed the withdrawal; a
 * subscription or an answer that is committed at the same time then either sees the withdrawal, or is found here. (The removal of
 * a consent authority is not committed yet.) What this function misses is stopped later: housekeeping ends the subscriptions, and
 * the answers are stopped before their next attempt.
 */
export const stopUsesOfEndedConsents = (
  { pool }: Pick<Database, 'pool'>,
  which: ConsentUseSelection,
): Promise<StoppedSubscriptionsAndAnswers> => withTransaction(pool, (client) => stopSubscriptionsAndAnswers(client, which))

async function stopSubscriptionsAndAnswers(
  client: ClientBase,
  which: ConsentUseSelection,
): Promise<StoppedSubscriptionsAndAnswers> {
  const { subscriptions, notifications } = await stopSubscriptions(client, which)
  const { rows } = await client.query<{ stopped: number; in_flight: number }>(
    `with ended as (${exchangesOfEndedConsentsSql(which)}),
     stopped as (
       update delivery set state = 'dead', reason = 'not_permitted', next_attempt_at = null, finished_at = now(),
         claim = null, claimed_until = null
       where correlation_id in (select correlation_id from ended) and state in ('pending', 'held')
         and (claimed_until is null or claimed_until <= now())
       returning id
     )
     select (select count(*)::integer from stopped) as stopped,
       (select count(*)::integer from delivery where correlation_id in (select correlation_id from ended)
         and state = 'pending' and claimed_until > now()) as in_flight`,
    [...which.values],
  )
  return { subscriptions, notifications, deliveries: rows[0]?.stopped ?? 0, in_flight: rows[0]?.in_flight ?? 0 }
}

async function stopSubscriptions(
  client: ClientBase,
  which: ConsentUseSelection,
): Promise<Pick<StoppedSubscriptionsAndAnswers, 'subscriptions' | 'notifications'>> {
  const found = await findUnconsentedUnderLocks(client, which)
  if (found.length === 0) return { subscriptions: [], notifications: 0 }
  const ids = found.map(({ id }) => id)
  await endSubscriptions(client, ids, { reason: 'consent' })
  const { rows: counted } = await client.query<{ notifications: number }>(
    `with dropped as (
       update notification set state = 'dropped' where subscription = any($1::int[]) and state = 'waiting' returning id
     )
     select ((select count(*) from dropped) + (select count(*) from notification
       join delivery on delivery.id = notification.delivery
       where subscription = any($1::int[]) and delivery.state in ('pending', 'held')))::integer as notifications`,
    [ids],
  )
  return { subscriptions: found.map(({ code }) => code), notifications: counted[0]?.notifications ?? 0 }
}

interface SubscriptionWithEndedConsent {
  readonly id: number
  readonly code: string
  readonly registry: number
}

/**
 * Finds subscriptions whose consent has ended, and takes the locks of their registries. The subscriptions are read again under
 * the locks: while one was waited for, a subscription may have been renewed with another consent, or without one.
 * @param most the most subscriptions that are found; absent: all
 */
async function findUnconsentedUnderLocks(
  client: ClientBase,
  { condition, values }: ConsentUseSelection,
  most: number | null = null,
): Promise<readonly SubscriptionWithEndedConsent[]> {
  const [ids, limit] = [`$${values.length + 1}::int[]`, `$${values.length + 2}::int`]
  const find = async (among: readonly number[] | null): Promise<readonly SubscriptionWithEndedConsent[]> => {
    const { rows } = await client.query<SubscriptionWithEndedConsent>(
      `select subscription.id, code, registry
       from subscription_consent as consent join subscription on subscription.id = consent.subscription
       where state <> 'ended' and ${condition('consent')} and coalesce(${hasConsentEndedSql('consent')}, false)
         and (${ids} is null or subscription.id = any(${ids}))
       order by registry, subscription.id limit ${limit}`,
      [...values, among, most],
    )
    return rows
  }
  const found = await find(null)
  for (const registry of new Set(found.map((row) => row.registry))) {
    await lockRegistryFor(client, registry, 'subscribe')
  }
  return found.length === 0 ? [] : find(found.map(({ id }) => id))
}

/** The most subscriptions that one call of `endUnconsentedSubscriptions` ends. */
const MOST_ENDED_SUBSCRIPTIONS = 1_000

/** Ends at most `MOST_ENDED_SUBSCRIPTIONS` subscriptions whose consent has ended (`hasConsentEndedSql`). @returns how many */
export async function endUnconsentedSubscriptions(client: ClientBase): Promise<number> {
  const found = await findUnconsentedUnderLocks(client, { condition: () => 'true', values: [] }, MOST_ENDED_SUBSCRIPTIONS)
  return endSubscriptions(
    client,
    found.map(({ id }) => id),
    { reason: 'consent' },
  )
}

/** True when a stored subscription, live or not, has a consent for this purpose. */
export async function hasSubscriptionForPurpose({ pool }: Pick<Database, 'pool'>, purpose: string): Promise<boolean> {
  const { rowCount } = await pool.query('select from subscription_consent where purpose = $1 limit 1', [purpose])
  return rowCount === 1
}
