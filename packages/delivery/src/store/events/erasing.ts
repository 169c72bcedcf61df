/** Withdrawing what events show of a record, for a person whose data are erased. */

import type { RecordId } from '@rollcall/core/model/records'
import { WITH_MERGED } from '@rollcall/records/records/retired-records'
import type { PoolClient } from 'pg'

/** With the records that were merged into it. */
interface AboutRecord {
  readonly registry: number
  readonly record_type: string
  readonly record: RecordId
}

export interface Withdrawn {
  /** Notifications that were waiting. */
  readonly notifications: number
  /** Messages with such notifications that are on their way, or wait for their next attempt. */
  readonly underway: number
}

const ABOUT = `about as (
    select id from event where registry = $1 and record_type = $2 and record in (${WITH_MERGED})
  ), underway as (
    select count(distinct delivery.id)::integer as count from about
      join notification on notification.event = about.id join delivery on delivery.id = notification.delivery
    where delivery.state = 'pending'
  )`

export async function countWithdrawable(
  client: Pick<PoolClient, 'query'>,
  { registry, record_type, record }: AboutRecord,
): Promise<Withdrawn> {
  const { rows } = await client.query<Withdrawn>(
    `with ${ABOUT} select (select count(*)::integer from about
        join notification on notification.event = about.id where notification.state = 'waiting') as notifications,
      (select count from underway) as underway`,
    [registry, record_type, record],
  )
  return rows[0] ?? { notifications: 0, underway: 0 }
}

/** Drops what waits, and clears what the events have of the record. */
export async function eraseNotifications(
  client: Pick<PoolClient, 'query'>,
  { registry, record_type, record }: AboutRecord,
): Promise<Withdrawn> {
  const { rows } = await client.query<Withdrawn>(
    `with ${ABOUT}, dropped as (
        update notification set state = 'dropped' from about
        where notification.event = about.id and notification.state = 'waiting' returning notification.id
      ), cleared as (
        update event set document = null, identifiers = null, replaced_by = null from about where event.id = about.id
      )
      select (select count(*)::integer from dropped) as notifications, (select count from underway) as underway`,
    [registry, record_type, record],
  )
  return rows[0] ?? { notifications: 0, underway: 0 }
}
