/** Rows that are removed with a registry or participant: its messages and their answers. */
import { consentUsesOf } from '@rollcall/consents/store/removed-consents'
import { countOf, type Removable, rowsOf, type StoredPart } from '@rollcall/database/removal'

/** The items of exchanges, and the chunks of large ones, are deleted with them. */
export function storedExchanges(removable: Removable): StoredPart {
  const exchanges = `select correlation_id from exchange where ${removable} = $1`
  return {
    counted: { messages: `${countOf(removable, 'exchange')} + ${countOf(removable, 'inbox_message')}` },
    // Accepted, and not completely answered.
    pending: {
      requests: `select count(*) from accepted_exchange
        where ${removable} = $1 and state in ('accepted', 'replying') and parent is null`,
    },
    removed: [
      ...(removable === 'registry' ? [consentUsesOf(exchanges)] : rowsOf(removable, ['sealed_message'])),
      { table: 'enrolment_receipt', of: `correlation_id in (${exchanges})` },
      ...rowsOf(removable, ['exchange_reference', 'accepted_exchange', 'inbox_message', 'exchange']),
    ],
  }
}
