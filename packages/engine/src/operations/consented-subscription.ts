/** Checks the signed consent of a subscription, unless the grant's basis is the law. The subscription ends with its consent. */

import type { SubscribeCriteria } from '@rollcall/core/events/criteria'
import { nextScheduledRuns } from '@rollcall/core/events/frequency'
import type { AuditedPurposeAndConsent, SubscriptionConsent } from '@rollcall/core/model/consent'
import type { Exchange } from '@rollcall/core/model/exchange'
import { type CriteriaConsentMembers, isLimitedToOnePerson, requiredConsentText } from '@rollcall/core/policy/basis'
import { ItemRejection } from '@rollcall/protocol'
import { findConsenterIdentifier, rejectOnConsentProblem, verifiedConsent } from './consented.ts'
import type { AnswerDeps } from './item.ts'

const CONSENT_PATH = 'subscribe_criteria.authorize.consent_jws'

/**
 * Returns the criteria of a subscription with the signed consent added, or unchanged when the basis of the grant is the law.
 * @throws ItemRejection rjct.notify_details.invalid: there is no signed consent; the consent is invalid, has ended, or is not
 * from the person in the filter; or it ends before the frequency has its first run, which is when notifications are sent
 */
export async function addConsentToCriteria(
  { deps, exchange }: { readonly deps: AnswerDeps; readonly exchange: Exchange },
  { authorize }: CriteriaConsentMembers,
  criteria: SubscribeCriteria,
  now: Date,
): Promise<SubscribeCriteria> {
  const { grant, participant } = exchange
  if (!isLimitedToOnePerson(grant)) return criteria
  const jws = authorize?.consent_jws
  if (jws === undefined) {
    throw subscriptionRejection(
      `${CONSENT_PATH}: is required here, ${requiredConsentText({ ...grant.terms, consent: 'signed' })}`,
    )
  }
  const { predicate, recordType } = criteria
  const [named, ...others] = predicate?.is === 'identifier' ? predicate.identifiers : []
  // An identifier of another type than the primary one may belong to several persons.
  if (named === undefined || others.length > 0 || named.type !== recordType.primary_identifier) {
    throw subscriptionRejection(
      `subscribe_criteria.filter: must name the person who consents by one ${recordType.primary_identifier}, and nothing else`,
    )
  }
  try {
    const signed = await verifiedConsent({ deps, exchange }, jws, CONSENT_PATH, now)
    const code = authorize?.purpose?.code
    if (code !== undefined && code !== signed.purpose) {
      throw subscriptionRejection('subscribe_criteria.authorize.purpose.code: must be that of the signed consent')
    }
    if (findConsenterIdentifier(grant, signed, [named]) === undefined) {
      throw subscriptionRejection(`${CONSENT_PATH}: is for another person than is asked for`)
    }
    const { expires_at } = signed
    const end_at = criteria.end_at === null || expires_at < criteria.end_at ? expires_at : criteria.end_at
    const frequency = criteria.frequency && { ...criteria.frequency, end_at }
    if (frequency !== null && nextScheduledRuns(frequency, exchange.registry.time_zone, now, 1).length === 0) {
      throw subscriptionRejection('subscribe_criteria.frequency.frequency: must have a run before the signed consent ends')
    }
    await rejectOnConsentProblem(CONSENT_PATH, () => deps.consents.use(signed, participant, named))
    const { authority, jti, purpose, attributes, given_at } = signed
    const consent: SubscriptionConsent = {
      participant: participant.id,
      purpose,
      attributes,
      authority: authority.name,
      signed: { authority: authority.id, jti, given_at, expires_at },
      pseudonyms: await deps.consents.pseudonyms([named]),
    }
    if (await deps.consents.isEnded(consent)) throw subscriptionRejection(`${CONSENT_PATH}: the consent does not hold any more`)
    return { ...criteria, consent, end_at, frequency }
  } catch (error) {
    throw error instanceof ItemRejection ? subscriptionRejection(error.message) : error
  }
}

/** The facts about the consent for the audit entry. */
export const consentFacts = ({ purpose, signed, authority }: SubscriptionConsent): AuditedPurposeAndConsent => ({
  purpose,
  consent: { form: 'signed', jti: signed.jti, authority },
})

const subscriptionRejection = (message: string): ItemRejection => new ItemRejection('rjct.notify_details.invalid', message)
