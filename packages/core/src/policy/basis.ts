/**
 * The consent and the authorization that a search item must have (spec "SearchRequest"; G8), where the grant demands
 * one.
 */
import { type Consent, ItemRejection, timestampInstant } from '@rollcall/protocol'
import type { GivenFor } from '../model/consent.ts'
import type { BASES, Grant } from '../model/grant.ts'
import type { AskedFacts } from '../model/outcome.ts'
import type { Predicate } from '../model/predicate.ts'

type Member = 'consent' | 'authorize'

/** The members of the criteria that may hold the consent, by the basis of the grant. */
const CONSENT_MEMBERS: Readonly<Record<(typeof BASES)[number], readonly Member[]>> = {
  law: [],
  consent: ['consent'],
  authorize: ['authorize'],
  either: ['consent', 'authorize'],
}

/** The code of the purpose by which an item asks for the emergency part of a grant. */
export const EMERGENCY = 'emergency'

/** A peer's clock may be this many seconds ahead of ours. */
export const CLOCK_SKEW = 60

/** The consent members of criteria. Their shape has been checked. */
export interface Consenting {
  readonly consent?: Consent
  readonly authorize?: Consent
}

/** The consent that criteria have. */
export interface GivenConsent {
  /** The path of the member, such as `search_criteria.consent`. */
  readonly at: string
  /** The code of the purpose; null when the member has none, and only the signed consent says it. */
  readonly purpose: string | null
  /** The signed consent, not verified yet; null when the participant only asserts the consent. */
  readonly jws: string | null
}

/**
 * Checks the consent of the criteria as far as the member itself states it. A signed consent may state its time and its
 * purpose inside; they are checked when it is verified.
 * @param name the path of the criteria, for messages
 * @param most the seconds that a consent may be old
 * @returns null: the grant demands no consent
 * @throws ItemRejection rjct.search_criteria.invalid; the text says which consent is needed
 */
export function checkBasis(
  { terms }: Pick<Grant, 'terms'>,
  criteria: Consenting,
  { now, most, name = 'search_criteria' }: { readonly now: Date; readonly most: number; readonly name?: string },
): GivenConsent | null {
  const members = CONSENT_MEMBERS[terms.basis]
  if (members.length === 0) return null
  const { purposes = [] } = terms
  const member = memberOf(members, criteria)
  const needed = describeConsent(terms)
  if (member === undefined) throw refused(`${name}.${members.join(' or ')}: is required here, ${needed}`)
  const at = `${name}.${member}`
  const { ts, purpose, consent_jws: jws = null } = criteria[member] ?? {}
  if (jws === null && terms.consent === 'signed') {
    throw refused(`${at}.consent_jws: is required here, ${needed}`)
  }
  const time = ts === undefined ? null : timestampInstant(ts)
  if (time === null && jws === null) throw refused(`${at}.ts: is required here, ${needed}`)
  if (time !== null) checkAge(`${at}.ts`, time, now, most)
  const code = purpose?.code ?? null
  if (jws === null || code !== null) checkPurpose(`${at}.purpose.code`, code, purposes)
  return { at, purpose: code, jws }
}

/**
 * Finds the member with the consent. A signed consent is also accepted in `authorize`, because other systems put it
 * there.
 */
function memberOf(members: readonly Member[], criteria: Consenting): Member | undefined {
  const signed = ([...members, 'authorize'] as const).find((name) => criteria[name]?.consent_jws !== undefined)
  return signed ?? members.find((name) => criteria[name] !== undefined)
}

/** Words for the consent that the grant demands, for messages. */
export function describeConsent({ purposes = [], consent, authorities }: Grant['terms']): string {
  if (consent !== 'signed') return `with ts and a purpose.code of ${purposes.join(', ')}`
  const by = authorities === undefined ? 'a registered consent authority' : authorities.join(' or ')
  return `a consent for ${purposes.join(' or ')} that ${by} has signed`
}

/** @throws ItemRejection */
export function checkAge(at: string, time: number, now: Date, most: number): void {
  const age = (now.getTime() - time) / 1_000
  if (age < -CLOCK_SKEW) throw refused(`${at}: must not be in the future`)
  if (age > most) throw refused(`${at}: must not be older than ${most / 86_400} days`)
}

/** @throws ItemRejection */
export function checkPurpose(at: string, code: string | null, purposes: readonly string[] = []): void {
  if (code === null || !purposes.includes(code)) {
    throw refused(`${at}: must be one of ${purposes.join(', ')}`)
  }
}

/**
 * The purpose and the form of consent for the audit entry of an item. Entries are kept for ever and a participant may
 * write any text as the code, so a code that the grant does not name is recorded as `other`.
 */
export function consentFacts({ terms }: Pick<Grant, 'terms'>, { consent, authorize }: Consenting): AskedFacts {
  const code = (authorize ?? consent)?.purpose?.code
  const known = [...(terms.purposes ?? []), EMERGENCY]
  return {
    ...(code !== undefined && { purpose: known.includes(code) ? code : 'other' }),
    ...(consent !== undefined && { consent: { form: 'asserted' } as const }),
  }
}

/** Whether the grant still accepts the purpose and the signer of a consent that was accepted before. */
export function isConsentGranted({ terms }: Pick<Grant, 'terms'>, consent: GivenFor | null): boolean {
  if (terms.basis === 'law') return true
  if (consent === null) return false
  const { purpose, authority } = consent
  if (purpose === EMERGENCY && terms.emergency !== undefined) return true
  if (!(terms.purposes ?? []).includes(purpose)) return false
  if (authority === null) return terms.consent !== 'signed'
  return terms.authorities?.includes(authority) ?? true
}

/** Whether the answer may show only the person who gave the consent. */
export const isAboutSubject = ({ terms }: Pick<Grant, 'terms'>): boolean => terms.basis !== 'law'

/**
 * @throws ItemRejection rjct.search_criteria.invalid: the query asks for several identifiers; at most one person
 * consents
 */
export function checkSubject(grant: Pick<Grant, 'terms'>, { predicate }: { readonly predicate: Predicate }): void {
  if (!isAboutSubject(grant)) return
  // One value may be given as an identifier of several types.
  if (predicate.is === 'identifier' && new Set(predicate.identifiers.map(({ value }) => value)).size === 1) return
  throw refused('search_criteria.query: must ask for one identifier, of the person who consents')
}

const refused = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
