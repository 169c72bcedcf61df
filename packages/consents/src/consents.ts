/** Verifies signed consents, stores their first use, and finds out whether a consent has ended. Operations use it. */

import type { Clock } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { MakePseudonyms } from '@rollcall/core/model/audit-entry'
import type { ConsentUse, SignedConsent } from '@rollcall/core/model/consent'
import type { Identifier } from '@rollcall/core/model/records'
import type { Database } from '@rollcall/database/database'
import { type ConsentClaims, identifierValue, type Kind, resolveIdentifierType } from '@rollcall/protocol'
import type { AuthorityKeyFinder } from './authority-keys.ts'
import { findAuthority } from './store/authorities.ts'
import { isConsentEnded, noteFirstConsentUse } from './store/consent-uses.ts'
import { ConsentProblem, type RequestUnderConsent, verifyConsent } from './verify.ts'

export interface ConsentChecks {
  /** Verifies a signed consent. The settings of the authority are at most half a second old. @throws ConsentProblem */
  verify(jws: string, scope: RequestUnderConsent): Promise<SignedConsent>
  /**
   * Stores the participant and the person of the first use of a signed consent, and compares each later use with them.
   * @throws ConsentProblem it was first used by another participant, or for another person
   */
  use(signed: SignedConsent, participant: { readonly id: number }, subject: Identifier): Promise<void>
  /** True when the consent was withdrawn or revoked, has expired, or its authority was removed. Each call asks the database. */
  isEnded(use: ConsentUse): Promise<boolean>
  pseudonyms: MakePseudonyms
}

export function createConsentChecks(
  db: Pick<Database, 'pool'>,
  deps: { readonly keys: AuthorityKeyFinder; readonly pseudonyms: MakePseudonyms; readonly clock: Pick<Clock, 'now'> },
): ConsentChecks {
  const { keys, pseudonyms, clock } = deps
  const authorities = createShortLivedCache((name) => findAuthority(db, name), { now: clock.now })
  return {
    pseudonyms,
    async verify(jws, scope) {
      const { authority, claims } = await verifyConsent(jws, scope, { keys, authorityNamed: authorities.get })
      return consentFromClaims(authority, claims)
    },
    async use({ authority, jti, given_at, expires_at }, participant, subject) {
      const [pseudonym] = await pseudonyms([subject])
      if (pseudonym === undefined) throw new Error('unreachable: one identifier has one pseudonym')
      const signed = { authority: authority.id, jti, given_at, expires_at }
      const first = await noteFirstConsentUse(db, signed, { participant: participant.id, pseudonym })
      if (Buffer.compare(first.pseudonym, pseudonym) !== 0) {
        throw new ConsentProblem('jti: names a consent of another person')
      }
      if (first.participant !== participant.id) {
        throw new ConsentProblem('was used by another participant before')
      }
    },
    isEnded: (use) => isConsentEnded(db, use),
  }
}

const consentFromClaims = (
  { id, name }: SignedConsent['authority'],
  { jti, subject, purpose, attributes, iat, exp }: ConsentClaims,
): SignedConsent => ({
  authority: { id, name },
  jti,
  subject,
  purpose: purpose.code,
  attributes,
  given_at: new Date(iat * 1_000),
  expires_at: new Date(exp * 1_000),
})

/**
 * The person whom a consent names, as an identifier of the kind. Null when the kind does not list the identifier type: unlisted
 * identifiers are compared without their type, so another person could fit. Null also when the value is not valid for the type.
 */
export function consentSubjectOf(kind: Kind, { subject }: Pick<SignedConsent, 'subject'>): Identifier | null {
  const type = resolveIdentifierType(kind, subject.identifier_type)
  const value = type === undefined ? null : identifierValue(type, subject.identifier_value)
  return type === undefined || value === null ? null : { type: type.name, value }
}
