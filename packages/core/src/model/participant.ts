/** A counterparty, known by its `sender_id`, and what is agreed with it about signing and encrypting. */
import type { SignatureProfile } from '@rollcall/protocol'
import type { AllowedHost } from './allowed-hosts.ts'
import type { Environment } from './environment.ts'

/**
 * `required`: every message is signed. `if-present`: one without a signature, or with a known placeholder, counts as
 * unsigned and is accepted; any other signature must verify. `off`: signatures are not checked (D18).
 */
export const SIGNATURE_POLICIES = ['required', 'if-present', 'off'] as const

export type SignaturePolicy = (typeof SIGNATURE_POLICIES)[number]

/** Whether messages are encrypted, to us and from us: always, as the other side asks, or never. */
export const ENCRYPTION_POLICIES = ['required', 'allowed', 'refused'] as const

export type EncryptionPolicy = (typeof ENCRYPTION_POLICIES)[number]

export interface MessagePolicy {
  readonly signature_policy: SignaturePolicy
  /** The operator's explicit permission; without it only the signature_policy `required` is accepted. */
  readonly allow_unsigned: boolean
  /** How it signs, and how we sign for it (D16). */
  readonly signature_profile: SignatureProfile
  readonly encryption_policy: EncryptionPolicy
  /** Where it publishes its keys; null: they are registered one by one (D19). */
  readonly jwks_uri: string | null
  /** Hosts that our requests to it may reach beyond https to the public network. */
  readonly outgoing: readonly AllowedHost[]
}

/** A counterparty, known by its `sender_id`. */
export interface Participant extends MessagePolicy {
  readonly id: number
  readonly sender_id: string
  /** What it names itself by to get a token; ours, not its own choice. */
  readonly client_id: string
  readonly name: string
  readonly status: 'active' | 'disabled'
  /** Records in a page that it may ask for; null: the server's limit. */
  readonly max_page_size: number | null
  /** Requests a second, on all nodes together, that it may send; null: the server's limit, Infinity: no limit. */
  readonly rate_limit: number | null
  /** Requests of it in flight at a time on one node; null: the server's limit, Infinity: no limit. */
  readonly concurrency_limit: number | null
  /** Subscriptions in all registries that it may have; null: the server's limit, Infinity: no limit. */
  readonly max_subscriptions: number | null
  /** Made by `rollcall demo`; a server that is not a demo refuses to run beside one. */
  readonly demo: boolean
  /** In which registries it may be granted something: those of the same environment. */
  readonly environment: Environment
}
