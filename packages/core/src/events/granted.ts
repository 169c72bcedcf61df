/** Decides whether a grant allows a stored subscription: its event type, its record type, its filter, its consent. */
import { ItemRejection } from '@rollcall/protocol'
import type { ConsentSummary } from '../model/consent.ts'
import { ALL_NAMES, type Grant, QUERY_FORMS } from '../model/grant.ts'
import { isConsentGranted } from '../policy/basis.ts'
import { findSubscriptionRefusal } from '../policy/subscription.ts'
import { readStoredCriteria } from './criteria.ts'

/**
 * True when the grant allows the subscription.
 * @param criteria the canonical text of the criteria
 * @param consent the consent of the subscription; null: it has none; undefined: this function does not check the consent
 */
export function isSubscriptionGranted(grant: Grant | null, criteria: string, consent?: ConsentSummary | null): boolean {
  if (grant === null || (consent !== undefined && !isConsentGranted(grant, consent))) return false
  try {
    return findSubscriptionRefusal(grant, readStoredCriteria(grant.kind, criteria)) === null
  } catch (error) {
    // The filter uses something that the grant does not allow.
    if (error instanceof ItemRejection) return false
    throw error
  }
}

/** True when the grant allows every filter that the registry supports, so that filters need not be judged. */
export const allowsEveryFilter = ({ terms, identifiers, recordTypes, queryForms }: Grant): boolean =>
  terms.ask === ALL_NAMES &&
  terms.unfiltered === true &&
  terms.minors !== 'never' &&
  identifiers.types === null &&
  recordTypes === null &&
  queryForms.size === QUERY_FORMS.length
