/** The rules for what an operator may agree with a participant about signing and encrypting. Pure functions. */

import { isDeepStrictEqual } from 'node:util'
import { type AllowedHost, hostsByName, hostsNotIn, MAX_ADDRESS_LENGTH } from '@rollcall/core/model/allowed-hosts'
import type { JournalAct } from '@rollcall/core/model/journal'
import { ENCRYPTION_POLICIES, type MessagePolicy, SIGNATURE_POLICIES } from '@rollcall/core/model/participant'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isTextStorable } from '@rollcall/database/text'
import { DEFAULT_SIGNATURE_PROFILE, profileProblem } from '@rollcall/protocol'

/** The policy of a new participant for which the operator gives none. */
export const DEFAULT_MESSAGE_POLICY: MessagePolicy = {
  signature_policy: 'required',
  allow_unsigned: false,
  signature_profile: DEFAULT_SIGNATURE_PROFILE,
  encryption_policy: 'allowed',
  jwks_uri: null,
  outgoing: [],
}

const MOST_ALLOWED_HOSTS = 100

/** Adds `allow_unsigned: false` to changes that give `signature_policy` without `allow_unsigned`. */
export function withAllowUnsignedDefault(changes: Partial<MessagePolicy>): Partial<MessagePolicy> {
  return { ...(changes.signature_policy !== undefined && { allow_unsigned: false }), ...changes }
}

/** Checks the message policy of a participant. @throws StoreRefusal with the first rule that is broken */
export function checkMessagePolicy(policy: MessagePolicy): void {
  const problem = messagePolicyProblem(policy)
  if (problem !== null) throw new StoreRefusal(problem)
}

function messagePolicyProblem(policy: MessagePolicy): string | null {
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
  if (jwks_uri !== null && !hasAddressForm(jwks_uri)) {
    return `jwks_uri is an absolute address of at most ${MAX_ADDRESS_LENGTH} characters`
  }
  const hosts = allowedHostsProblem(policy.outgoing)
  return hosts === null ? null : `outgoing: ${hosts}`
}

/** True when a text has the form of an address. The address guard checks the address when it is used. */
function hasAddressForm(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && isTextStorable(text) && /^https?:\/\//i.test(text) && URL.canParse(text)
}

/** Returns the first rule that a list of allowed hosts breaks, or null. */
export function allowedHostsProblem(rows: readonly AllowedHost[]): string | null {
  if (rows.length > MOST_ALLOWED_HOSTS) return `at most ${MOST_ALLOWED_HOSTS} hosts can be allowed`
  if (rows.some(({ ports }) => ports !== undefined && ports !== 'any' && !ports.every(isPort))) {
    return 'ports are whole numbers from 1 to 65535'
  }
  try {
    hostsByName(rows)
    return null
  } catch (error) {
    if (error instanceof TypeError) return error.message
    throw error
  }
}

const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535

type StricterPolicy = Pick<Extract<JournalAct, { readonly kind: 'policy_tightened' }>, 'policy' | 'hosts'>

/**
 * The part of a change that a restore must not undo: stricter policies, another signature profile, a changed or removed
 * `jwks_uri`, and hosts that are no longer allowed. Null when there is no such part. In the lists `SIGNATURE_POLICIES` and
 * `ENCRYPTION_POLICIES`, a stricter policy is before a weaker one.
 */
export function findStricterChanges(from: MessagePolicy, to: MessagePolicy): StricterPolicy | null {
  const { signature_policy, allow_unsigned, signature_profile, encryption_policy, jwks_uri } = to
  const isStricter =
    isListedBefore(SIGNATURE_POLICIES, signature_policy, from.signature_policy) || (from.allow_unsigned && !allow_unsigned)
  const policy = {
    ...(isStricter && { signature_policy, allow_unsigned }),
    ...(isListedBefore(ENCRYPTION_POLICIES, encryption_policy, from.encryption_policy) && { encryption_policy }),
    // No signature profile is stricter than another, so every change of it counts as a tightening.
    ...(!isDeepStrictEqual(signature_profile, from.signature_profile) && { signature_profile }),
    ...(from.jwks_uri !== null && jwks_uri !== from.jwks_uri && { jwks_uri }),
  }
  const hosts = hostsNotIn(from.outgoing, to.outgoing)
  return Object.keys(policy).length === 0 && hosts.length === 0 ? null : { policy, hosts }
}

/** True when `one` comes before `other` in the list. */
const isListedBefore = <Value>(values: readonly Value[], one: Value, other: Value): boolean =>
  values.indexOf(one) < values.indexOf(other)

/** The column values by which a message policy is stored. */
export function messagePolicyValues(policy: MessagePolicy) {
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
