/**
 * Checks the consent or authorization of a search item, or of a question about one person, when the grant requires one
 * (spec "SearchRequest").
 */
import { type Consent, ItemRejection, timestampInstant } from '@rollcall/protocol'
import type { ConsentSummary } from '../model/consent.ts'
import type { GRANT_BASES, Grant } from '../model/grant.ts'
import type { RequestItemAuditFacts } from '../model/outcome.ts'
import type { Predicate } from '../model/predicate.ts'
import { mayComeFromOneQueryValue } from '../query/person-criteria.ts'

type ConsentMemberName = 'consent' | 'authorize'

/** For each basis of a grant, the members of the criteria that may have an unsigned consent. */
const CONSENT_MEMBERS: Readonly<Record<(typeof GRANT_BASES)[number], readonly ConsentMemberName[]>> = {
  law: [],
  consent: ['consent'],
  authorize: ['authorize'],
  either: ['consent', 'authorize'],
}

/** The purpose code by which an item asks for the emergency part of a grant. */
export const EMERGENCY_PURPOSE = 'emergency'

/** Seconds by which a peer's clock may be ahead of ours. */
export const CLOCK_SKEW_SECONDS = 60

/** The members of criteria that may have a consent; their schema was checked. */
export interface CriteriaConsentMembers {
  readonly consent?: Consent
  readonly authorize?: Consent
}

/** The consent that the criteria of an item have. */
export interface ConsentInCriteria {
  /** The path of the member that has the consent, such as `search_criteria.consent`. */
  readonly at: string
  /** The code of the consent's purpose; null when only the signed consent states the purpose. */
  readonly purpose: string | null
  /** The signed consent, not verified yet; null when the participant only states the consent. */
  readonly jws: string | null
}

/**
 * Checks that the criteria have the consent that the grant requires, and that the grant accepts the time and the purpose of this
 * consent. A signed consent may have its time and purpose in its signed text alone: they are checked when it is verified.
 * @param options.name the path of the criteria, for messages
 * @param options.most the largest age of a consent in seconds
 * @returns null when the grant requires no consent
 * @throws ItemRejection rjct.search_criteria.invalid; the text says what is needed
 */
export function checkConsentGiven(
  { terms }: Pick<Grant, 'terms'>,
  criteria: CriteriaConsentMembers,
  { now, most, name = 'search_criteria' }: { readonly now: Date; readonly most: number; readonly name?: string },
): ConsentInCriteria | null {
  const members = CONSENT_MEMBERS[terms.basis]
  if (members.length === 0) return null
  const { purposes = [] } = terms
  const member = findConsentMember(members, criteria)
  const needed = requiredConsentText(terms)
  if (member === undefined) throw searchCriteriaRejection(`${name}.${members.join(' or ')}: is required here, ${needed}`)
  const at = `${name}.${member}`
  const { ts, purpose, consent_jws: jws = null } = criteria[member] ?? {}
  const other = criteria.authorize?.consent_jws
  if (jws !== null && other !== undefined && other !== jws) {
    throw searchCriteriaRejection(`${name}.authorize.consent_jws: must not differ from that of consent; give one signed consent`)
  }
  if (jws === null && terms.consent === 'signed') {
    throw searchCriteriaRejection(`${at}.consent_jws: is required here, ${needed}`)
  }
  const time = ts === undefined ? null : timestampInstant(ts)
  if (time === null && jws === null) throw searchCriteriaRejection(`${at}.ts: is required here, ${needed}`)
  if (time !== null) checkConsentAge(`${at}.ts`, time, now, most)
  const code = purpose?.code ?? null
  if (jws === null || code !== null) checkPurposeGranted(`${at}.purpose.code`, code, purposes)
  return { at, purpose: code, jws }
}

/** The member that has the consent. A signed consent is also accepted in `authorize`, where other systems write it. */
function findConsentMember(
  members: readonly ConsentMemberName[],
  criteria: CriteriaConsentMembers,
): ConsentMemberName | undefined {
  const signed = ([...members, 'authorize'] as const).find((name) => criteria[name]?.consent_jws !== undefined)
  return signed ?? members.find((name) => criteria[name] !== undefined)
}

/** Describes the consent that the grant requires, for messages. */
export function requiredConsentText({ purposes = [], consent, authorities }: Grant['terms']): string {
  if (consent !== 'signed') return `with ts and a purpose.code of ${purposes.join(', ')}`
  const by = authorities === undefined ? 'a registered consent authority' : authorities.join(' or ')
  return `a consent for ${purposes.join(' or ')} that ${by} has signed`
}

/**
 * Checks that a time is at most CLOCK_SKEW_SECONDS in the future and at most `most` seconds old.
 * @param at the path of the member with the time, for messages
 * @param time milliseconds
 * @throws ItemRejection
 */
export function checkConsentAge(at: string, time: number, now: Date, most: number): void {
  const age = (now.getTime() - time) / 1_000
  if (age < -CLOCK_SKEW_SECONDS) throw searchCriteriaRejection(`${at}: must not be in the future`)
  if (age > most) throw searchCriteriaRejection(`${at}: must not be older than ${most / 86_400} days`)
}

/** Checks that the grant allows the purpose. @throws ItemRejection */
export function checkPurposeGranted(at: string, code: string | null, purposes: readonly string[] = []): void {
  if (code === null || !purposes.includes(code)) {
    throw searchCriteriaRejection(`${at}: must be one of ${purposes.join(', ')}`)
  }
}

/**
 * The purpose of an item, and whether the item has a `consent`, for its audit entry. A purpose that the grant does not name
 * (except `emergency`) is written as `other`: entries are stored for years, and a participant could send any text as a purpose.
 */
export function consentFactsForAudit(
  { terms }: Pick<Grant, 'terms'>,
  { consent, authorize }: CriteriaConsentMembers,
): RequestItemAuditFacts {
  const code = (authorize ?? consent)?.purpose?.code
  const known = [...(terms.purposes ?? []), EMERGENCY_PURPOSE]
  return {
    ...(code !== undefined && { purpose: known.includes(code) ? code : 'other' }),
    ...(consent !== undefined && { consent: { form: 'asserted' } as const }),
  }
}

/**
 * True when the grant still accepts the purpose and the signer of a consent that was accepted before.
 * @param consent null when there is no consent: true then only for the basis `law`
 */
export function isConsentGranted({ terms }: Pick<Grant, 'terms'>, consent: ConsentSummary | null): boolean {
  if (terms.basis === 'law') return true
  if (consent === null) return false
  const { purpose, authority } = consent
  if (purpose === EMERGENCY_PURPOSE && terms.emergency !== undefined) return true
  if (!(terms.purposes ?? []).includes(purpose)) return false
  if (authority === null) return terms.consent !== 'signed'
  return terms.authorities?.includes(authority) ?? true
}

/** True when an answer may show one person only: who consents, or whom an emergency is about. */
export const isLimitedToOnePerson = ({ terms }: Pick<Grant, 'terms'>): boolean => terms.basis !== 'law'

/**
 * Checks that a query under a consent asks for one identifier only. Whose identifier this is, is not checked here.
 * @throws ItemRejection
 */
export function checkAsksForOnePerson(
  grant: Pick<Grant, 'terms' | 'kind'>,
  { predicate }: { readonly predicate: Predicate },
): void {
  if (!isLimitedToOnePerson(grant)) return
  // A query by one value passes, even when the value may be an identifier of several types.
  if (predicate.is === 'identifier' && mayComeFromOneQueryValue(grant.kind, predicate.identifiers)) return
  throw searchCriteriaRejection('search_criteria.query: must ask for one identifier, of the person who consents')
}

const searchCriteriaRejection = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
