/** Events of records, subscriptions to them, and the notifications that they cause (spec "Events"). */
import type { Identifier, RecordId } from './records.ts'

/** Whether a record fulfilled the filter of a subscription before a change, after it, or both. */
export type Presence = 'entered' | 'stayed' | 'left'

/**
 * Why a notification is sent: an event, a correction of an earlier one, or a request of the operator (backfill, test).
 */
export type Purpose = 'event' | 'correction' | 'backfill' | 'test'

/** The change of one record by one write. Documents are canonical JSON texts. */
export interface RecordChange {
  /** The canonical name of the record type. */
  readonly record_type: string
  readonly record: RecordId
  /** Null: the record is new. */
  readonly before: string | null
  /** Null: the record was deleted. */
  readonly after: string | null
  /**
   * The record as a publication describes it, if the publication was not written because the stored record is newer.
   */
  readonly unwritten?: string
  /** Identifiers of the records that were merged into it before the change or by it. */
  readonly aliases?: readonly Identifier[]
}

/** The times at which notifications of a subscription are sent; null: at once. */
export interface Frequency {
  /** A cron expression of 7 fields from `events/cron.ts`; equal texts mean equal times. */
  readonly cron: string
  readonly start_at: Date
  readonly end_at: Date
}

export type SubscriptionState = 'live' | 'suspended' | 'ended'

/**
 * Why a subscription has ended: its owner or the operator took it back, its consent ended, its end_time passed, or the
 * person died.
 */
export type EndReason = 'unsubscribed' | 'cancelled' | 'consent' | 'expired' | 'death'

/** Reasons after which nothing more is sent, not even notifications of earlier events. */
export const TAKEN_BACK = ['unsubscribed', 'cancelled', 'consent'] as const satisfies readonly EndReason[]

/**
 * Why a subscription is suspended: its mailbox was closed, its filter can no longer be read, or the grant no longer
 * allows it.
 */
export type SuspensionReason = 'undeliverable' | 'unreadable' | 'not_permitted'
