/** Events that are corrected later, and who was notified of them. */
import type { ClientBase } from 'pg'
import type { RecordId } from '../../model/records.ts'

/** An event of a record, that a change of it takes back or corrects. */
export interface Correctable {
  readonly record_type: string
  readonly record: RecordId
  readonly event_type: string
  /** An event before that is not corrected any more. */
  readonly since: Date
}

/** A notification of an event that is corrected, whose receiver is told so. */
export interface EarlierNotification {
  readonly id: number
  readonly event: number
  readonly subscription: number
  /** When it is due; null: it was sent. */
  readonly waits_until: Date | null
}

/** The events of this type of the record that nothing has taken back yet. */
export async function correctableEvents(
  client: ClientBase,
  registryId: number,
  { record_type, record, event_type, since }: Correctable,
): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: number }>(
    `select id from event
     where registry = $1 and record_type = $2 and record = $3 and event_type = $4 and reversed_by is null
       and recorded_at >= $5
     order by id`,
    [registryId, record_type, record, event_type, since],
  )
  return rows.map(({ id }) => id)
}

/**
 * What was sent of these events, or will be, to subscriptions that are live or that a reason of the record's own has
 * ended. Of several about one event the last one: it is what the receiver knows.
 */
export async function notificationsOf(
  client: ClientBase,
  events: readonly number[],
  endedBy: string,
): Promise<readonly EarlierNotification[]> {
  const { rows } = await client.query<EarlierNotification>(
    `select distinct on (notification.subscription) notification.id, event, subscription,
       case when notification.state = 'waiting' then due_at end as waits_until
     from notification join subscription on subscription.id = notification.subscription
     where event = any($1::bigint[]) and purpose in ('event', 'backfill') and notification.state <> 'dropped'
       and (subscription.state = 'live' or (subscription.state = 'ended' and subscription.reason = $2))
     order by notification.subscription, notification.id desc`,
    [events, endedBy],
  )
  return rows
}

export async function storeReversal(
  client: ClientBase,
  events: readonly number[],
  reversedBy: number,
): Promise<void> {
  await client.query('update event set reversed_by = $2 where id = any($1::bigint[])', [events, reversedBy])
}
