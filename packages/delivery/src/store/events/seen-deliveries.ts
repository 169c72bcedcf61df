/** Finds what a participant's system has done with a registry: acknowledged deliveries, and made or ended subscriptions. */
import type { CheckedSystem } from '@rollcall/core/model/check'
import type { Database } from '@rollcall/database/database'

/** The last time at which a participant's system took each step of the check, such as to subscribe; null: not yet. */
export interface DeliveryCheckFacts {
  /** The time at which a callback with the answer to an asynchronous search was acknowledged. */
  readonly delivered_at: Date | null
  /** The time at which the answer to an asynchronous search was acknowledged after several attempts to send it. */
  readonly retried_at: Date | null
  readonly subscribed_at: Date | null
  /** The time at which a test notification was acknowledged. */
  readonly notified_at: Date | null
  readonly unsubscribed_at: Date | null
  /**
   * The id of the newest answer to a search that was acknowledged at its first attempt. The check sends this answer again, to see
   * that the system acknowledges it twice. Null: there is none, or an answer was attempted more than once already.
   */
  readonly delivery: string | null
  /** The code of the newest live subscription that was made during the check (`CheckedSystem.since`); null when there is none. */
  readonly subscription: string | null
  /** True when a test notification waits, or is being delivered. */
  readonly testing: boolean
}

const IS_OF_CHECKED_SYSTEM_SQL = 'participant = $1 and registry = $2'

const READ_DELIVERY_CHECK_FACTS = `select
  (select max(finished_at) from delivery where ${IS_OF_CHECKED_SYSTEM_SQL} and callback = 'on-search' and state = 'delivered'
    and created_at >= $3) as delivered_at,
  (select max(finished_at) from delivery where ${IS_OF_CHECKED_SYSTEM_SQL} and callback = 'on-search' and state = 'delivered'
    and created_at >= $3 and attempts > 1) as retried_at,
  (select max(created_at) from subscription where ${IS_OF_CHECKED_SYSTEM_SQL} and created_at >= $3) as subscribed_at,
  (select max(delivery.finished_at) from subscription
    join notification on notification.subscription = subscription.id
    join delivery on delivery.id = notification.delivery
    where subscription.participant = $1 and subscription.registry = $2 and notification.purpose = 'test'
      and delivery.state = 'delivered' and delivery.created_at >= $3) as notified_at,
  (select max(ended_at) from subscription where ${IS_OF_CHECKED_SYSTEM_SQL} and ended_by is not null and ended_at >= $3) as unsubscribed_at,
  (select id from delivery where ${IS_OF_CHECKED_SYSTEM_SQL} and callback = 'on-search' and state = 'delivered' and created_at >= $3
    and attempts = 1 and not exists (select from delivery where ${IS_OF_CHECKED_SYSTEM_SQL} and callback = 'on-search'
      and created_at >= $3 and (earlier > 0 or attempts > 1))
    order by created_at desc limit 1) as delivery,
  (select code from subscription where ${IS_OF_CHECKED_SYSTEM_SQL} and state = 'live' and created_at >= $3
    order by created_at desc limit 1) as subscription,
  exists (select from subscription
    join notification on notification.subscription = subscription.id
    left join delivery on delivery.id = notification.delivery
    where subscription.participant = $1 and subscription.registry = $2 and notification.purpose = 'test'
      and (notification.state = 'waiting' or delivery.state = 'pending')) as testing`

/** Finds when each step of a participant's system was last seen. Times before `since` are ignored. */
export async function readDeliveryCheckFacts(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, since }: CheckedSystem,
): Promise<DeliveryCheckFacts> {
  const { rows } = await pool.query<DeliveryCheckFacts>(READ_DELIVERY_CHECK_FACTS, [participant.id, registry.id, since])
  const [row] = rows
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  return row
}
