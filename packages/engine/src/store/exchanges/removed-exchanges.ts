/** Names the rows to delete with a registry or participant: its messages, and their answers. */
import { consentUsesToRemove } from '@rollcall/consents/store/removed-consents'
import { countRowsSql, type Removable, type RowsStoredByPackage, rowsToRemove } from '@rollcall/database/removal'

/** The rows to count and to delete. Chunks are deleted with their exchange. Items are deleted first, because they may be many. */
export function exchangeRowsToRemove(removable: Removable): RowsStoredByPackage {
  const exchanges = `select correlation_id from exchange where ${removable} = $1`
  return {
    counted: { messages: `${countRowsSql(removable, 'exchange')} + ${countRowsSql(removable, 'inbox_message')}` },
    // Counts the requests that are accepted and not completely answered.
    pending: {
      requests: `select count(*) from accepted_exchange
        where ${removable} = $1 and state in ('accepted', 'replying') and parent is null`,
    },
    removed: [
      ...(removable === 'registry' ? [consentUsesToRemove(exchanges)] : rowsToRemove(removable, ['sealed_message'])),
      { table: 'enrolment_receipt', of: `correlation_id in (${exchanges})` },
      { table: 'exchange_item', of: `correlation_id in (select correlation_id from accepted_exchange where ${removable} = $1)` },
      ...rowsToRemove(removable, ['exchange_reference', 'accepted_exchange', 'inbox_message', 'exchange']),
    ],
  }
}
