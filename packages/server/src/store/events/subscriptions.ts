/**
 * Making, renewing and ending subscriptions. Those who call hold `lockEvents(..., 'subscribe')`, so that no change is
 * matched in between. Live subscriptions alone have keys: nothing else is matched.
 */
import type { ClientBase } from 'pg'
import type { EndReason, Frequency } from '../../model/event.ts'

/** A key under which a subscription is filed. */
export interface Key {
  readonly key: Buffer
  readonly whole: boolean
}

/** The request that makes subscriptions, and where their notifications go. */
export interface Making {
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  readonly mailbox: number
  /** Whether it came encrypted: what it causes then leaves encrypted. */
  readonly encrypted: boolean
  readonly transaction_id: string
  readonly correlation_id: string
}

export interface NewSubscription {
  readonly code: string
  /** Canonical names. */
  readonly event_type: string
  readonly record_type: string
  readonly fingerprint: Buffer
  /** Canonical text of the criteria. */
  readonly criteria: string
  readonly locale: string | null
  readonly person: boolean
  readonly frequency: Frequency | null
  /** Of the item that made it. */
  readonly reference_id: string
  readonly keys: readonly Key[]
}

/** Two that are the same, or that wait for each other, are made one after the other. */
export async function lockSubscriber(client: ClientBase, participant: number): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtext('rollcall subscriber'), $1)`, [participant])
}

/** @returns how many were made: one that is there already is not made again */
export async function insertSubscriptions(
  client: ClientBase,
  { participant, registry, mailbox, encrypted, transaction_id, correlation_id }: Making,
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
      ...(['code', 'event_type', 'record_type', 'fingerprint', 'criteria', 'locale', 'person'] as const).map(
        (name) => made.map((row) => row[name]),
      ),
      ...(['cron', 'start_at', 'end_at'] as const).map((name) =>
        made.map(({ frequency }) => frequency?.[name] ?? null),
      ),
      made.map(({ reference_id }) => reference_id),
    ],
  })
  const keys = new Map(made.map(({ code, keys }) => [code, keys]))
  await insertKeys(
    client,
    rows.flatMap(({ id, code }) => [{ id, keys: keys.get(code) ?? [] }]),
  )
  return rows.length
}

/** A subscription with the keys under which it is filed again. */
export interface Filed {
  readonly id: number
  readonly keys: readonly Key[]
}

async function insertKeys(client: ClientBase, filed: readonly Filed[]): Promise<void> {
  const rows = filed.flatMap(({ id, keys }) => keys.map((key) => ({ id, ...key })))
  if (rows.length === 0) return
  await client.query({
    name: 'insert subscription keys',
    text: `insert into subscription_key (registry, event_type, record_type, key, subscription, whole)
      select registry, event_type, record_type, filed.key, id, filed.whole
      from unnest($1::integer[], $2::bytea[], $3::boolean[]) as filed (subscription, key, whole)
        join subscription on subscription.id = filed.subscription
      on conflict do nothing`,
    values: [rows.map(({ id }) => id), rows.map(({ key }) => key), rows.map(({ whole }) => whole)],
  })
}

/** A subscription that goes on until another time. */
export interface Renewal {
  readonly id: number
  readonly end_at: Date | null
  /** As it was found: if it has changed since, it is not renewed. */
  readonly from: { readonly state: 'live' | 'suspended'; readonly end_at: Date | null }
  /** Of one that was suspended: it is filed again, and its notifications go where the request says. */
  readonly keys: readonly Key[]
}

/**
 * Renews subscriptions; those that were suspended are live again.
 * @param mailbox of the request, for those that were suspended
 * @returns how many were renewed
 */
export async function renewSubscriptions(
  client: ClientBase,
  mailbox: number,
  renewals: readonly Renewal[],
): Promise<number> {
  if (renewals.length === 0) return 0
  const { rows } = await client.query<{ id: number }>({
    name: 'renew subscriptions',
    text: `update subscription set end_at = renewed.end_at, state = 'live', reason = null,
        mailbox = case when state = 'live' then mailbox else $1::integer end
      from unnest($2::integer[], $3::timestamptz[], $4::text[], $5::timestamptz[])
        as renewed (id, end_at, from_state, from_end)
      where subscription.id = renewed.id and state = from_state and subscription.end_at is not distinct from from_end
      returning subscription.id`,
    values: [
      mailbox,
      renewals.map(({ id }) => id),
      renewals.map(({ end_at }) => end_at),
      renewals.map(({ from }) => from.state),
      renewals.map(({ from }) => from.end_at),
    ],
  })
  const renewed = new Set(rows.map(({ id }) => id))
  await insertKeys(
    client,
    renewals.filter(({ id }) => renewed.has(id)),
  )
  return renewed.size
}

/** Opens subscriptions again that had ended or were suspended. Where the same is live under another code, it stays ended. */
export async function reopenSubscriptions(client: ClientBase, filed: readonly Filed[]): Promise<void> {
  const { rows } = await client.query<{ id: number }>({
    name: 'reopen subscriptions',
    text: `update subscription set state = 'live', reason = null, ended_at = null, ended_by = null
      where id = any($1::integer[]) and state <> 'live' and not exists (
        select from subscription as same
        where (same.participant, same.registry, same.event_type, same.record_type, same.fingerprint)
            = (subscription.participant, subscription.registry, subscription.event_type, subscription.record_type,
              subscription.fingerprint)
          and same.state <> 'ended' and same.id <> subscription.id)
      returning id`,
    values: [filed.map(({ id }) => id)],
  })
  const opened = new Set(rows.map(({ id }) => id))
  await insertKeys(
    client,
    filed.filter(({ id }) => opened.has(id)),
  )
}

/**
 * Ends subscriptions: they match nothing more.
 * @param by the correlation_id of the unsubscribe that ends them
 * @returns how many had not ended before
 */
export async function endSubscriptions(
  client: Pick<ClientBase, 'query'>,
  ids: readonly number[],
  reason: EndReason,
  by: string | null = null,
): Promise<number> {
  if (ids.length === 0) return 0
  const { rowCount } = await client.query({
    name: 'end subscriptions',
    text: `with unfiled as (delete from subscription_key where subscription = any($1::integer[]))
      update subscription set state = 'ended', reason = $2, ended_by = $3, ended_at = now()
      where id = any($1::integer[]) and state <> 'ended'`,
    values: [ids, reason, by],
  })
  return rowCount ?? 0
}

/** Suspends subscriptions: they match nothing until they are subscribed to or opened again. */
export async function suspendSubscriptions(
  client: Pick<ClientBase, 'query'>,
  ids: readonly number[],
  reason: string,
): Promise<number> {
  if (ids.length === 0) return 0
  const { rowCount } = await client.query({
    name: 'suspend subscriptions',
    text: `with unfiled as (delete from subscription_key where subscription = any($1::integer[]))
      update subscription set state = 'suspended', reason = $2 where id = any($1::integer[]) and state = 'live'`,
    values: [ids, reason],
  })
  return rowCount ?? 0
}

/** Subscriptions that are ended in one statement. */
const EXPIRED_AT_ONCE = 1_000

/**
 * Ends the subscriptions whose end has come. Any number of nodes may do so at once: they share the work.
 * @returns how many
 */
export async function expireSubscriptions(client: Pick<ClientBase, 'query'>, now: Date): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await client.query({
      name: 'expire subscriptions',
      text: `with expired as (
          update subscription set state = 'ended', reason = 'expired', ended_at = now()
          where id = any(array(
            select id from subscription where end_at <= $1 and state <> 'ended'
            order by end_at limit ${EXPIRED_AT_ONCE} for update skip locked))
          returning id
        ),
        unfiled as (delete from subscription_key using expired where subscription = expired.id)
        select from expired`,
      values: [now],
    })
    total += rowCount ?? 0
    if ((rowCount ?? 0) < EXPIRED_AT_ONCE) return total
  }
}
