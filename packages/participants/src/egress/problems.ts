/** Why a request to another system failed: a refused address, unusable credentials, or a failed request. */
import { MAX_ADDRESS_LENGTH } from '@rollcall/core/model/allowed-hosts'

/** The texts of the rules for addresses. Peers see them, so they do not say to which IP address a name resolved. */
const ADDRESS_RULE_TEXTS = {
  form: `the address must be an absolute address of at most ${MAX_ADDRESS_LENGTH} characters`,
  spelling: 'the host and port must be written in their usual form',
  scheme: 'the address must be https',
  userinfo: 'the address must not hold a user name or password',
  fragment: 'the address must not have a fragment',
  port: 'the port is not one that requests may be sent to',
  network: 'the address must be reachable on the public network',
} as const
export type AddressRule = keyof typeof ADDRESS_RULE_TEXTS

/** Advice to the operator when an address breaks a rule. Peers do not see these texts. */
const ADDRESS_REMEDIES: Partial<Readonly<Record<AddressRule, string>>> = {
  scheme: 'rollcall participant host allow with --plain-http permits http to that host',
  port: 'rollcall participant host allow with --port permits another port than 443 of that host',
  network:
    'rollcall participant host allow permits that host, with --private in a private network, with --loopback on this machine',
}

/** Says, for the operator, which rule an address breaks, and how to allow the address if that is possible. */
export const addressAdvice = ({ rule }: AddressRefused): string => {
  const remedy = ADDRESS_REMEDIES[rule]
  return remedy === undefined ? ADDRESS_RULE_TEXTS[rule] : `${ADDRESS_RULE_TEXTS[rule]}; ${remedy}`
}

/**
 * The guard refused an address, and opened no socket. It refuses the address again, unless the operator allows more, or
 * the host gets other IP addresses.
 */
export class AddressRefused extends Error {
  readonly rule: AddressRule
  /** The network of the address if it is the reason for the refusal. For our own log only. */
  readonly network: string | null

  constructor(rule: AddressRule, network: string | null = null) {
    super(ADDRESS_RULE_TEXTS[rule])
    this.name = 'AddressRefused'
    this.rule = rule
    this.network = network
  }
}

const REQUEST_FAILURE_TEXTS = {
  unresolved: 'the name of the host cannot be resolved',
  connection: 'the connection cannot be made, or it broke',
  timeout: 'the answer did not come in time',
  too_large: 'the answer is larger than allowed',
  encoded: 'the answer is compressed, which was not asked for',
} as const
export type RequestFailure = keyof typeof REQUEST_FAILURE_TEXTS

/** A request that was allowed has failed; another try may succeed. */
export class RequestFailed extends Error {
  readonly failure: RequestFailure
  /** The code of the system or library, such as `ECONNREFUSED`. For our own log only. */
  readonly detail: string | null

  constructor(failure: RequestFailure, detail: string | null = null) {
    super(REQUEST_FAILURE_TEXTS[failure])
    this.name = 'RequestFailed'
    this.failure = failure
    this.detail = detail
  }
}

const UNUSABLE_CREDENTIAL_TEXTS = {
  closed: 'the credentials for callbacks cannot be decrypted; set them anew',
  token: 'the token endpoint did not give an access token',
  certificate: 'the client certificate or its key cannot be used; set them anew',
} as const

/** The participant has credentials for callbacks, but they are unusable. Nothing is sent to it without them. */
export class CredentialsUnusable extends Error {
  override readonly name = 'CredentialsUnusable'
  readonly why: keyof typeof UNUSABLE_CREDENTIAL_TEXTS
  /** The cause of the failure, without any text of the peer. For our own log only. */
  readonly detail: string | null

  constructor(why: keyof typeof UNUSABLE_CREDENTIAL_TEXTS, detail: string | null = null) {
    super(UNUSABLE_CREDENTIAL_TEXTS[why])
    this.why = why
    this.detail = detail
  }
}

/** The code of an error of the system or of a library; null when it has none. */
export function errorCodeOf(error: unknown): string | null {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : null
  return typeof code === 'string' ? code : null
}
