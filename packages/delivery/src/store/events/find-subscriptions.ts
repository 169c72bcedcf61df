/** Finds subscriptions of a participant. */

import { authorityNameSql } from '@rollcall/consents/store/consent-ended'
import type { ConsentSummary } from '@rollcall/core/model/consent'
import type { SubscriptionState } from '@rollcall/core/model/event'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import type { Database, DatabaseWithPool } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import type { ClientBase } from 'pg'
import { IS_UNFILTERED_SQL } from './waiting.ts'

/**
 * Two subscriptions of a participant in a registry are equal if their event types, record types (by canonical names) and
 * fingerprints of the criteria are equal.
 */
export interface SubscriptionIdentity {
  readonly event_type: string
  readonly record_type: string
  readonly fingerprint: Uint8Array
}

/** A stored subscription that has not ended, and is equal to a requested one. */
export interface SubscriptionEqualToRequested extends SubscriptionIdentity {
  readonly id: number
  readonly code: string
  readonly state: 'live' | 'suspended'
  readonly end_at: Date | null
  readonly mailbox: number
  /** The address of the subscription's mailbox; null when the subscriber named none. */
  readonly sender_uri: string | null
}

/** Finds the participant's subscriptions in a registry that have not ended and are equal to one of the given ones. */
export async function findEqualSubscriptions(
  { pool }: DatabaseWithPool,
  participant: number,
  registry: number,
  wanted: readonly SubscriptionIdentity[],
): Promise<readonly SubscriptionEqualToRequested[]> {
  if (wanted.length === 0) return []
  const { rows } = await pool.query<SubscriptionEqualToRequested>({
    name: 'find same subscriptions',
    text: `select subscription.id, code, event_type, record_type, fingerprint, subscription.state, end_at,
        mailbox.id as mailbox, nullif(mailbox.sender_uri, '') as sender_uri
      from (select distinct * from unnest($3::text[], $4::text[], $5::bytea[])
        as wanted (event_type, record_type, fingerprint)) as wanted
        join subscription using (event_type, record_type, fingerprint)
        join mailbox on mailbox.id = subscription.mailbox
      where subscription.participant = $1 and subscription.registry = $2 and subscription.state <> 'ended'`,
    values: [participant, registry, ...groupValuesByColumn(wanted, ['event_type', 'record_type', 'fingerprint'])],
  })
  return rows
}

/** Counts the participant's subscriptions in all registries that have not ended, up to `most`. */
export async function countSubscriptions(
  { pool }: { readonly pool: Pick<Database['pool'], 'query'> },
  participant: number,
  most: number,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>({
    name: 'count subscriptions',
    text: `select count(*)::integer from (
        select from subscription where participant = $1 and state <> 'ended' limit $2) as counted`,
    values: [participant, most],
  })
  return rows[0]?.count ?? 0
}

/** A subscription that the participant who made it names by its code. */
export interface ParticipantSubscription {
  readonly id: number
  readonly code: string
  readonly state: SubscriptionState
  /** Why the subscription is suspended or ended; null when it is live. */
  readonly reason: string | null
  /** The canonical names of the event type and the record type. */
  readonly event_type: string
  readonly record_type: string
  readonly unfiltered: boolean
}

/** Finds the participant's subscriptions in the registry that have these codes, also ended ones. */
export async function findParticipantSubscriptions(
  { pool }: DatabaseWithPool,
  participant: number,
  registry: number,
  codes: readonly string[],
): Promise<readonly ParticipantSubscription[]> {
  const { rows } = await pool.query<ParticipantSubscription>({
    name: 'find own subscriptions',
    text: `select id, code, state, reason, event_type, record_type, ${IS_UNFILTERED_SQL} as unfiltered
      from subscription where code = any($3::text[]) and participant = $1 and registry = $2`,
    values: [participant, registry, codes.filter(isTextStorable)],
  })
  return rows
}

/** The column with the exchange that made or ended a subscription, by the operation of that exchange. */
const EXCHANGE_COLUMN_BY_OPERATION: Readonly<Record<string, string>> = { subscribe: 'correlation_id', unsubscribe: 'ended_by' }

/** An exchange that made or ended some of the given subscriptions, and the reference_ids of the items that made them. */
export interface ExchangeOfSubscriptions {
  readonly correlation_id: string
  readonly reference_ids: readonly string[]
}

/**
 * Finds the exchange that made (operation subscribe) or ended (unsubscribe) the largest number of these subscriptions of a
 * participant in a registry. When several exchanges have this number, the one with the newest subscription is found. Null: there
 * is none, or the operation is another one.
 */
export async function findExchangeByCodes(
  { pool }: DatabaseWithPool,
  { participant, registry, operation }: { readonly participant: number; readonly registry: number; readonly operation: string },
  codes: readonly string[],
): Promise<ExchangeOfSubscriptions | null> {
  const column = EXCHANGE_COLUMN_BY_OPERATION[operation]
  if (column === undefined) return null
  const { rows } = await pool.query<ExchangeOfSubscriptions>({
    name: `find ${operation} by codes`,
    text: `select ${column} as correlation_id, array_agg(reference_id order by id) as reference_ids
      from subscription
      where code = any($3::text[]) and participant = $1 and registry = $2 and ${column} is not null
      group by ${column} order by count(*) desc, max(id) desc limit 1`,
    values: [participant, registry, codes.filter(isTextStorable)],
  })
  return rows[0] ?? null
}

/** SQL for a `from` clause: the exchanges that made or ended the subscription with code `$2`. */
export const EXCHANGES_OF_SUBSCRIPTION_SQL = `(select exchange.correlation_id
  from subscription cross join unnest(array[subscription.correlation_id, ended_by]) as exchange (correlation_id)
  where code = $2)`

/** SQL of the consent (`ConsentSummary`) of a `subscription`; null when it has none. */
export const CONSENT_OF_SUBSCRIPTION_SQL = `(select json_build_object('purpose', purpose,
    'authority', ${authorityNameSql('subscription_consent.authority')})
  from subscription_consent where subscription_consent.subscription = subscription.id)`

/** Lists a participant's live subscriptions in a registry in the order of their ids, with their criteria as texts. */
export async function listSubscriptionsInStateLive(
  client: ClientBase,
  participant: number,
  registry: number,
): Promise<readonly { readonly id: number; readonly criteria: string; readonly consent: ConsentSummary | null }[]> {
  const { rows } = await client.query<{ id: number; criteria: string; consent: ConsentSummary | null }>(
    `select id, criteria, ${CONSENT_OF_SUBSCRIPTION_SQL} as consent from subscription
     where participant = $1 and registry = $2 and state = 'live' order by id`,
    [participant, registry],
  )
  return rows
}

/** Returns the criteria of these subscriptions as texts, by subscription id. */
export async function readCriteriaTexts(
  db: Pick<ClientBase, 'query'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await db.query<{ id: number; criteria: string }>({
    name: 'criteria of subscriptions',
    text: 'select id, criteria from subscription where id = any($1::int[])',
    values: [ids],
  })
  return new Map(rows.map(({ id, criteria }) => [id, criteria]))
}
