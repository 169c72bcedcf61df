/** The deliveries and subscriptions that are deleted with a registry or participant, and the events of a registry. */
import { countRowsSql, type Removable, rowsToRemove, type StoredPart } from '@rollcall/database/removal'
import { namespaceSql } from '@rollcall/records/registries/registry-names'

/** The deliveries of a registry or a participant, to count and to delete. */
export const deliveryRowsToRemove = (removable: Removable): StoredPart => ({
  counted: { deliveries: countRowsSql(removable, 'delivery') },
  pending: { deliveries: `select count(*) from delivery where ${removable} = $1 and state = 'pending'` },
  removed: rowsToRemove(removable, removable === 'registry' ? ['delivery'] : ['delivery', 'breaker']),
})

/** The subscriptions and mailboxes of a registry or a participant, to count and to delete. */
export const subscriptionRowsToRemove = (removable: Removable): StoredPart => ({
  counted: { subscriptions: countRowsSql(removable, 'subscription') },
  pending: { subscriptions: `select count(*) from subscription where ${removable} = $1 and state <> 'ended'` },
  removed: [
    { table: 'waiting_notification', of: `mailbox in (select id from mailbox where ${removable} = $1)` },
    ...rowsToRemove(removable, ['subscription', 'mailbox']),
  ],
})

const IN_NAMESPACE = `namespace = ${namespaceSql('$1')}`

/** The rows of a registry's events and outbox, to count and to delete. Failed outbox rows do not count as pending. */
export const EVENT_ROWS_TO_REMOVE: StoredPart = {
  counted: { events: countRowsSql('registry', 'event') },
  pending: { outbox: `select count(*) from rollcall_outbox.event where ${IN_NAMESPACE} and failed_at is null` },
  removed: [
    ...rowsToRemove('registry', ['event', 'record_source_version']),
    { table: 'rollcall_outbox.event', of: IN_NAMESPACE },
  ],
}
