/** Stores events, and the notifications that they cause. */

import type { FilterTransition, NotificationPurpose } from '@rollcall/core/model/event'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import { MAILBOXES_NOTIFY_PREFIX, MOST_ANNOUNCED_MAILBOXES, WORK_CHANNEL } from '@rollcall/database/queue'
import { isSameRecordSql, toStoredRecordId } from '@rollcall/database/record-ids'
import { lastDeletionSql } from '@rollcall/records/records/forget-traces'
import type { ClientBase } from 'pg'

/**
 * SQL of the reference_id that the item of an event has in a mailbox, whichever subscriptions the event matched. It is computed
 * with a secret key of the mailbox, so the receiver cannot derive the id of the event. Those ids would show how many events there
 * are, also of hidden persons. It is stored when a notification is inserted: sending then changes no indexed column.
 */
export const referenceIdSql = (mailbox: string, event: string): string =>
  `encode(substring(sha256(${mailbox}.reference_key || int8send(${event}::bigint)) for 16), 'hex')::uuid::text`

/**
 * SQL query that announces to all nodes the mailboxes of `rows`: their ids, or, with more than `MOST_ANNOUNCED_MAILBOXES`, only
 * that any mailbox may have something due. Without mailboxes the query announces nothing.
 * @param rows SQL for a `from` clause, with a column `mailbox`
 */
export const announceMailboxesToNodesSql = (rows: string): string =>
  `select pg_notify('${WORK_CHANNEL}', '${MAILBOXES_NOTIFY_PREFIX}' ||
      case when count(*) <= ${MOST_ANNOUNCED_MAILBOXES} then string_agg(mailbox::text, ',') else '' end)
    from (select distinct mailbox from ${rows}) as announced having count(*) > 0`

/** The ids of new events, and a version for each change of a record: all events of one change have the same version. */
export interface EventIdsAndVersions {
  readonly ids: readonly number[]
  /** The version of each change, in the order of the changes. */
  readonly versions: readonly number[]
}

/** The type and id of a changed record, for which a new version is taken. */
interface ChangedRecordIdentity {
  readonly record_type: string
  readonly record: RecordId
  /** The normalised primary identifier of a record that was not stored before this change; null: it was stored, or has none. */
  readonly new_identifier: string | null
}

export interface NewEvent {
  readonly id: number
  readonly event_type: string
  readonly record_type: string
  readonly record: RecordId
  readonly record_version: number
  readonly occurred_at: Date
  readonly recorded_at: Date
  /** The id that the publisher gave the event, and the digest of what was published under that id. */
  readonly event_id?: string
  readonly fingerprint?: Buffer
  /** The identifier of the record that has replaced this one, as that record writes it. */
  readonly replaced_by?: Identifier
}

/** The documents of one event, from which its notifications are made, and the number of subscriptions that it matches. */
export interface MatchedEventDocuments {
  readonly event: number
  readonly matched: number
  /** Canonical JSON of the record after the event (`recordTextForEvent`), or before it when it was deleted or merged. */
  readonly document: string | null
  /** Canonical JSON of only the record's identifiers, for a receiver whose filter the record no longer fulfils. */
  readonly identifiers: string
}

/** A notification to be inserted. */
export interface NotificationToInsert {
  readonly event: number
  readonly subscription: number
  readonly presence: FilterTransition
  readonly purpose: NotificationPurpose
  /** The time at which the notification is due; undefined when it is due at once. */
  readonly due_at?: Date
  /** The id of the earlier notification that this one corrects. It is not due before the earlier one. */
  readonly corrected_notification?: number
}

/** The number of new events that need an id, and the changed records that need a version. */
interface EventIdsAndVersionsToTake {
  readonly events: number
  readonly changes: readonly ChangedRecordIdentity[]
  /** The time at which the import or publication began, in whole seconds. */
  readonly began: Date
}

const LAST_DELETION_SQL = lastDeletionSql({
  registry: '$2',
  record_type: 'changed.record_type',
  primary_identifier: 'changed.new_identifier',
  since: '$6',
})

/**
 * Takes ids for events, and versions for changed records. A version is the time at which the import or publication began, in
 * microseconds since 1970, or the last known version of the record plus one, if that is larger. So it says nothing about other
 * records, grows after a restore, and is an exact number in JSON. If the record was deleted since the import or publication
 * began, and is written again, its version is not smaller than the first whole second after the deletion, in microseconds.
 */
export async function takeEventIdsAndVersions(
  client: ClientBase,
  registryId: number,
  { events, changes, began }: EventIdsAndVersionsToTake,
): Promise<EventIdsAndVersions> {
  const stored = changes.map(({ record }) => toStoredRecordId(record))
  const { rows } = await client.query<{ ids: number[]; versions: number[] }>(
    `select
       array(select nextval(pg_get_serial_sequence('event', 'id')) from generate_series(1, $1::int)) as ids,
       array(select greatest((extract(epoch from $6::timestamptz) * 1000000)::bigint, (
           select max(record_version) + 1 from event
           where registry = $2 and record_type = changed.record_type and ${isSameRecordSql('event', 'changed')}), (
           floor(extract(epoch from ${LAST_DELETION_SQL})) + 1)::bigint * 1000000)
         from unnest($3::text[], $4::bigint[], $5::text[], $7::text[]) with ordinality
           as changed (record_type, record, new_identifier, record_key, at)
         order by at
       ) as versions`,
    [
      events,
      registryId,
      changes.map(({ record_type }) => record_type),
      stored.map(({ record }) => record),
      changes.map(({ new_identifier }) => new_identifier),
      began,
      stored.map(({ record_key }) => record_key),
    ],
  )
  const { ids = [], versions = [] } = rows[0] ?? {}
  const last = new Map<string, number>()
  const grown = changes.map(({ record_type, record }, at) => {
    const name = `${record_type} ${record}`
    const version = Math.max(versions[at] ?? 0, (last.get(name) ?? 0) + 1)
    last.set(name, version)
    return version
  })
  return { ids, versions: grown }
}

/** Inserts events, before anybody is notified of them. */
export async function insertEvents(client: ClientBase, registryId: number, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  await client.query(
    `insert into event (id, registry, event_id, fingerprint, event_type, record_type, record, record_key, record_version,
       occurred_at, recorded_at, replaced_by)
     overriding system value
     select id, $2, event_id, decode(fingerprint, 'hex'), event_type, record_type, record, record_key, record_version,
       occurred_at, recorded_at, replaced_by
     from json_to_recordset($1::json) as new (id bigint, event_id text, fingerprint text, event_type text,
       record_type text, record bigint, record_key text, record_version bigint, occurred_at timestamptz, recorded_at timestamptz, replaced_by jsonb)`,
    [
      JSON.stringify(
        events.map((event) => ({ ...event, ...toStoredRecordId(event.record), fingerprint: event.fingerprint?.toString('hex') })),
      ),
      registryId,
    ],
  )
}

/** Stores with each event the documents for its notifications, and adds to its number of matched subscriptions. */
export async function storeEventDocuments(client: ClientBase, matched: readonly MatchedEventDocuments[]): Promise<void> {
  if (matched.length === 0) return
  await client.query(
    `update event set matched = event.matched + new.matched, document = new.document, identifiers = new.identifiers
     from unnest($1::bigint[], $2::int[], $3::text[], $4::text[]) as new (id, matched, document, identifiers)
     where event.id = new.id`,
    groupValuesByColumn(matched, ['event', 'matched', 'document', 'identifiers']),
  )
}

/**
 * Puts notifications into the mailboxes of their subscriptions, in order. Triggers of the table keep a row of
 * `waiting_notification` for each that waits (migration 0029). The commit announces the mailboxes to all nodes.
 */
export async function insertNotifications(client: ClientBase, notifications: readonly NotificationToInsert[]): Promise<void> {
  if (notifications.length === 0) return
  await client.query(
    `with inserted as (
       insert into notification (mailbox, event, subscription, presence, purpose, corrects, reference_id, due_at)
       select mailbox.id, new.event, subscription.id, new.presence, new.purpose, new.corrects,
         ${referenceIdSql('mailbox', 'new.event')}, greatest(coalesce(new.due_at, clock_timestamp()), earlier.due_at)
       from unnest($1::bigint[], $2::int[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[])
         with ordinality as new (event, subscription, presence, purpose, corrects, due_at, at)
       join subscription on subscription.id = new.subscription
       join mailbox on mailbox.id = subscription.mailbox
       left join notification as earlier on earlier.id = new.corrects and earlier.state = 'waiting'
       order by new.at
       returning mailbox
     )
     ${announceMailboxesToNodesSql('inserted')}`,
    groupValuesByColumn(notifications, ['event', 'subscription', 'presence', 'purpose', 'corrected_notification', 'due_at']),
  )
}

/** A subscription whose notifications are held until the next time of its frequency. */
export interface SubscriptionWithFrequency {
  readonly id: number
  readonly cron: string
  readonly start_at: Date
  readonly end_at: Date
}

/** Finds those of the subscriptions that are notified only at the times of a frequency. */
export async function findSubscriptionFrequencies(
  client: ClientBase,
  subscriptions: readonly number[],
): Promise<readonly SubscriptionWithFrequency[]> {
  const { rows } = await client.query<SubscriptionWithFrequency>(
    `select id, cron, start_at, end_at from subscription
     where id = any($1::int[]) and cron is not null and start_at is not null and end_at is not null`,
    [subscriptions],
  )
  return rows
}
