/** Finds the events that a correction is about, and who was notified of them. */

import type { NotificationPurpose } from '@rollcall/core/model/event'
import type { RecordId } from '@rollcall/core/model/records'
import { toStoredRecordId } from '@rollcall/database/record-ids'
import type { ClientBase } from 'pg'

/** The events of a record that a later event takes back or corrects. */
export interface EventsToCorrectQuery {
  readonly record_type: string
  readonly record: RecordId
  /**
   * Only events of this type are corrected, and of them only those that no later event has taken back. Null: events of every
   * type, also those that a later event has taken back.
   */
  readonly event_type: string | null
  /** Events that were recorded before this time are not corrected. */
  readonly since: Date
  /**
   * The id of the event that is corrected. Those of the record's events that backfills made are corrected with it. Undefined: all
   * events are corrected that `event_type` and `since` allow.
   */
  readonly corrected_event: number | undefined
}

/** The notification of a corrected event. Its receiver is notified of the correction. */
export interface NotificationToCorrect {
  readonly id: number
  readonly event: number
  readonly subscription: number
  /** True when the notification waits in a backfill, which is sent after everything else in its mailbox. */
  readonly in_backfill: boolean
}

/**
 * The ids of the record's events of this type that were not taken back; without a type, of all its events. With
 * `corrected_event`, only that event and events of backfills. The result is empty if `corrected_event` is no such event.
 */
export async function findCorrectableEvents(
  client: ClientBase,
  registryId: number,
  { record_type, record, event_type, since, corrected_event }: EventsToCorrectQuery,
): Promise<readonly number[]> {
  const id = toStoredRecordId(record)
  const { rows } = await client.query<{ id: number; purpose: NotificationPurpose }>(
    `select id, purpose from event
     where registry = $1 and record_type = $2 and record = $3 and record_key is not distinct from $6 and recorded_at >= $5
       and ($4::text is null or (event_type = $4 and reversed_by is null))
     order by id`,
    [registryId, record_type, id.record, event_type, since, id.record_key],
  )
  const all = rows.map(({ id }) => id)
  if (corrected_event === undefined) return all
  if (!all.includes(corrected_event)) return []
  return rows.filter(({ id, purpose }) => id === corrected_event || purpose === 'backfill').map(({ id }) => id)
}

/**
 * Finds the last notification of these events for each subscription that is live, or that ended for the reason `endedBy`. The
 * last notification says what the receiver knows. The last one that waits in a backfill is found too, because it is sent later.
 * Dropped notifications and tests do not count.
 */
export async function findLastNotificationsOfEvents(
  client: ClientBase,
  events: readonly number[],
  endedBy: string,
): Promise<readonly NotificationToCorrect[]> {
  const { rows } = await client.query<NotificationToCorrect>(
    `select distinct on (notification.subscription, in_backfill) notification.id, event, subscription,
       is_backfill and notification.state = 'waiting' as in_backfill
     from notification join subscription on subscription.id = notification.subscription
     where event = any($1::bigint[]) and purpose <> 'test' and notification.state <> 'dropped'
       and (subscription.state = 'live' or (subscription.state = 'ended' and subscription.reason = $2))
     order by notification.subscription, in_backfill, notification.id desc`,
    [events, endedBy],
  )
  return rows
}

/** Marks events as taken back. @param reversedBy the id of the event that takes them back */
export async function markEventsReversed(client: ClientBase, events: readonly number[], reversedBy: number): Promise<void> {
  await client.query('update event set reversed_by = $2 where id = any($1::bigint[])', [events, reversedBy])
}
