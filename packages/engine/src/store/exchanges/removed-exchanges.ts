/** What goes with a registry or a participant that is removed: its messages, with what was answered. */
import { consentUsesOf } from '@rollcall/consents/store/removed-consents'
import { countOf, type Removable, type RemovedRows, rowsOf, type StoredPart } from '@rollcall/database/removal'

const exchangesOf = (removable: Removable): string => `select correlation_id from exchange where ${removable} = $1`

/** With the exchanges go their items, and the chunks of large ones. */
const removedWith = (removable: Removable): readonly RemovedRows[] => [
  { table: 'enrolment_receipt', of: `correlation_id in (${exchangesOf(removable)})` },
  ...rowsOf(removable, ['exchange_reference', 'accepted_exchange', 'inbox_message', 'exchange']),
]

const countedOf = (removable: Removable) => ({
  messages: `${countOf(removable, 'exchange')} + ${countOf(removable, 'inbox_message')}`,
})

/** Accepted, and not answered to the end. */
const pendingOf = (removable: Removable) => ({
  requests: `select count(*) from accepted_exchange
    where ${removable} = $1 and state in ('accepted', 'replying') and parent is null`,
})

export const STORED_EXCHANGES: StoredPart = {
  counted: { registry: countedOf('registry'), participant: countedOf('participant') },
  pending: { registry: pendingOf('registry'), participant: pendingOf('participant') },
  removed: {
    registry: [consentUsesOf(exchangesOf('registry')), ...removedWith('registry')],
    participant: [...removedWith('participant'), ...rowsOf('participant', ['sealed_message'])],
  },
}
