/** Consents under which participants ask (spec "SearchRequest", G8). */
import type { AccountedConsent } from './account.ts'

/** A consent that a registered authority signed, and that holds now. */
export interface SignedConsent {
  readonly authority: { readonly id: number; readonly name: string }
  readonly jti: string
  /** As the authority names the person who consents. */
  readonly subject: { readonly identifier_type: string; readonly identifier_value: string }
  readonly purpose: string
  /** Names of what may be shown, as in the `see` of a grant. */
  readonly attributes: readonly string[]
  readonly given_at: Date
  readonly expires_at: Date
}

/** What an account says of the consent under which an item is asked. */
export interface ConsentFacts {
  readonly purpose?: string
  readonly consent?: AccountedConsent
}

/** For what a consent was given, and who signed it. */
export interface GivenFor {
  readonly purpose: string
  /** Name of the authority; null: nobody signed it. */
  readonly authority: string | null
}

/** The consent of a person for a purpose to a participant, as it is looked up: persons are pseudonyms. */
export interface ConsentUse {
  readonly participant: number
  /** Of identifiers of the person who consents. */
  readonly pseudonyms: readonly Uint8Array[]
  readonly purpose: string
  /** Null: the participant asserts it, and nobody signed it. */
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
  /** Name of its authority. */
  readonly authority: string
  /** `SignedConsent.attributes` */
  readonly attributes: readonly string[]
}
