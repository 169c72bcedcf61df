/** Reads notifications that wait in mailboxes, with all that their envelopes need. */

import { authorityNameSql, hasConsentEndedSql } from '@rollcall/consents/store/consent-ended'
import type { ConsentSummary } from '@rollcall/core/model/consent'
import { type FilterTransition, type NotificationPurpose, STOP_SENDING_END_REASONS } from '@rollcall/core/model/event'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import { createGroupCommit, oncePerPool } from '@rollcall/database/group-commit'
import { isSameRecordSql, recordIdSql } from '@rollcall/database/record-ids'
import type pg from 'pg'

/** A notification that is due, with its event and its subscription. */
export interface WaitingNotification {
  readonly id: number
  readonly mailbox: number
  readonly presence: FilterTransition
  readonly purpose: NotificationPurpose
  /** The reference_id of the notification's item, the same each time; null: an older version made the notification. */
  readonly reference_id: string | null
  /** The reference_id of the notification that it corrects; null: it corrects none, or the corrected notification has none. */
  readonly corrected_reference_id: string | null
  /** The id of the earlier notification that this one corrects; null when it corrects none. */
  readonly corrected_notification: number | null
  readonly event: number
  /** The canonical names of the event type and the record type. */
  readonly event_type: string
  readonly record_type: string
  readonly record: RecordId
  readonly record_version: number
  readonly occurred_at: Date
  readonly recorded_at: Date
  /** The identifier of the record that has replaced this one, as that record writes it; null: none has. */
  readonly replaced_by: Identifier | null
  /** The length in bytes of the event's document, or of its identifiers when it has none. */
  readonly bytes: number
  readonly subscription: number
  readonly code: string
  /** The canonical name of the subscription's event type. The `asked_…` members have the spelling of the subscriber. */
  readonly subscribed: string
  readonly asked_event_type: string | null
  readonly asked_reg_type: string | null
  readonly asked_record_type: string | null
  readonly locale: string | null
  /** True when the subscribe request was encrypted: the notifications of the subscription are then encrypted too. */
  readonly encrypted: boolean
  /** True when the subscription has no filter. */
  readonly unfiltered: boolean
  /** The consent of the subscription; null when it has none. */
  readonly consent: (ConsentSummary & { readonly attributes: readonly string[] }) | null
  /**
   * True when the notification may not be sent: its subscription is silenced (`IS_SUBSCRIPTION_SILENCED_SQL`), or the documents
   * of its event were deleted, for example by an erasure.
   */
  readonly unwanted: boolean
}

/**
 * SQL condition on a `subscription`: it is silenced, so no notification of it is sent any more. The participant or the operator
 * has ended it, or its consent has ended.
 */
export const IS_SUBSCRIPTION_SILENCED_SQL = `((subscription.state = 'ended' and coalesce(subscription.reason, '') in (${STOP_SENDING_END_REASONS.map((reason) => `'${reason}'`).join(', ')}))
  or exists (select from subscription_consent as consent
    where consent.subscription = subscription.id and coalesce(${hasConsentEndedSql('consent')}, false)))`

/** SQL condition on a `subscription`: it has no filter, so it is about every record. */
export const IS_UNFILTERED_SQL = `(subscription.criteria::json -> 'filter' is null)`

/** The most mailboxes whose waiting notifications one statement reads. */
const MOST_MAILBOXES_PER_READ = 32

/** A mailbox, and the most waiting notifications to read from it. */
interface MailboxWithReadLimit {
  readonly mailbox: number
  readonly most: number
}

/**
 * Reads the due notifications of a mailbox in order, those of a backfill last. Several mailboxes share a statement.
 * @param most the most notifications
 */
export const findWaitingNotifications = (pool: pg.Pool, mailbox: number, most: number): Promise<readonly WaitingNotification[]> =>
  notificationReadBatcher(pool).submit({ mailbox, most })

/** For each pool, the reads that wait: one statement does them for several mailboxes. */
const notificationReadBatcher = oncePerPool((pool) =>
  createGroupCommit<MailboxWithReadLimit, readonly WaitingNotification[]>((wanted) => readWaitingNotifications(pool, wanted), {
    waiting: Infinity,
    together: MOST_MAILBOXES_PER_READ,
  }),
)

async function readWaitingNotifications(
  pool: pg.Pool,
  wanted: readonly MailboxWithReadLimit[],
): Promise<readonly (readonly WaitingNotification[])[]> {
  const { rows } = await pool.query<WaitingNotification>({
    name: 'find waiting notifications',
    text: FIND_WAITING_NOTIFICATIONS,
    values: [wanted.map(({ mailbox }) => mailbox), wanted.map(({ most }) => most)],
  })
  const byMailbox = Map.groupBy(rows, ({ mailbox }) => mailbox)
  return wanted.map(({ mailbox }) => byMailbox.get(mailbox) ?? [])
}

const dueNotificationsSql = (isBackfill: boolean): string => `(select * from waiting_notification
      where mailbox = wanted.mailbox and is_backfill = ${isBackfill} and due_at <= now()
      order by due_at, id limit wanted.most)`

// A subscription that has ended by itself, at its end or with the death of the person, still gets the notifications of earlier
// events. The criteria of a subscription are parsed once for all its notifications.
const FIND_WAITING_NOTIFICATIONS = `with due as materialized (
    select notification.*, octet_length(event.document) as document_bytes, octet_length(event.identifiers) as other_bytes,
      event.event_type, event.record_type, event.record, event.record_key, event.record_version, event.occurred_at, event.recorded_at,
      event.replaced_by
    from unnest($1::integer[], $2::integer[]) as wanted (mailbox, most)
      cross join lateral (${dueNotificationsSql(false)} union all ${dueNotificationsSql(true)} limit wanted.most) as queued
      join notification on notification.id = queued.id
      join event on event.id = notification.event
  ),
  asking as materialized (
    select subscription.id, subscription.code, subscription.event_type as subscribed,
      parsed.criteria ->> 'reg_event_type' as asked_event_type, parsed.criteria ->> 'reg_type' as asked_reg_type,
      parsed.criteria ->> 'notify_record_type' as asked_record_type, subscription.locale, subscription.encrypted,
      parsed.criteria -> 'filter' is null as unfiltered, ${IS_SUBSCRIPTION_SILENCED_SQL} as unwanted,
      (select jsonb_build_object('purpose', purpose, 'attributes', attributes,
          'authority', ${authorityNameSql('subscription_consent.authority')})
        from subscription_consent where subscription_consent.subscription = subscription.id) as consent
    from (select distinct subscription from due) as wanted
      join subscription on subscription.id = wanted.subscription
      cross join lateral (select subscription.criteria::json offset 0) as parsed (criteria)
  )
  select due.id, due.mailbox, due.presence, due.purpose, due.reference_id, earlier.reference_id as corrected_reference_id,
    due.corrects as corrected_notification, due.event, due.event_type, due.record_type, ${recordIdSql('due')} as record,
    due.record_version, due.occurred_at, due.recorded_at, due.replaced_by, coalesce(due.document_bytes, due.other_bytes, 2) as bytes, due.subscription,
    code, subscribed, asked_event_type, asked_reg_type, asked_record_type, locale, encrypted, unfiltered,
    unwanted or coalesce(due.document_bytes, due.other_bytes) is null as unwanted, asking.consent
  from due join asking on asking.id = due.subscription
    left join notification as earlier on earlier.id = due.corrects
  order by due.mailbox, due.is_backfill, due.due_at, due.id`

/** The stored documents of an event, for its notifications. */
export interface EventDocument {
  /**
   * The canonical JSON of the record after the event (`recordTextForEvent`), or before the event when it deleted the record or
   * merged it into another one. Null: this text was deleted, or an older version of the server has not stored it.
   */
  readonly document: string | null
  /** The canonical JSON of the record with only its identifiers. */
  readonly identifiers: string
}

/** Reads the document of an event; undefined: the event is not stored. Simultaneous calls share one statement. */
export const findEventDocument = (pool: pg.Pool, event: number): Promise<EventDocument | undefined> =>
  eventDocumentReadBatcher(pool).submit(event)

const eventDocumentReadBatcher = oncePerPool((pool) =>
  createGroupCommit<number, EventDocument | undefined>((events) => readEventDocuments(pool, events), { waiting: Infinity }),
)

async function readEventDocuments(pool: pg.Pool, events: readonly number[]): Promise<readonly (EventDocument | undefined)[]> {
  const { rows } = await pool.query<EventDocument & { readonly id: number }>({
    name: 'find documents of events',
    text: `select id, document, coalesce(identifiers, '{}') as identifiers from event where id = any($1::bigint[])`,
    values: [[...new Set(events)]],
  })
  const found = new Map(rows.map((row) => [row.id, row]))
  return events.map((event) => found.get(event))
}

/** Drops waiting notifications, which are then never sent. */
export async function dropNotifications(pool: Pick<pg.Pool, 'query'>, ids: readonly number[]): Promise<void> {
  await pool.query({
    name: 'drop notifications',
    text: `update notification set state = 'dropped' where id = any($1::bigint[]) and state = 'waiting'`,
    values: [ids],
  })
}

/** A correction whose earlier notification was dropped, and the older notification that it now corrects, if there is one. */
export interface CorrectionAndOlderNotification {
  /** The `notification.id` of the correction. */
  readonly id: number
  /** The `notification.id` and reference_id of the notification that it corrects; null: no earlier one was or will be sent. */
  readonly corrected_notification: number | null
  readonly corrected_reference_id: string | null
}

/**
 * Redirects the corrections whose earlier notification was dropped, for example because the record was hidden. Each then corrects
 * an older notification of the same subscription and record: the last one that was not dropped. This notification also has the
 * event type of the dropped one, unless the correction says that the record was merged into another one.
 * @returns only the corrections whose earlier notification was dropped
 */
export async function redirectToOlderNotifications(
  pool: Pick<pg.Pool, 'query'>,
  corrections: readonly number[],
): Promise<readonly CorrectionAndOlderNotification[]> {
  const { rows } = await pool.query<CorrectionAndOlderNotification>({
    name: 'correct other notifications',
    text: `with known as (
        select correction.id, (
          select max(earlier.id) from event as said join notification as earlier on earlier.event = said.id
          where said.registry = gone.registry and said.record_type = gone.record_type and ${isSameRecordSql('said', 'gone')}
            and (event.replaced_by is not null
              or (said.event_type = gone.event_type and coalesce(said.reversed_by, event.id) = event.id))
            and earlier.subscription = correction.subscription and earlier.id < lost.id
            and earlier.state <> 'dropped' and said.purpose <> 'test') as corrected_notification
        from notification as correction join event on event.id = correction.event
          join notification as lost on lost.id = correction.corrects and lost.state = 'dropped'
          join event as gone on gone.id = lost.event
        where correction.id = any($1::bigint[])
      ),
      changed as (
        update notification set corrects = known.corrected_notification from known
        where notification.id = known.id and known.corrected_notification is not null
      )
      select known.id, corrected_notification, earlier.reference_id as corrected_reference_id
      from known left join notification as earlier on earlier.id = corrected_notification`,
    values: [corrections],
  })
  return rows
}
