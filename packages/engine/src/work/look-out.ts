/**
 * The look-out of a worker: one statement finds the queues with work, and wakes their loops. New work of this node, and
 * announced work, wakes the loops at once. The look-out finds the rest: the work of a stopped node, and work whose
 * announcement was lost.
 */

import type { Wake } from '@rollcall/base/shared/wake'
import type { Database } from '@rollcall/database/database'
import { secondsUntilDue } from '@rollcall/database/queue'
import type { Mailboxes } from '@rollcall/delivery/notify/drain-mailboxes'
import { DELIVERIES_DUE } from '@rollcall/delivery/store/deliveries/deliveries'
import { NOTIFICATIONS_DUE } from '@rollcall/delivery/store/events/mailboxes'
import { OUTBOX_DUE } from '@rollcall/delivery/store/events/outbox'
import { EXCHANGES_DUE } from '../store/exchanges/claims.ts'

/** Milliseconds between two looks: the longest delay by a lost announcement. */
const PERIOD = 2_000
/**
 * Milliseconds to the next look while an exchange is overdue: the claim of a stopped node ends without an announcement.
 */
const OVERDUE = 200

interface LookOutParts {
  readonly db: Pick<Database, 'claims'>
  readonly mailboxes: Pick<Mailboxes, 'due'>
  readonly exchangesWake: Wake
  readonly deliveriesWake: Wake
  readonly outboxWake: Wake
  /** Wakes the look-out itself. */
  readonly wake: Wake
}

/** Looks once, and schedules the next look. */
export async function lookOut(parts: LookOutParts): Promise<void> {
  const { exchanges, deliveries, notifications, outbox } = await secondsUntilDue(parts.db.claims, QUEUES)
  if (exchanges !== null) parts.exchangesWake.raise(exchanges * 1_000)
  if (deliveries !== null) parts.deliveriesWake.raise()
  if (notifications !== null) parts.mailboxes.due([])
  if (outbox !== null) parts.outboxWake.raise()
  parts.wake.raise(exchanges !== null && exchanges <= 0 ? OVERDUE : PERIOD)
}

const QUEUES = {
  exchanges: EXCHANGES_DUE,
  deliveries: DELIVERIES_DUE,
  notifications: NOTIFICATIONS_DUE,
  outbox: OUTBOX_DUE,
}
