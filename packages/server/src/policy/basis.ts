/** Consent and authority under which a search item asks (spec "SearchRequest"; G8), where a grant demands them. */
import { type Consent, ItemRejection, timestampInstant } from '@rollcall/protocol'
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

/** Seconds that the clock of a peer may be ahead of ours. */
export const AHEAD = 60

/** The criteria of a search item; both members have the documented shape. */
export interface Consenting {
  readonly consent?: Consent
  readonly authorize?: Consent
}

/**
 * @param most seconds that a consent may be old
 * @throws ItemRejection rjct.search_criteria.invalid; the text says which consent is needed
 */
export function checkBasis(
  { terms }: Pick<Grant, 'terms'>,
  criteria: Consenting,
  now: Date,
  most: number,
): void {
  const members = SAID[terms.basis]
  if (members.length === 0) return
  const { purposes = [] } = terms
  const member = members.find((name) => criteria[name] !== undefined)
  const needed = `with ts and a purpose.code of ${purposes.join(', ')}`
  if (member === undefined)
    throw refused(`search_criteria.${members.join(' or ')}: is required here, ${needed}`)
  const { ts, purpose } = criteria[member] ?? {}
  const at = ts === undefined ? null : timestampInstant(ts)
  if (at === null) throw refused(`search_criteria.${member}.ts: is required here, ${needed}`)
  const age = (now.getTime() - at) / 1_000
  if (age < -AHEAD) throw refused(`search_criteria.${member}.ts: must not be in the future`)
  if (age > most) throw refused(`search_criteria.${member}.ts: must not be older than ${most / 86_400} days`)
  if (purpose?.code === undefined || !purposes.includes(purpose.code)) {
    throw refused(`search_criteria.${member}.purpose.code: must be one of ${purposes.join(', ')}`)
  }
}

/** What an account says of the consent and the authority of an item. */
export function consentedBy({ consent, authorize }: Consenting): AskedFacts {
  const { purpose } = authorize ?? consent ?? {}
  return {
    ...(purpose?.code !== undefined && { purpose: purpose.code }),
    ...(consent !== undefined && { consent: { form: 'asserted' } as const }),
  }
}

/** Whether the answer may be about one person alone: the one whose consent it is. */
export const isAboutSubject = ({ terms }: Pick<Grant, 'terms'>): boolean => terms.basis !== 'law'

/** @throws ItemRejection rjct.search_criteria.invalid: several identifiers, of which one at most is the consenting person's */
export function checkSubject(
  grant: Pick<Grant, 'terms'>,
  { predicate }: { readonly predicate: Predicate },
): void {
  if (!isAboutSubject(grant)) return
  // One value may be asked for as an identifier of any type.
  if (predicate.is === 'identifier' && new Set(predicate.identifiers.map(({ value }) => value)).size === 1)
    return
  throw refused('search_criteria.query: must ask for one identifier, of the person who consents')
}

const refused = (message: string): ItemRejection => new ItemRejection('rjct.search_criteria.invalid', message)
