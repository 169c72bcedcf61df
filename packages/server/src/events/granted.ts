/** Whether a grant allows a subscription as it is stored: its event, its record type, and what its filter asks about. */
import { ItemRejection } from '@rollcall/protocol'
import { ALL, type Grant, QUERY_FORMS } from '../model/grant.ts'
import { isAboutSubject } from '../policy/basis.ts'
import { refusedSubscription } from '../policy/subscription.ts'
import { compileCriteria } from './criteria.ts'

/**
 * @param criteria canonical text of its criteria
 * @param purpose of its consent; null: it has none; undefined: it is asked for elsewhere
 */
export function isSubscriptionGranted(
  grant: Grant | null,
  criteria: string,
  purpose?: string | null,
): boolean {
  if (grant === null || (purpose !== undefined && !isConsentGranted(grant, purpose))) return false
  try {
    return refusedSubscription(grant, compileCriteria(grant.kind, criteria)) === null
  } catch (error) {
    // The filter asks about something that is not granted.
    if (error instanceof ItemRejection) return false
    throw error
  }
}

/** Whether the grant demands no consent, or allows its purpose. */
export const isConsentGranted = (grant: Pick<Grant, 'terms'>, purpose: string | null): boolean =>
  !isAboutSubject(grant) || (purpose !== null && (grant.terms.purposes ?? []).includes(purpose))

/** No filter asks about something that this grant does not have. */
export const asksEverything = ({ terms, identifiers, recordTypes, queryForms }: Grant): boolean =>
  terms.ask === ALL &&
  identifiers.types === null &&
  recordTypes === null &&
  queryForms.size === QUERY_FORMS.length
