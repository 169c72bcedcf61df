/** Events of records, subscriptions to them, and the notifications that they cause (spec "Events"). */
import type { Identifier, RecordId } from './records.ts'

/** Whether a record fulfilled the filter of a subscription before a change, after it, or both. */
export type Presence = 'entered' | 'stayed' | 'left'

/** Why a notification is sent: something happened, an earlier one is corrected, or the operator asked for it. */
export type Purpose = 'event' | 'correction' | 'backfill' | 'test'

/** What one write did to one record. Documents are canonical JSON texts. */
export interface RecordChange {
  /** The canonical name of the record type. */
  readonly record_type: string
  readonly record: RecordId
  /** Null: the record is new. */
  readonly before: string | null
  /** Null: the record was deleted. */
  readonly after: string | null
  /** What the record would be after a publication that was not written, because the stored record is newer. */
  readonly unwritten?: string
  /** Identifiers of records that were merged into it, before and after the change. */
  readonly aliases?: readonly Identifier[]
}

/** When notifications of a subscription are sent; null: at once. */
export interface Frequency {
  /** A cron expression of 7 fields as `events/cron.ts` writes it: equal ones mean the same. */
  readonly cron: string
  readonly start_at: Date
  readonly end_at: Date
}

export type SubscriptionState = 'live' | 'suspended' | 'ended'

/** Why a subscription has ended: taken back by its owner, by the operator, with its consent, at its end_time, or with the person's death. */
export type EndReason = 'unsubscribed' | 'cancelled' | 'consent' | 'expired' | 'death'

/** It was taken back: nothing more is sent of it, not even what happened before. */
export const TAKEN_BACK = ['unsubscribed', 'cancelled', 'consent'] as const satisfies readonly EndReason[]

/**
 * Why a subscription is suspended: its mailbox was closed, its filter cannot be read any more, or its participant may not
 * have it any more.
 */
export type SuspensionReason = 'undeliverable' | 'unreadable' | 'not_permitted'
