/** Reviews of the use of an emergency grant. A seal binds finding, operator and time to the audit entry. */

import { decryptConfidentialDetails, encryptConfidentialDetails } from './confidential.ts'
import type { ConfidentialKey } from './keys.ts'
import type { StoredEmergencyReview } from './store/entry-pages.ts'
import type { EntryPlace } from './store/evidence.ts'
import type { NewEmergencyReview } from './store/reviews.ts'
import { isSameTime } from './verify/chain.ts'

export interface EmergencyReviewDetails {
  readonly finding: string
  readonly reviewed_by: string
  /** The time of the review: RFC 3339 in UTC, with milliseconds. */
  readonly at: string
}

/** Makes the row of a review, with finding, operator and time encrypted in its seal. */
export const encryptEmergencyReview = (
  key: ConfidentialKey,
  place: EntryPlace,
  { finding, reviewed_by, at }: EmergencyReviewDetails,
): NewEmergencyReview => ({
  chain: place.chain,
  sequence: place.sequence,
  at,
  reviewed_by,
  sealed: encryptConfidentialDetails(key, place, { finding, reviewed_by, reviewed_at: at }),
})

/**
 * Decrypts a review; null when the row was altered, or its seal was not made with this key. The confidential details of the entry
 * decrypt with the key too, but are no review. `isBound`: the seal covers operator and time; seals of earlier versions cover the
 * finding alone.
 */
export function decryptEmergencyReview(
  key: ConfidentialKey,
  row: StoredEmergencyReview,
): (EmergencyReviewDetails & { readonly isBound: boolean }) | null {
  const { finding, reviewed_by, reviewed_at } = decryptConfidentialDetails(key, row, row.sealed) ?? {}
  if (finding === undefined) return null
  if (reviewed_by === undefined || reviewed_at === undefined) {
    const at = new Date(row.at)
    if (Number.isNaN(at.getTime())) return null
    return { finding, reviewed_by: row.reviewed_by, at: at.toISOString(), isBound: false }
  }
  if (reviewed_by !== row.reviewed_by || !isSameTime(row.at, reviewed_at)) return null
  return { finding, reviewed_by, at: reviewed_at, isBound: true }
}
