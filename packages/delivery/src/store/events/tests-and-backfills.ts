/** Queues notifications that an operator asks for: a test, or a backfill of the records that match already. */

import type { ConsentSummary } from '@rollcall/core/model/consent'
import type { RecordPageQuery, RecordWithWriteTime } from '@rollcall/core/model/record-source'
import type { RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import type { Database } from '@rollcall/database/database'
import { sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import { isSameRecordSql, toStoredRecordId } from '@rollcall/database/record-ids'
import { withTransaction } from '@rollcall/database/transaction'
import { lastDeletionSql } from '@rollcall/records/records/forget-traces'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import type { ClientBase } from 'pg'
import { announceMailboxesToNodesSql, referenceIdSql } from './events.ts'
import { CONSENT_OF_SUBSCRIPTION_SQL } from './find-subscriptions.ts'

/** A subscription for which notifications are queued. */
export interface SubscriptionToNotify {
  readonly id: number
  /** `Participant.id` */
  readonly participant: number
  readonly mailbox: number
  readonly mailbox_state: 'open' | 'closed'
  /** `Registry.id` */
  readonly registry: number
  /** The namespace of the registry. */
  readonly namespace: string
  readonly state: 'live' | 'suspended' | 'ended'
  /** The canonical names of the event type and the record type. */
  readonly event_type: string
  readonly record_type: string
  /** The consent of the subscription; null when it has none. */
  readonly consent: ConsentSummary | null
  /** The canonical text of the subscription's criteria. */
  readonly criteria: string
}

/** Finds a subscription by its code; undefined when there is none. */
export async function findSubscriptionToNotify(
  client: Pick<ClientBase, 'query'>,
  code: string,
): Promise<SubscriptionToNotify | undefined> {
  const { rows } = await client.query<SubscriptionToNotify>(
    `select subscription.id, subscription.participant, mailbox, mailbox.state as mailbox_state, subscription.registry, namespace,
        subscription.state, event_type, record_type, criteria, ${CONSENT_OF_SUBSCRIPTION_SQL} as consent
      from subscription join mailbox on mailbox.id = subscription.mailbox
        join ${REGISTRIES_SQL} as registry on registry.id = subscription.registry
      where code = $1`,
    [code],
  )
  return rows[0]
}

/** Queues one test notification. @param document the JSON of an invented record */
export async function insertTestNotification(
  { pool }: Pick<Database, 'pool'>,
  { id, registry, event_type, record_type }: SubscriptionToNotify,
  document: string,
): Promise<void> {
  await pool.query(
    `with made as (
        insert into event (registry, event_type, record_type, record, record_version, occurred_at, document, matched, purpose)
        values ($1, $2, $3, 0, 0, now(), $4, 1, 'test') returning id
      ),
      queued as (
        insert into notification (mailbox, event, subscription, presence, purpose, reference_id, due_at)
        select mailbox.id, made.id, subscription.id, 'entered', 'test', ${referenceIdSql('mailbox', 'made.id')}, statement_timestamp()
        from made, subscription join mailbox on mailbox.id = subscription.mailbox where subscription.id = $5 returning mailbox
      )
      ${announceMailboxesToNodesSql('queued')}`,
    [registry, event_type, record_type, document, id],
  )
}

/** The result of queueing one page of records. */
export interface QueuedBackfillPage {
  readonly records: number
  /** The id of the last record of the page; null: the page was empty. */
  readonly last: RecordId | null
}

/** A backfill that has not ended: it was interrupted, or goes on now. */
export interface UnfinishedBackfill {
  /** The id of the last record for which a notification was queued. */
  readonly last: RecordId
  /** The backfill is only of records that were written at this time or later; null: all records. */
  readonly since: Date | null
}

/** Finds the unfinished backfill of a subscription; null when it has none. */
export async function findUnfinishedBackfill(
  { pool }: Pick<Database, 'pool'>,
  subscription: number,
): Promise<UnfinishedBackfill | null> {
  const { rows } = await pool.query<UnfinishedBackfill>(
    `select coalesce(backfill_mark, backfilled::text) as last, backfilled_since as since from subscription
      where id = $1 and backfilled is not null`,
    [subscription],
  )
  return rows[0] ?? null
}

/**
 * Queues a notification for each record on a page of the records that match now. Also stores the place for the next page. The
 * notification has the present record and its version (`BACKFILLED_RECORD_VERSION_SQL`), both of one snapshot. The time of its
 * item is only the day on which the record was written: the exact time would show which records were imported together, and so
 * how many hidden persons are among them.
 * @returns null when nothing was queued: another run has queued this page meanwhile, or the subscription is not live
 */
export async function queueBackfill(
  db: Database,
  registry: RegistryShape,
  subscription: SubscriptionToNotify,
  query: RecordPageQuery,
): Promise<QueuedBackfillPage | null> {
  const queue = async (client: ClientBase): Promise<QueuedBackfillPage | null> => {
    const page = await recordsOf(db, registry).within(client).page(registry, query)
    const isQueued = await insertBackfilledEvents(client, registry, subscription, query, page)
    return isQueued ? { records: page.length, last: page.at(-1)?.id ?? null } : null
  }
  try {
    return await withTransaction(db.pool, queue, 'begin isolation level repeatable read')
  } catch (error) {
    if (sqlStateOrSystemCode(error) === '40001') return null
    throw error
  }
}

/** The place that a backfill has reached, as columns: the id of the last record. Both are null when no record was read. */
const toBackfillMarkColumns = (id: RecordId | null) => (id === null ? { record: null, record_key: null } : toStoredRecordId(id))

/** SQL of the beginning of yesterday (UTC). */
const YESTERDAY_SQL = `date_trunc('day', now(), 'UTC') - interval '24 hours'`

/** SQL of the time at which any record of the type was last deleted; null when none was deleted since yesterday began. */
const LAST_DELETION_SQL = lastDeletionSql({
  registry: '$5::integer',
  record_type: '$7::text',
  since: YESTERDAY_SQL,
  primary_identifier: 'primary_identifier',
})

/**
 * SQL of the version of a backfilled record: the version of its last event, or the beginning of yesterday if that is higher. This
 * version is higher than the versions of the record's forgotten events, because events are stored for 30 days or longer. Later
 * changes get a higher version. So does a change that is made at the same time as the backfill, if its import began since the
 * beginning of yesterday. Without an event the version tells no exact time, for the same reason as the time of the item
 * (`queueBackfill`).
 *
 * A record that was written since yesterday, and has no event, has version 0 (not known) if a record of its type was deleted
 * since yesterday: it may be the deleted record, which may have had a higher version.
 */
const BACKFILLED_RECORD_VERSION_SQL = `greatest((
            select max(record_version) from event
            where registry = $5::integer and record_type = $7::text and ${isSameRecordSql('event', 'page')}),
          case when page.written < ${YESTERDAY_SQL} or ${LAST_DELETION_SQL} is null
            then (extract(epoch from ${YESTERDAY_SQL}) * 1000000)::bigint else 0 end)`

/**
 * Inserts the events and notifications of the page. They go to the present mailbox of the subscription, which may have moved
 * since the backfill began.
 * @returns false when nothing was queued: another run has queued this page meanwhile, or the subscription is not live
 */
async function insertBackfilledEvents(
  client: ClientBase,
  registry: RegistryShape,
  { id, event_type, record_type }: SubscriptionToNotify,
  { after, since }: RecordPageQuery,
  page: readonly RecordWithWriteTime[],
): Promise<boolean> {
  const ids = page.map((record) => toStoredRecordId(record.id))
  const formerMark = toBackfillMarkColumns(after)
  const mark = toBackfillMarkColumns(page.at(-1)?.id ?? null)
  const { rows } = await client.query<{ held: boolean }>(
    `with held as (
        update subscription set backfilled = $10::bigint, backfill_mark = $11::text, backfilled_since = $12::timestamptz
        where id = $8::integer and state = 'live' and coalesce(backfilled, 0) = $13::bigint
          and backfill_mark is not distinct from $9::text returning mailbox
      ),
      page as materialized (
        select * from unnest($1::bigint[], $2::text[], $3::text[], $4::timestamptz[]) with ordinality
          as page (record, record_key, document, written, at)
        where exists (select from held)
      ),
      made as (
        insert into event (registry, event_type, record_type, record, record_key, record_version, occurred_at, document,
          matched, purpose)
        select $5::integer, $6::text, $7::text, page.record, page.record_key, ${BACKFILLED_RECORD_VERSION_SQL},
          date_trunc('day', page.written, 'UTC'), page.document, 1, 'backfill'
        from page order by page.at returning id
      ),
      queued as (
        insert into notification (mailbox, event, subscription, presence, purpose, reference_id, due_at)
        select mailbox.id, made.id, $8::integer, 'stayed', 'backfill', ${referenceIdSql('mailbox', 'made.id')},
          statement_timestamp()
        from made cross join held join mailbox on mailbox.id = held.mailbox order by made.id returning mailbox
      )
      select exists (select from held) as held, (${announceMailboxesToNodesSql('queued')}) as announced`,
    [
      ...groupValuesByColumn(ids, ['record', 'record_key']),
      ...groupValuesByColumn(page, ['document', 'written']),
      registry.id,
      event_type,
      record_type,
      id,
      formerMark.record_key,
      mark.record,
      mark.record_key,
      page.length === 0 ? null : since,
      formerMark.record ?? '0',
    ],
  )
  return rows[0]?.held === true
}
