/** A participant: a system that asks us or is called by us, with its `sender_id` and the rules for signatures and encryption. */
import type { SignatureProfile } from '@rollcall/protocol'
import type { AllowedHost } from './allowed-hosts.ts'
import type { Environment } from './environment.ts'

/**
 * `required`: every message must be signed. `if-present`: a message with no signature, or with a placeholder such as `unsigned`,
 * is accepted as unsigned; any other signature must be valid. `off`: signatures are not checked (D18). The strictest comes first.
 */
export const SIGNATURE_POLICIES = ['required', 'if-present', 'off'] as const

export type SignaturePolicy = (typeof SIGNATURE_POLICIES)[number]

/**
 * `required`: messages in both directions are encrypted. `allowed`: the participant may encrypt a request, and then the
 * answer is encrypted too. `refused`: no message is encrypted. The strictest comes first.
 */
export const ENCRYPTION_POLICIES = ['required', 'allowed', 'refused'] as const

export type EncryptionPolicy = (typeof ENCRYPTION_POLICIES)[number]

export interface MessagePolicy {
  readonly signature_policy: SignaturePolicy
  /** The operator's explicit permission for unsigned messages. Without it, signature_policy must be `required`. */
  readonly allow_unsigned: boolean
  /** The signature profile of the participant's messages and of ours to it (D16). */
  readonly signature_profile: SignatureProfile
  readonly encryption_policy: EncryptionPolicy
  /** The address at which the participant publishes its keys; null when its keys are registered one by one (D19). */
  readonly jwks_uri: string | null
  /** The hosts to which our requests for the participant may go, besides public hosts with https. */
  readonly outgoing: readonly AllowedHost[]
}

export interface Participant extends MessagePolicy {
  readonly id: number
  readonly sender_id: string
  /** The name that we gave the participant for its token requests. */
  readonly client_id: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  /** The largest page that the participant may ask for, in records; null for the server's limit. */
  readonly max_page_size: number | null
  /** The most requests in a second, on all nodes together; null for the server's limit, Infinity for no limit. */
  readonly rate_limit: number | null
  /** The most requests at the same time on one node; null for the server's limit, Infinity for no limit. */
  readonly concurrency_limit: number | null
  /** The most subscriptions of the participant in all registries; null for the server's limit, Infinity for no limit. */
  readonly max_subscriptions: number | null
  /** True when `rollcall demo` made the participant. Only a demo server runs on a database that has one. */
  readonly demo: boolean
  /** The environment. A participant can have grants only in registries of the same environment. */
  readonly environment: Environment
}
