/** What goes with a registry or a participant that is removed: its subscriptions, and the events of a registry. */
import { countOf, type Removable, type RemovedRows, rowsOf, type StoredPart } from '@rollcall/database/removal'
import { namespaceOf } from '@rollcall/records/registries/registry-names'

const OUTBOX = `namespace = ${namespaceOf('$1')}`

const removedWith = (removable: Removable): readonly RemovedRows[] => [
  { table: 'waiting_notification', of: `mailbox in (select id from mailbox where ${removable} = $1)` },
  ...rowsOf(removable, ['subscription', 'mailbox']),
]

const pendingOf = (removable: Removable) => ({
  subscriptions: `select count(*) from subscription where ${removable} = $1 and state <> 'ended'`,
})

export const STORED_SUBSCRIPTIONS: StoredPart = {
  counted: {
    registry: { subscriptions: countOf('registry', 'subscription'), events: countOf('registry', 'event') },
    participant: { subscriptions: countOf('participant', 'subscription') },
  },
  pending: {
    registry: {
      ...pendingOf('registry'),
      // Rows that are to be published.
      outbox: `select count(*) from rollcall_outbox.event where ${OUTBOX} and failed_at is null`,
    },
    participant: pendingOf('participant'),
  },
  removed: {
    registry: [
      ...removedWith('registry'),
      ...rowsOf('registry', ['event', 'record_source_version']),
      { table: 'rollcall_outbox.event', of: OUTBOX },
    ],
    participant: removedWith('participant'),
  },
}
