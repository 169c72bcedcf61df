/** The deliveries and subscriptions that are deleted with a registry or participant, and the events of a registry. */
import { countRowsSql, type Removable, type RowsStoredByPackage, rowsToRemove } from '@rollcall/database/removal'
import { namespaceSql } from '@rollcall/records/registries/registry-names'

/** The SQL that counts and deletes the deliveries of a registry or a participant. */
export const deliveryRowsToRemove = (removable: Removable): RowsStoredByPackage => ({
  counted: { deliveries: countRowsSql(removable, 'delivery') },
  pending: { deliveries: `select count(*) from delivery where ${removable} = $1 and state = 'pending'` },
  removed: rowsToRemove(removable, removable === 'registry' ? ['delivery'] : ['delivery', 'breaker']),
})

/** The SQL that counts and deletes the subscriptions and mailboxes of a registry or a participant. */
export const subscriptionRowsToRemove = (removable: Removable): RowsStoredByPackage => ({
  counted: { subscriptions: countRowsSql(removable, 'subscription') },
  pending: { subscriptions: `select count(*) from subscription where ${removable} = $1 and state <> 'ended'` },
  removed: [
    { table: 'waiting_notification', of: `mailbox in (select id from mailbox where ${removable} = $1)` },
    // With a subscription PostgreSQL would delete all its notifications in one statement, which could take too long.
    { table: 'notification', of: `subscription in (select id from subscription where ${removable} = $1)` },
    ...rowsToRemove(removable, ['subscription', 'mailbox']),
  ],
})

const IS_IN_NAMESPACE_SQL = `namespace = ${namespaceSql('$1')}`

/**
 * The SQL that counts and deletes the rows of a registry's events and outbox. Failed outbox rows are deleted too, but `pending`
 * does not count them: it counts rows that wait to be processed.
 */
export const EVENT_ROWS_TO_REMOVE: RowsStoredByPackage = {
  counted: { events: countRowsSql('registry', 'event') },
  pending: { outbox: `select count(*) from rollcall_outbox.event where ${IS_IN_NAMESPACE_SQL} and failed_at is null` },
  removed: [
    ...rowsToRemove('registry', ['event', 'record_source_version']),
    { table: 'rollcall_outbox.event', of: IS_IN_NAMESPACE_SQL },
  ],
}
