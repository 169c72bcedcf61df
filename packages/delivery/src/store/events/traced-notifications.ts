/**
 * Finds what is stored about a notification, by the reference_id of its item or the code of its subscription: the
 * event, its envelope, and every attempt. Nothing names the person of the event.
 */
import type { FilterTransition, NotificationPurpose } from '@rollcall/core/model/event'
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import { PARTICIPANTS_SQL } from '@rollcall/participants/store/participant-names'
import { REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import { type TracedDelivery, traceDeliveries } from '../deliveries/traced-deliveries.ts'

/** An item of an envelope, or a waiting notification that will become an item. */
export interface TracedNotification {
  readonly traced: 'notification'
  /** The sender_id of the participant; null, like its status, when the participant was removed. */
  readonly participant: string | null
  readonly participant_status: Participant['status'] | null
  /** The namespace of the registry; null when the registry was removed. */
  readonly registry: string | null
  readonly reference_id: string | null
  /** The codes of the item's subscriptions. `presence`: whether the record fulfils the filter before and after the event. */
  readonly subscriptions: readonly { readonly code: string; readonly presence: FilterTransition }[]
  readonly purpose: NotificationPurpose
  readonly event_type: string
  readonly record_type: string
  readonly event_id: string | null
  readonly occurred_at: Date
  readonly recorded_at: Date
  /** The number of subscriptions, of all participants, that the event matched. */
  readonly matched: number
  readonly state: 'waiting' | 'sent' | 'dropped'
  readonly due_at: Date
  /** The id of the mailbox, as `header.meta` of its envelopes has it. */
  readonly mailbox: string
  readonly mailbox_state: 'open' | 'closed'
  /** The number of the notification's envelope in its mailbox; null when it is in no envelope, or its delivery was deleted. */
  readonly sequence: number | null
  /** The delivery of the notification's envelope; null when it is in no envelope, or this delivery was deleted. */
  readonly delivery: TracedDelivery | null
  /** The deliveries of earlier envelopes with this notification that were taken back, the oldest first. */
  readonly recalled: readonly TracedDelivery[]
}

type TracedNotificationRow = Omit<TracedNotification, 'traced' | 'delivery' | 'recalled'> & {
  readonly delivery: string | null
  readonly recalled: readonly string[]
}

/** Finds the notifications with this reference_id, and those of the subscription with this code, the newest first. */
export async function traceNotifications(
  { pool }: Pick<Database, 'pool'>,
  id: string,
  limit: number,
): Promise<readonly TracedNotification[]> {
  if (!isTextStorable(id)) return []
  const { rows } = await pool.query<TracedNotificationRow>(FIND_TRACED_NOTIFICATIONS, [id, limit])
  const ids = rows.flatMap(({ delivery, recalled }) => [...recalled, ...(delivery === null ? [] : [delivery])])
  const deliveries = await traceDeliveries({ pool }, 'id = any($1::uuid[])', ids, ids.length)
  const known = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  return rows.map((row) => ({
    traced: 'notification',
    ...row,
    delivery: row.delivery === null ? null : (known.get(row.delivery) ?? null),
    recalled: row.recalled.flatMap((envelope) => known.get(envelope) ?? []),
  }))
}

const FIND_TRACED_NOTIFICATIONS = `with found as (
    select id, subscription from notification where reference_id = $1
    union
    (select notification.id, subscription from subscription
      join notification on notification.subscription = subscription.id
      where subscription.code = $1 order by notification.id desc limit $2)
  ),
  item as (
    select max(id) as id, array_agg(id) as ids, event, mailbox, delivery, state, purpose, max(due_at) as due_at, max(reference_id) as reference_id,
      json_agg(json_build_object('code', code, 'presence', presence) order by notification.id) as subscriptions
    from found join notification using (id, subscription)
      join (select id as subscription, code from subscription) as known using (subscription)
    group by event, mailbox, delivery, state, purpose
  )
  select participant.sender_id as participant, participant.status as participant_status, namespace as registry,
    item.reference_id, item.subscriptions, item.purpose, event_type, record_type, event_id, occurred_at, recorded_at, matched,
    item.state, item.due_at, mailbox.public_id as mailbox, mailbox.state as mailbox_state, delivery.sequence, item.delivery,
    array(select earlier.id from delivery as earlier where earlier.mailbox = item.mailbox and earlier.state = 'dropped'
      and earlier.reason = 'recalled' and earlier.notifications && item.ids order by earlier.created_at) as recalled
  from item join event on event.id = item.event join mailbox on mailbox.id = item.mailbox
    left join ${PARTICIPANTS_SQL} as participant on participant.id = mailbox.participant
    left join ${REGISTRIES_SQL} as registry on registry.id = mailbox.registry
    left join delivery on delivery.id = item.delivery
  order by item.id desc limit $2`
