/** Events of records, subscriptions to them, and the notifications that they cause (spec "Events"). */
import type { JsonObject } from '@rollcall/protocol'
import type { Identifier, RecordId } from './records.ts'

/** When a record satisfied a subscription's filter: only after a change, before and after it, or only before it. */
export type FilterTransition = 'entered' | 'stayed' | 'left'

/**
 * Why a notification is sent: for an event, for the correction of an earlier one, or because the operator asked (backfill, test).
 */
export type NotificationPurpose = 'event' | 'correction' | 'backfill' | 'test'

/** One change of a record. The documents are canonical JSON. */
export interface RecordChange {
  /** The canonical name of the record type. */
  readonly record_type: string
  readonly record: RecordId
  /** The record before the change; null when the change adds the record. */
  readonly before: string | null
  /** The record after the change; null when the change deletes the record. */
  readonly after: string | null
  /** `before` and `after` as objects, when the writer has parsed them. */
  readonly parsed?: { readonly before: JsonObject; readonly after: JsonObject }
  /** The record that an operator published, when it was not stored because the stored record is newer. */
  readonly unwritten?: string
  /** Identifiers of the records that were merged into this record, before the change or by it. */
  readonly aliases?: readonly Identifier[]
}

/** The times at which the notifications of a subscription are sent. */
export interface Frequency {
  /** A cron expression of 7 fields, from `events/cron.ts`. Equal texts mean equal times. */
  readonly cron: string
  readonly start_at: Date
  readonly end_at: Date
}

export type SubscriptionState = 'live' | 'suspended' | 'ended'

/**
 * Why a subscription ended: the participant unsubscribed, the operator cancelled it, the consent ended, end_time
 * passed, or the person died.
 */
export type SubscriptionEndReason = 'unsubscribed' | 'cancelled' | 'consent' | 'expired' | 'death'

/** The end reasons after which nothing is sent for the subscription any more, not even notifications of earlier events. */
export const STOP_SENDING_END_REASONS = [
  'unsubscribed',
  'cancelled',
  'consent',
] as const satisfies readonly SubscriptionEndReason[]

/**
 * Why a subscription is suspended: its mailbox was closed, this version cannot read its filter, or the grant does not
 * allow it any more.
 */
export type SubscriptionSuspensionReason = 'undeliverable' | 'unreadable' | 'not_permitted'
