/** Whether a grant allows a subscription as it is stored: its event, its record type, and what its filter asks about. */
import { ItemRejection } from '@rollcall/protocol'
import type { GivenFor } from '../model/consent.ts'
import { ALL, type Grant, QUERY_FORMS } from '../model/grant.ts'
import { isConsentGranted } from '../policy/basis.ts'
import { refusedSubscription } from '../policy/subscription.ts'
import { compileCriteria } from './criteria.ts'

/**
 * @param criteria canonical text of its criteria
 * @param consent its own; null: it has none; undefined: it is asked for elsewhere
 */
export function isSubscriptionGranted(grant: Grant | null, criteria: string, consent?: GivenFor | null): boolean {
  if (grant === null || (consent !== undefined && !isConsentGranted(grant, consent))) return false
  try {
    return refusedSubscription(grant, compileCriteria(grant.kind, criteria)) === null
  } catch (error) {
    // The filter asks about something that is not granted.
    if (error instanceof ItemRejection) return false
    throw error
  }
}

/** No filter asks about something that this grant does not have. */
export const asksEverything = ({ terms, identifiers, recordTypes, queryForms }: Grant): boolean =>
  terms.ask === ALL && identifiers.types === null && recordTypes === null && queryForms.size === QUERY_FORMS.length
