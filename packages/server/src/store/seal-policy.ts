/** What is agreed with a participant about sealing: what may be decided, and the rules of it. Pure. */
import { DEFAULT_SIGNATURE_PROFILE, profileProblem, type SignatureProfile } from '@rollcall/protocol'
import { type AllowedHost, allowedHosts } from '../allowed-hosts.ts'
import { StoreRefusal } from './refusal.ts'
import { isStorable } from './text.ts'

/**
 * `required`: every message is signed. `if-present`: one without a signature, or with a known placeholder, counts as
 * unsigned and is taken; any other signature must verify. `off`: signatures are not looked at (D18).
 */
export const SIGNATURE_POLICIES = ['required', 'if-present', 'off'] as const
export type SignaturePolicy = (typeof SIGNATURE_POLICIES)[number]

/** Whether messages are encrypted, to us and from us: always, as the other side asks, or never. */
export const ENCRYPTION_POLICIES = ['required', 'allowed', 'refused'] as const
export type EncryptionPolicy = (typeof ENCRYPTION_POLICIES)[number]

export interface SealPolicy {
  readonly signature_policy: SignaturePolicy
  /** The operator's explicit word, without which no signature_policy but `required` is taken. */
  readonly allow_unsigned: boolean
  /** How it signs, and how we sign for it (D16). */
  readonly signature_profile: SignatureProfile
  readonly encryption_policy: EncryptionPolicy
  /** Where it publishes its keys; null: they are registered one by one (D19). */
  readonly jwks_uri: string | null
  /** Hosts that our requests to it may reach beyond https to the public network. */
  readonly outgoing: readonly AllowedHost[]
}

export const DEFAULT_SEAL_POLICY: SealPolicy = {
  signature_policy: 'required',
  allow_unsigned: false,
  signature_profile: DEFAULT_SIGNATURE_PROFILE,
  encryption_policy: 'allowed',
  jwks_uri: null,
  outgoing: [],
}

const ADDRESS_LIMIT = 2048
const HOSTS_LIMIT = 100

/**
 * Changes as they are meant: a weak signature_policy has to be allowed in the same breath, and whoever goes on to
 * another one takes the permission back.
 */
export function meantChanges(changes: Partial<SealPolicy>): Partial<SealPolicy> {
  return { ...(changes.signature_policy !== undefined && { allow_unsigned: false }), ...changes }
}

/** @throws StoreRefusal for the first rule that is broken */
export function checkSealPolicy(policy: SealPolicy): void {
  const problem = sealPolicyProblem(policy)
  if (problem !== null) throw new StoreRefusal(problem)
}

function sealPolicyProblem(policy: SealPolicy): string | null {
  const { signature_policy, encryption_policy, allow_unsigned, jwks_uri } = policy
  if (!SIGNATURE_POLICIES.includes(signature_policy)) {
    return `signature_policy is one of ${SIGNATURE_POLICIES.join(', ')}`
  }
  if (signature_policy !== 'required' && !allow_unsigned) {
    return `signature_policy ${signature_policy} takes unsigned messages, so it needs allow_unsigned: true`
  }
  if (!ENCRYPTION_POLICIES.includes(encryption_policy)) {
    return `encryption_policy is one of ${ENCRYPTION_POLICIES.join(', ')}`
  }
  const profile = profileProblem(policy.signature_profile)
  if (profile !== null) return `signature_profile: ${profile}`
  if (jwks_uri !== null && !isAddress(jwks_uri)) {
    return `jwks_uri is an absolute address of at most ${ADDRESS_LIMIT} characters`
  }
  return outgoingProblem(policy.outgoing)
}

/** What the address guard thinks of it is asked when it is used; here it only has to be an address. */
function isAddress(text: string): boolean {
  return text.length <= ADDRESS_LIMIT && isStorable(text) && /^https?:\/\//i.test(text) && URL.canParse(text)
}

function outgoingProblem(rows: readonly AllowedHost[]): string | null {
  if (rows.length > HOSTS_LIMIT) return `outgoing: at most ${HOSTS_LIMIT} hosts can be allowed`
  if (rows.some(({ ports }) => ports !== undefined && ports !== 'any' && !ports.every(isPort))) {
    return 'outgoing: ports are whole numbers from 1 to 65535'
  }
  try {
    allowedHosts(rows)
    return null
  } catch (error) {
    if (error instanceof TypeError) return `outgoing: ${error.message}`
    throw error
  }
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535

/** The columns, as they are written. */
export function sealPolicyValues(policy: SealPolicy) {
  const { signature_policy, allow_unsigned, encryption_policy, jwks_uri, outgoing } = policy
  const { layout, canonical_form, digest_prefix, algorithms } = policy.signature_profile
  return {
    signature_policy,
    allow_unsigned,
    signature_profile: JSON.stringify({ layout, canonical_form, digest_prefix, algorithms }),
    encryption_policy,
    jwks_uri,
    outgoing: JSON.stringify(outgoing),
  }
}
