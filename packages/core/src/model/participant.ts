/** A participant: a counterparty, identified by its `sender_id`, and the agreed rules for signing and encrypting. */
import type { SignatureProfile } from '@rollcall/protocol'
import type { AllowedHost } from './allowed-hosts.ts'
import type { Environment } from './environment.ts'

/**
 * `required`: every message is signed. `if-present`: a message without a signature, or with a known placeholder, is
 * accepted as unsigned; any other signature must verify. `off`: signatures are not checked (D18).
 */
export const SIGNATURE_POLICIES = ['required', 'if-present', 'off'] as const

export type SignaturePolicy = (typeof SIGNATURE_POLICIES)[number]

/** Whether messages are encrypted, to us and from us: always, as the other side asks, or never. */
export const ENCRYPTION_POLICIES = ['required', 'allowed', 'refused'] as const

export type EncryptionPolicy = (typeof ENCRYPTION_POLICIES)[number]

export interface MessagePolicy {
  readonly signature_policy: SignaturePolicy
  /** The operator's explicit permission. Without it, only the signature_policy `required` is accepted. */
  readonly allow_unsigned: boolean
  /** The profile by which it signs, and by which we sign for it (D16). */
  readonly signature_profile: SignatureProfile
  readonly encryption_policy: EncryptionPolicy
  /** The address where it publishes its keys; null: its keys are registered one by one (D19). */
  readonly jwks_uri: string | null
  /** Hosts that our requests to it may reach beyond https to the public network. */
  readonly outgoing: readonly AllowedHost[]
}

export interface Participant extends MessagePolicy {
  readonly id: number
  readonly sender_id: string
  /** Its name in requests for tokens. We assign it. */
  readonly client_id: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  /** The largest page that it may ask for, in records; null: the server's limit. */
  readonly max_page_size: number | null
  /**
   * Requests a second that it may send, counted on all nodes together; null: the server's limit, Infinity: no limit.
   */
  readonly rate_limit: number | null
  /** Its requests in flight at a time on one node; null: the server's limit, Infinity: no limit. */
  readonly concurrency_limit: number | null
  /** Its subscriptions in all registries; null: the server's limit, Infinity: no limit. */
  readonly max_subscriptions: number | null
  /** `rollcall demo` made it. A server that is not a demo refuses to run on a database that has one. */
  readonly demo: boolean
  /** It can have grants only in registries of the same environment. */
  readonly environment: Environment
}
