/** Consents of persons, on which requests of participants are based (spec "SearchRequest"). */
import type { AuditedConsent } from './audit-entry.ts'

/** A consent that a registered authority has signed, and that was valid when it was verified. */
export interface SignedConsent {
  readonly authority: { readonly id: number; readonly name: string }
  readonly jti: string
  /** The person who consents, as the authority names the person. */
  readonly subject: { readonly identifier_type: string; readonly identifier_value: string }
  readonly purpose: string
  /** The names of what may be shown, as in `see` of a grant. */
  readonly attributes: readonly string[]
  readonly given_at: Date
  readonly expires_at: Date
}

/** The purpose and the consent of an item, for its audit entry. */
export interface AuditedPurposeAndConsent {
  readonly purpose?: string
  readonly consent?: AuditedConsent
}

/** The purpose of a consent, and who signed it. */
export interface ConsentSummary {
  readonly purpose: string
  /** The name of the authority; null when nobody signed the consent. */
  readonly authority: string | null
}

/** A use of a person's consent by a participant for a purpose, as it is stored. Persons are pseudonyms. */
export interface ConsentUse {
  readonly participant: number
  /** The pseudonyms of the consenting person's identifiers. */
  readonly pseudonyms: readonly Uint8Array[]
  readonly purpose: string
  /** Facts of the signed consent; null when the participant only asserts the consent. */
  readonly signed: {
    /** The id of the authority. */
    readonly authority: number
    readonly jti: string
    readonly given_at: Date
    readonly expires_at: Date
  } | null
}

/** A subscription's consent, which must be signed. */
export interface SubscriptionConsent extends ConsentUse {
  readonly signed: NonNullable<ConsentUse['signed']>
  /** The name of the authority. */
  readonly authority: string
  /** The names of what may be shown, as in `SignedConsent`. */
  readonly attributes: readonly string[]
}
