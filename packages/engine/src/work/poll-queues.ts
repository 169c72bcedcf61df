/**
 * The poll of a worker: one statement finds the queues with work, and the poll wakes the loops that work on these queues. New
 * work of this node, and work that another node announces, wakes the loops at once. The poll finds the rest: work of a stopped
 * node, and work whose announcement was lost.
 */

import type { LoopWake } from '@rollcall/base/shared/wake'
import type { Database } from '@rollcall/database/database'
import { secondsUntilDue } from '@rollcall/database/queue'
import type { MailboxDrainer } from '@rollcall/delivery/notify/drain-mailboxes'
import { DELIVERIES_DUE_SQL } from '@rollcall/delivery/store/deliveries/deliveries'
import { NOTIFICATIONS_DUE_SQL } from '@rollcall/delivery/store/events/mailboxes'
import { OUTBOX_DUE_SQL } from '@rollcall/delivery/store/events/outbox'
import { EXCHANGES_DUE_SQL } from '../store/exchanges/claims.ts'

/** Milliseconds between two polls. Work whose announcement was lost waits for the next poll. */
const POLL_PERIOD_MS = 2_000
/** Milliseconds to the next poll while an exchange is overdue: nobody announces that a stopped node's claim ended. */
const OVERDUE_POLL_MS = 200

interface PollDeps {
  readonly db: Pick<Database, 'claims'>
  readonly mailboxes: Pick<MailboxDrainer, 'anyDue'>
  readonly exchangesWake: LoopWake
  readonly deliveriesWake: LoopWake
  readonly outboxWake: LoopWake
  /** Plans the next call of `pollQueues`: it wakes the loop that makes these calls. */
  readonly wake: LoopWake
}

/** Asks the database which queues have work, wakes their loops, and plans the next poll. */
export async function pollQueues(deps: PollDeps): Promise<void> {
  const { exchanges, deliveries, notifications, outbox } = await secondsUntilDue(deps.db.claims, QUEUES_DUE_SQL)
  if (exchanges !== null) deps.exchangesWake.raise(exchanges * 1_000)
  if (deliveries !== null) deps.deliveriesWake.raise()
  if (notifications !== null) deps.mailboxes.anyDue()
  if (outbox !== null) deps.outboxWake.raise()
  deps.wake.raise(exchanges !== null && exchanges <= 0 ? OVERDUE_POLL_MS : POLL_PERIOD_MS)
}

const QUEUES_DUE_SQL = {
  exchanges: EXCHANGES_DUE_SQL,
  deliveries: DELIVERIES_DUE_SQL,
  notifications: NOTIFICATIONS_DUE_SQL,
  outbox: OUTBOX_DUE_SQL,
}
