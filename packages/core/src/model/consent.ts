/** The consents of persons under which participants ask (spec "SearchRequest", G8). */
import type { AuditedConsent } from './audit-entry.ts'

/** A consent that a registered authority signed, and that is valid now. */
export interface SignedConsent {
  readonly authority: { readonly id: number; readonly name: string }
  readonly jti: string
  /** The person who consents, as the authority names the person. */
  readonly subject: { readonly identifier_type: string; readonly identifier_value: string }
  readonly purpose: string
  /** The names of what may be shown, as in the `see` of a grant. */
  readonly attributes: readonly string[]
  readonly given_at: Date
  readonly expires_at: Date
}

/** The part of an audit entry about the consent of an item. */
export interface ConsentFacts {
  readonly purpose?: string
  readonly consent?: AuditedConsent
}

/** The purpose of a consent, and its signer. */
export interface GivenFor {
  readonly purpose: string
  /** The name of the authority; null: nobody signed the consent. */
  readonly authority: string | null
}

/** The consent of a person to a participant for a purpose, as the store finds it. Persons are pseudonyms. */
export interface ConsentUse {
  readonly participant: number
  /** Pseudonyms of the identifiers of the person who consents. */
  readonly pseudonyms: readonly Uint8Array[]
  readonly purpose: string
  /** Null: the participant asserts the consent, and nobody signed it. */
  readonly signed: {
    /** `SignedConsent.authority.id` */
    readonly authority: number
    readonly jti: string
    readonly given_at: Date
    readonly expires_at: Date
  } | null
}

/** The signed consent of a subscription. */
export interface SubscriptionConsent extends ConsentUse {
  readonly signed: NonNullable<ConsentUse['signed']>
  /** The name of its authority. */
  readonly authority: string
  /** `SignedConsent.attributes` */
  readonly attributes: readonly string[]
}
