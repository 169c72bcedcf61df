/** Consent and authority under which is asked (spec "SearchRequest"; G8), where a grant demands them. */
import { type Consent, ItemRejection, timestampInstant } from '@rollcall/protocol'
import type { GivenFor } from '../model/consent.ts'
import type { BASES, Grant } from '../model/grant.ts'
import type { AskedFacts } from '../model/outcome.ts'
import type { Predicate } from '../model/predicate.ts'

type Member = 'consent' | 'authorize'

/** Which members say it, by the basis of the grant. */
const SAID: Readonly<Record<(typeof BASES)[number], readonly Member[]>> = {
  law: [],
  consent: ['consent'],
  authorize: ['authorize'],
  either: ['consent', 'authorize'],
}

/** The code of the purpose by which an item asks for the emergency part of a grant. */
export const EMERGENCY = 'emergency'

/** Seconds that the clock of a peer may be ahead of ours. */
export const AHEAD = 60

/** Criteria; both members have the documented shape. */
export interface Consenting {
  readonly consent?: Consent
  readonly authorize?: Consent
}

/** The consent that criteria have. */
export interface GivenConsent {
  /** Where it stands, such as `search_criteria.consent`. */
  readonly at: string
  /** Its code; null where only the signed consent says it. */
  readonly purpose: string | null
  /** The signed consent, not verified yet; null: it is what the participant says. */
  readonly jws: string | null
}

/**
 * The consent of the criteria, in order as far as the participant says it. A signed one says its time and its purpose itself.
 * @param name of the criteria
 * @param most seconds that a consent may be old
 * @returns null: the grant demands none
 * @throws ItemRejection rjct.search_criteria.invalid; the text says which consent is needed
 */
export function checkBasis(
  { terms }: Pick<Grant, 'terms'>,
  criteria: Consenting,
  { now, most, name = 'search_criteria' }: { readonly now: Date; readonly most: number; readonly name?: string },
): GivenConsent | null {
  const members = SAID[terms.basis]
  if (members.length === 0) return null
  const { purposes = [] } = terms
  const member = memberOf(members, criteria)
  const needed = neededFor(terms)
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

/** A signed consent stands in `authorize` as well, where other systems have it. */
function memberOf(members: readonly Member[], criteria: Consenting): Member | undefined {
  const signed = ([...members, 'authorize'] as const).find((name) => criteria[name]?.consent_jws !== undefined)
  return signed ?? members.find((name) => criteria[name] !== undefined)
}

/** Of which kind the consent must be. */
export function neededFor({ purposes = [], consent, authorities }: Grant['terms']): string {
  if (consent !== 'signed') return `with ts and a purpose.code of ${purposes.join(', ')}`
  const by = authorities === undefined ? 'a registered consent authority' : authorities.join(' or ')
  return `a consent for ${purposes.join(' or ')} that ${by} has signed`
}

/** @throws ItemRejection */
export function checkAge(at: string, time: number, now: Date, most: number): void {
  const age = (now.getTime() - time) / 1_000
  if (age < -AHEAD) throw refused(`${at}: must not be in the future`)
  if (age > most) throw refused(`${at}: must not be older than ${most / 86_400} days`)
}

/** @throws ItemRejection */
export function checkPurpose(at: string, code: string | null, purposes: readonly string[] = []): void {
  if (code === null || !purposes.includes(code)) {
    throw refused(`${at}: must be one of ${purposes.join(', ')}`)
  }
}

/**
 * What an account says of the consent and the authority of an item. An account is for ever, and the code is what a participant
 * writes: only one that the grant names is in it, or that of emergencies.
 */
export function consentedBy({ terms }: Pick<Grant, 'terms'>, { consent, authorize }: Consenting): AskedFacts {
  const code = (authorize ?? consent)?.purpose?.code
  const known = [...(terms.purposes ?? []), EMERGENCY]
  return {
    ...(code !== undefined && { purpose: known.includes(code) ? code : 'other' }),
    ...(consent !== undefined && { consent: { form: 'asserted' } as const }),
  }
}

/** Whether a grant takes a consent that was taken before, and holds: its purpose, and who signed it. */
export function isConsentGranted({ terms }: Pick<Grant, 'terms'>, consent: GivenFor | null): boolean {
  if (terms.basis === 'law') return true
  if (consent === null) return false
  const { purpose, authority } = consent
  if (purpose === EMERGENCY && terms.emergency !== undefined) return true
  if (!(terms.purposes ?? []).includes(purpose)) return false
  if (authority === null) return terms.consent !== 'signed'
  return terms.authorities?.includes(authority) ?? true
}

/** Whether the answer may be about one person alone: the one whose consent it is. */
export const isAboutSubject = ({ terms }: Pick<Grant, 'terms'>): boolean => terms.basis !== 'law'

/** @throws ItemRejection rjct.search_criteria.invalid: several identifiers, of which one at most is the consenting person's */
export function checkSubject(grant: Pick<Grant, 'terms'>, { predicate }: { readonly predicate: Predicate }): void {
  if (!isAboutSubject(grant)) return
  // One value may be asked for as an identifier of any type.
  if (predicate.is === 'identifier' && new Set(predicate.identifiers.map(({ value }) => value)).size === 1) return
  throw refused('search_criteria.query: must ask for one identifier, of the person who consents')
}

const refused = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
