/** Stores envelopes of mailboxes. Each envelope is committed together with its delivery and its notifications. */

import type { DeliveryClaim, NewDelivery } from '@rollcall/core/model/delivery'
import { groupValuesByColumn } from '@rollcall/database/column-values'
import type { JointWrite } from '@rollcall/database/joint-write'
import { countGrantUseSql } from '@rollcall/participants/store/grant-use'
import { insertDeliveriesSql } from '../deliveries/deliveries.ts'
import { IS_SUBSCRIPTION_SILENCED_SQL } from './waiting.ts'

/** The next envelope of a mailbox, to be committed with its delivery. */
export interface NewEnvelope {
  readonly mailbox: number
  /** The sequence number of the mailbox's last envelope. The new envelope gets the next number. */
  readonly after: number
  /** The claim of the mailbox. It ends with this commit: from then on the delivery holds the mailbox. */
  readonly claim: string
  readonly delivery: NewDelivery
  /** The claim of the node that made the envelope and attempts it at once; null: any node may claim the delivery. */
  readonly deliveryClaim: DeliveryClaim | null
  readonly notifications: readonly NotificationInEnvelope[]
  /** The number of records to count in the daily quota of the grant, even above the quota; 0 without a quota. */
  readonly counted: number
}

/** A notification in an envelope that is committed now and then sent. */
export interface NotificationInEnvelope {
  readonly id: number
  readonly subscription: number
  /** The reference_id of the notification's item. */
  readonly reference_id: string
}

/**
 * Writes envelopes in the statement of their audit entries. `held` selects and locks the envelopes that may be sent:
 * - the mailbox is open, has the sequence `after` and no pending delivery, and no other node has claimed it;
 * - every notification is stored and waits in this mailbox, and no subscription is silenced (`IS_SUBSCRIPTION_SILENCED_SQL`);
 * - no other transaction has locked the mailbox or a notification.
 *
 * The locks make an erasure wait for the commit, and then count the envelope. Each mailbox is looked up by its id, because a join
 * would read all of them.
 */
export const ENVELOPE_JOINT_WRITE: JointWrite<NewEnvelope> = {
  name: 'envelopes',
  // Parameters: 0 mailbox, 1 after, 2 claim; 3 to 6 the notifications; 7 to 17 the deliveries, in the order of
  // `DELIVERY_COLUMN_TYPES`; 18 counted.
  held: (parameter) => `given as (
    select * from unnest(${parameter(0)}::integer[], ${parameter(1)}::bigint[], ${parameter(2)}::uuid[]) with ordinality
      as given (mailbox, after, claim, number)
  ),
  told as (
    select * from unnest(${parameter(3)}::integer[], ${parameter(4)}::bigint[], ${parameter(5)}::integer[], ${parameter(6)}::text[])
      as told (mailbox, notification, subscription, reference_id)
  ),
  sendable as (
    select told.mailbox, notification.id from told join subscription on subscription.id = told.subscription
      join notification on notification.id = told.notification
    where notification.mailbox = told.mailbox and notification.state = 'waiting' and not ${IS_SUBSCRIPTION_SILENCED_SQL}
    for no key update of notification skip locked
  ),
  unsendable as (select mailbox, notification from told except select mailbox, id from sendable),
  envelopes_held as (
    select given.number, free.id from given cross join lateral (
      select id from mailbox
      where id = given.mailbox and sequence = given.after and state = 'open'
        and (mailbox.claim is null or mailbox.claim = given.claim or claimed_until <= now())
        and not exists (select 1 from delivery where delivery.mailbox = given.mailbox and state = 'pending')
      for update skip locked
    ) as free
    where given.mailbox not in (select mailbox from unsendable)
  )`,
  written: (parameter) => `enveloped as (
    update mailbox set sequence = sequence + 1, claim = null, claimed_until = null, resting_since = null
    from envelopes_held where mailbox.id = envelopes_held.id and (select held from joint)
    returning mailbox.id as mailbox, participant, registry, null::uuid as correlation_id, sequence
  ),
  enveloped_deliveries as (${insertDeliveriesSql(
    `enveloped join unnest(${parameter(0)}::integer[], ${DELIVERY_COLUMN_TYPES.map((type, at) => `${parameter(7 + at)}::${type}[]`).join()})
      as new (mailbox, id, callback, message_id, target, encrypted, body, claim, seconds, granted, protection, notifications)
      using (mailbox)`,
    '1',
    'enveloped.mailbox, sequence, new.notifications::bigint[]',
  )}),
  enveloped_notifications as (
    update notification set state = 'sent', delivery = new.delivery, reference_id = told.reference_id
    from told join enveloped using (mailbox)
      join unnest(${parameter(0)}::integer[], ${parameter(7)}::uuid[]) as new (mailbox, delivery) using (mailbox)
    where notification.id = told.notification and notification.mailbox = told.mailbox and notification.state = 'waiting'
  ),
  enveloped_uses as (${countGrantUseSql(
    `select participant, registry, 'records' as counted, sum(new.counted) as used
    from enveloped join unnest(${parameter(0)}::integer[], ${parameter(18)}::integer[]) as new (mailbox, counted) using (mailbox)
    where new.counted > 0 group by participant, registry order by participant, registry`,
  )})`,
  values(envelopes) {
    const notifications = envelopes.flatMap((envelope) =>
      envelope.notifications.map((one) => ({ ...one, mailbox: envelope.mailbox })),
    )
    const deliveries = envelopes.map(({ delivery, deliveryClaim }) => ({ ...delivery, claim: deliveryClaim }))
    return [
      ...groupValuesByColumn(envelopes, ['mailbox', 'after', 'claim']),
      ...groupValuesByColumn(notifications, ['mailbox', 'id', 'subscription', 'reference_id']),
      ...groupValuesByColumn(deliveries, ['id', 'callback', 'message_id', 'target', 'encrypted', 'body']),
      deliveries.map(({ claim }) => claim?.id ?? null),
      deliveries.map(({ claim }) => claim?.seconds ?? null),
      deliveries.map(({ disclosedUnder }) => disclosedUnder?.grant ?? null),
      deliveries.map(({ disclosedUnder }) => disclosedUnder?.protection ?? null),
      envelopes.map((envelope) => `{${envelope.notifications.map(({ id }) => id).join(',')}}`),
      envelopes.map(({ counted }) => counted),
    ]
  },
}

const DELIVERY_COLUMN_TYPES = ['uuid', 'text', 'text', 'text', 'boolean', 'bytea', 'uuid', 'float8', 'integer', 'bigint', 'text']
