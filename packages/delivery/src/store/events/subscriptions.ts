/**
 * Makes and renews subscriptions. The caller holds `lockRegistryFor(..., 'subscribe')`, so that no change of a record is matched
 * meanwhile. Changes are matched by the keys of subscriptions, and only live subscriptions have keys.
 */

import { pseudonymsSql, pseudonymsText } from '@rollcall/consents/store/consent-uses'
import type { SubscriptionConsent } from '@rollcall/core/model/consent'
import type { Frequency } from '@rollcall/core/model/event'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import type { ClientBase } from 'pg'
import { moveNotificationsToMailbox } from './recall-envelope.ts'
import { insertSubscriptionFilterKeys, type SubscriptionFilterKeyRow } from './subscription-states.ts'

/** A key of a filter, by which changed records find the subscription (`FilterKey`). */
export interface SubscriptionFilterKey {
  readonly key: Uint8Array
  readonly whole: boolean
}

/** The request that makes subscriptions, and the mailbox for their notifications. */
export interface SubscribeRequestAndMailbox {
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  readonly mailbox: number
  /** True when the request was encrypted: the notifications of its subscriptions are then encrypted too. */
  readonly encrypted: boolean
  readonly transaction_id: string
  readonly correlation_id: string
}

/** The types and keys by which a changed record finds a subscription. */
interface SubscriptionTypesAndKeys {
  /** The canonical names of the event type and the record type. */
  readonly event_type: string
  readonly record_type: string
  readonly keys: readonly SubscriptionFilterKey[]
}

export interface NewSubscription extends SubscriptionTypesAndKeys {
  readonly code: string
  readonly fingerprint: Uint8Array
  /** The canonical text of the subscription's criteria. */
  readonly criteria: string
  readonly locale: string | null
  readonly person: boolean
  readonly frequency: Frequency | null
  /** The end of the subscription; null or absent: the end of the frequency, if it has one. */
  readonly end_at?: Date | null
  readonly consent?: SubscriptionConsent | null
  /** The reference_id of the item that made the subscription. */
  readonly reference_id: string
}

/**
 * Locks a participant until the transaction ends. Its subscribe requests then run one after another, so that the number of its
 * subscriptions does not change after it was counted.
 */
export async function lockSubscriber(client: ClientBase, participant: number): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtext('rollcall subscriber'), $1)`, [participant])
}

/**
 * Inserts subscriptions. Leaves out each that equals a stored subscription which has not ended (`SubscriptionIdentity`).
 * @returns how many were inserted
 */
export async function insertSubscriptions(
  client: ClientBase,
  { participant, registry, mailbox, encrypted, transaction_id, correlation_id }: SubscribeRequestAndMailbox,
  made: readonly NewSubscription[],
): Promise<number> {
  if (made.length === 0) return 0
  const { rows } = await client.query<{ id: number; code: string }>({
    name: 'insert subscriptions',
    text: `insert into subscription (participant, registry, mailbox, encrypted, transaction_id, correlation_id, code,
        event_type, record_type, fingerprint, criteria, locale, person, cron, start_at, end_at, reference_id)
      select $1::integer, $2::integer, $3::integer, $4::boolean, $5::text, $6::uuid, made.*
      from unnest($7::text[], $8::text[], $9::text[], $10::bytea[], $11::text[], $12::text[], $13::boolean[],
        $14::text[], $15::timestamptz[], $16::timestamptz[], $17::text[]) as made
      on conflict (participant, registry, event_type, record_type, fingerprint) where state <> 'ended' do nothing
      returning id, code`,
    values: [
      ...[participant, registry, mailbox, encrypted, transaction_id, correlation_id],
      ...groupValuesByColumn(made, ['code', 'event_type', 'record_type', 'fingerprint', 'criteria', 'locale', 'person']),
      ...(['cron', 'start_at'] as const).map((name) => made.map(({ frequency }) => frequency?.[name] ?? null)),
      made.map(({ end_at, frequency }) => end_at ?? frequency?.end_at ?? null),
      ...groupValuesByColumn(made, ['reference_id']),
    ],
  })
  const ids = new Map(rows.map(({ id, code }) => [code, id]))
  await upsertSubscriptionConsents(
    client,
    made.map(({ code, consent }) => ({ id: ids.get(code), consent })),
  )
  await insertSubscriptionFilterKeys(
    client,
    registry,
    keysOfSubscriptions(made, ({ code }) => ids.get(code)),
  )
  return rows.length
}

interface SubscriptionWithConsent {
  /** The id of the subscription; undefined when it was not made. */
  readonly id: number | undefined
  readonly consent?: SubscriptionConsent | null | undefined
}

/** Stores the consents of subscriptions, each in place of an earlier one. Those without a consent are left as they are. */
async function upsertSubscriptionConsents(client: ClientBase, subscriptions: readonly SubscriptionWithConsent[]): Promise<void> {
  const given = subscriptions.flatMap(({ id: subscription, consent }) => {
    if (subscription === undefined || !consent) return []
    const { participant, purpose, signed, pseudonyms, attributes } = consent
    const texts = { pseudonyms: pseudonymsText(pseudonyms), attributes: JSON.stringify(attributes) }
    return { subscription, participant, purpose, ...signed, ...texts }
  })
  if (given.length === 0) return
  await client.query(
    `insert into subscription_consent (subscription, participant, purpose, pseudonyms, attributes, authority, jti, given_at,
       expires_at)
     select subscription, participant, purpose, ${pseudonymsSql('pseudonyms')}, attributes::jsonb, authority, jti, given_at,
       expires_at
     from unnest($1::integer[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::integer[], $7::text[],
       $8::timestamptz[], $9::timestamptz[])
       as given (subscription, participant, purpose, pseudonyms, attributes, authority, jti, given_at, expires_at)
     on conflict (subscription) do update set pseudonyms = excluded.pseudonyms, purpose = excluded.purpose,
       authority = excluded.authority, jti = excluded.jti, attributes = excluded.attributes,
       given_at = excluded.given_at, expires_at = excluded.expires_at`,
    [
      ...groupValuesByColumn(given, ['subscription', 'participant', 'purpose', 'pseudonyms', 'attributes']),
      ...groupValuesByColumn(given, ['authority', 'jti', 'given_at', 'expires_at']),
    ],
  )
}

/** The keys of subscriptions, each with the subscription's id. One that was not made or renewed is left out. */
const keysOfSubscriptions = <Subscription extends SubscriptionTypesAndKeys>(
  subscriptions: readonly Subscription[],
  idOf: (subscription: Subscription) => number | undefined,
): readonly SubscriptionFilterKeyRow[] =>
  subscriptions.flatMap((subscription) => {
    const id = idOf(subscription)
    const { event_type, record_type, keys } = subscription
    return id === undefined ? [] : keys.map((key) => ({ subscription: id, event_type, record_type, ...key }))
  })

/** An existing subscription that gets another end, or is made live again. */
export interface SubscriptionRenewal extends SubscriptionTypesAndKeys {
  readonly id: number
  readonly end_at: Date | null
  readonly consent?: SubscriptionConsent | null
  /** The subscription as it was read. If its state, end or mailbox has changed since, the subscription is not renewed. */
  readonly from: { readonly state: 'live' | 'suspended'; readonly end_at: Date | null; readonly mailbox: number }
}

/**
 * Renews subscriptions, and makes suspended ones live again. Their notifications, also those that wait, go to the mailbox of the
 * request. From now on the notifications are encrypted if this request or an earlier request for the subscription was encrypted.
 * @returns how many were renewed
 */
export async function renewSubscriptions(
  client: ClientBase,
  { registry, mailbox, encrypted }: Pick<SubscribeRequestAndMailbox, 'registry' | 'mailbox' | 'encrypted'>,
  renewals: readonly SubscriptionRenewal[],
): Promise<number> {
  if (renewals.length === 0) return 0
  const { rows } = await client.query<{ id: number }>({
    name: 'renew subscriptions',
    text: `update subscription set end_at = renewed.end_at, state = 'live', reason = null,
        mailbox = $1::integer, encrypted = subscription.encrypted or $7::boolean
      from unnest($2::integer[], $3::timestamptz[], $4::text[], $5::timestamptz[], $6::integer[])
        as renewed (id, end_at, from_state, from_end, from_mailbox)
      where subscription.id = renewed.id and state = from_state and subscription.end_at is not distinct from from_end
        and mailbox = from_mailbox
      returning subscription.id`,
    values: [
      mailbox,
      ...groupValuesByColumn(renewals, ['id', 'end_at']),
      renewals.map(({ from }) => from.state),
      renewals.map(({ from }) => from.end_at),
      renewals.map(({ from }) => from.mailbox),
      encrypted,
    ],
  })
  const renewed = new Set(rows.map(({ id }) => id))
  const moved = renewals.filter(({ id, from }) => renewed.has(id) && from.mailbox !== mailbox)
  if (moved.length > 0) {
    await moveNotificationsToMailbox(client, {
      subscriptions: moved.map(({ id }) => id),
      from: [...new Set(moved.map(({ from }) => from.mailbox))],
      to: mailbox,
    })
  }
  // A subscription that is renewed under a grant of basis `law` does not end with the consent that it had.
  const unconsented = renewals.filter(({ id, consent }) => renewed.has(id) && !consent).map(({ id }) => id)
  if (unconsented.length > 0) {
    await client.query('delete from subscription_consent where subscription = any($1::integer[])', [unconsented])
  }
  await upsertSubscriptionConsents(
    client,
    renewals.filter(({ id }) => renewed.has(id)),
  )
  await insertSubscriptionFilterKeys(
    client,
    registry,
    keysOfSubscriptions(renewals, ({ id }) => (renewed.has(id) ? id : undefined)),
  )
  return renewed.size
}
