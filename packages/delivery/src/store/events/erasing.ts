/** Deletes a person's record from the stored events, and drops the waiting notifications about it. */

import type { RecordId } from '@rollcall/core/model/records'
import { toStoredRecordId } from '@rollcall/database/record-ids'
import type { PoolClient } from 'pg'

interface RecordsOfPerson {
  readonly registry: number
  readonly record_type: string
  /** The id of the person's record, and the ids of records that were merged into it. */
  readonly records: readonly RecordId[]
}

/** The numbers of notifications and envelopes about a record. */
export interface NotificationErasureCounts {
  /** The number of waiting notifications about the record. */
  readonly notifications: number
  /** The number of envelopes about the record that are being sent, or wait for their next attempt. */
  readonly underway: number
}

const EVENTS_ABOUT_RECORDS_SQL = `about as (
    select id from event where registry = $1 and record_type = $2
      and (record, coalesce(record_key, '')) in (select * from unnest($3::bigint[], $4::text[]))
  )`

/** The parameters `$1` to `$4` of `EVENTS_ABOUT_RECORDS_SQL`. */
const eventsAboutRecordsParameters = ({ registry, record_type, records }: RecordsOfPerson): unknown[] => {
  const ids = records.map(toStoredRecordId)
  return [registry, record_type, ids.map(({ record }) => record), ids.map(({ record_key }) => record_key ?? '')]
}

/** Counts the notifications that `eraseNotifications` would drop now, and the envelopes that it does not stop. */
export async function countNotificationsToErase(
  client: Pick<PoolClient, 'query'>,
  about: RecordsOfPerson,
): Promise<NotificationErasureCounts> {
  const { rows } = await client.query<NotificationErasureCounts>(
    `with ${EVENTS_ABOUT_RECORDS_SQL} select count(*) filter (where notification.state = 'waiting')::integer as notifications,
        count(distinct delivery.id)::integer as underway
      from about join notification on notification.event = about.id
        left join delivery on delivery.id = notification.delivery and delivery.state = 'pending'`,
    eventsAboutRecordsParameters(about),
  )
  return rows[0] ?? { notifications: 0, underway: 0 }
}

/**
 * Drops waiting notifications about the record, and deletes its documents from the events. Waits for an envelope that is being
 * committed, and counts it as underway.
 * @param client runs each statement in a transaction of its own: the count must see envelopes that were committed meanwhile
 */
export async function eraseNotifications(
  client: Pick<PoolClient, 'query'>,
  about: RecordsOfPerson,
): Promise<NotificationErasureCounts> {
  const { rowCount } = await client.query(
    `with ${EVENTS_ABOUT_RECORDS_SQL}, cleared as (
        update event set document = null, identifiers = null, replaced_by = null from about where event.id = about.id
      )
      update notification set state = 'dropped' from about
      where notification.event = about.id and notification.state = 'waiting'`,
    eventsAboutRecordsParameters(about),
  )
  const { underway } = await countNotificationsToErase(client, about)
  return { notifications: rowCount ?? 0, underway }
}
