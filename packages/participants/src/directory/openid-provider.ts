/**
 * Lets operators sign in at a provider of OpenID Connect: authorization code flow with PKCE, state and nonce, all three
 * derived from one secret in the operator's browser. The server stores nothing before a sign-in has succeeded.
 */
import { createHash, createHmac } from 'node:crypto'
import { hostWithoutBrackets } from '@rollcall/core/model/allowed-hosts'
import { OPENID_NAME_PREFIX, type OperatorRole } from '@rollcall/core/model/operator'
import type { Log } from '@rollcall/observe/log'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  PrivateKeyJwt,
} from 'openid-client'
import { type AddressGuard, createAddressGuard } from '../egress/address-guard.ts'
import { AddressRefused, RequestFailed } from '../egress/problems.ts'
import type { OpenIdOperator } from '../store/sessions.ts'
import type { OpenIdClientKey } from './openid-client-key.ts'
import { newSecret } from './secrets.ts'

/** The credential with which we prove to the provider who we are. */
export type OpenIdClientCredential = { readonly secret: string } | OpenIdClientKey

export interface OpenIdSettings {
  readonly issuer: string
  readonly client_id: string
  readonly credential: OpenIdClientCredential
  /** For each value of the claim `role_claim`, the roles that the operator gets in Rollcall. */
  readonly roles: ReadonlyMap<string, readonly OperatorRole[]>
  /** The claim of the ID token with the roles at the provider: its name, or a path with dots. */
  readonly role_claim: string
  /** The claim with the operator's name, which the audit log has with each act. */
  readonly name_claim: string
  /** The claim with the namespaces of the registries for which the operator may act; null: all may act for all. */
  readonly registry_claim: string | null
  readonly scope: string
  /** The name of the provider on the button of the sign-in page. */
  readonly title: string
  /** The address to which the provider sends the browser back. */
  readonly redirect_uri: string
}

/** A sign-in was refused. The message is shown to the person. */
export class OpenIdRefused extends Error {
  override readonly name = 'OpenIdRefused'
}

/** The provider does not answer, so nobody was refused. */
export class OpenIdUnavailable extends OpenIdRefused {
  constructor() {
    super('the provider of OpenID Connect does not answer; try again later')
  }
}

const UNCONFIRMED_MESSAGE = 'the provider of OpenID Connect did not confirm who you are; sign in again'

/** An operator who has signed in at the provider. The registries are namespaces, as the provider names them. */
export interface OperatorFromProvider extends Omit<OpenIdOperator, 'registries'> {
  /** The namespaces of the registries for which the operator may act; null: all registries. */
  readonly registries: readonly string[] | null
}

export interface OpenIdProvider {
  readonly title: string
  /**
   * Begins a sign-in.
   * @returns the address to which the browser goes, and the secret that the browser keeps until it comes back
   * @throws OpenIdUnavailable the configuration of the provider cannot be fetched, or lacks a usable authorization_endpoint
   */
  begin(): Promise<{ readonly address: string; readonly secret: string }>
  /**
   * Ends a sign-in.
   * @param query the query of the address to which the browser came back
   * @returns the operator
   * @throws OpenIdUnavailable
   * @throws OpenIdRefused the provider does not confirm the sign-in, or its claims lack a usable name, role or registry
   */
  operatorOf(secret: string, query: string): Promise<OperatorFromProvider>
  close(): Promise<void>
}

/** Derives a value from the secret for one use. The value reveals neither the secret nor the other values. */
const deriveSignInValue = (secret: string, use: 'state' | 'nonce' | 'verifier'): string =>
  createHmac('sha256', secret).update(use).digest('base64url')

export function createOpenIdProvider(settings: OpenIdSettings, { log }: { readonly log: Pick<Log, 'warn'> }): OpenIdProvider {
  const issuer = new URL(settings.issuer)
  const plainHttp = issuer.protocol === 'http:'
  // The operator configured the host of the provider, so it may be in a private network.
  const guard = createAddressGuard({
    allowed: [{ host: hostWithoutBrackets(issuer), ports: 'any', loopback: true, private: true, plainHttp }],
  })
  const options = {
    execute: [enableNonRepudiationChecks, ...(plainHttp ? [allowInsecureRequests] : [])],
    [customFetch]: createGuardedFetch(guard),
  }
  let known: Promise<Configuration> | undefined
  const configuration = (): Promise<Configuration> => {
    const { client_id, credential } = settings
    known ??= (
      'secret' in credential
        ? discovery(issuer, client_id, credential.secret, undefined, options)
        : discovery(issuer, client_id, undefined, PrivateKeyJwt(credential), options)
    ).then((found) => {
      // Building an address throws an error if the provider has no usable authorization_endpoint.
      buildAuthorizationUrl(found, {})
      return found
    })
    // A failed discovery is not cached: the next sign-in asks the provider again.
    known.catch(() => {
      known = undefined
    })
    return known
  }
  const logged = (error: unknown, refusal: OpenIdRefused): OpenIdRefused => {
    log.warn({ provider: settings.issuer, problem: errorCodeOrName(error) }, 'a sign-in at the provider failed')
    return refusal
  }

  return {
    title: settings.title,
    async begin() {
      const { secret } = newSecret()
      const known = await configuration().catch((error: unknown) => {
        throw logged(error, new OpenIdUnavailable())
      })
      const { href } = buildAuthorizationUrl(known, {
        redirect_uri: settings.redirect_uri,
        scope: settings.scope,
        response_type: 'code',
        state: deriveSignInValue(secret, 'state'),
        nonce: deriveSignInValue(secret, 'nonce'),
        code_challenge: await calculatePKCECodeChallenge(deriveSignInValue(secret, 'verifier')),
        code_challenge_method: 'S256',
      })
      return { address: href, secret }
    },
    async operatorOf(secret, query) {
      const come = new URL(settings.redirect_uri)
      come.search = query
      const tokens = await configuration()
        .then((known) =>
          authorizationCodeGrant(known, come, {
            expectedState: deriveSignInValue(secret, 'state'),
            expectedNonce: deriveSignInValue(secret, 'nonce'),
            pkceCodeVerifier: deriveSignInValue(secret, 'verifier'),
            idTokenExpected: true,
          }),
        )
        .catch((error: unknown) => {
          throw logged(error, isUnanswered(error) ? new OpenIdUnavailable() : new OpenIdRefused(UNCONFIRMED_MESSAGE))
        })
      const claims = tokens.claims()
      if (claims === undefined) throw new OpenIdRefused('the provider of OpenID Connect said nothing of you')
      return readOperatorFromClaims(settings, claims)
    },
    close: () => guard.close(),
  }
}

type IdTokenClaims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string }

/** The longest name that is accepted from the provider, in characters. */
const MOST_PROVIDED_NAME_CHARACTERS = 128

/** Matches names that are written without quotes. Any other name is quoted, so that its end is clear to a reader. */
const PLAIN_NAME_PATTERN = /^[\p{L}\p{M}\p{N} .@_'+-]+$/u

/** Quotes a name. Invisible characters, and those that change the direction of writing, become their code points. */
const quoteName = (name: string): string =>
  JSON.stringify(name).replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)

function readOperatorFromClaims(settings: OpenIdSettings, claims: IdTokenClaims): OperatorFromProvider {
  const { issuer, roles, role_claim, name_claim } = settings
  const name = claims[name_claim]
  if (
    typeof name !== 'string' ||
    name.trim() === '' ||
    name.length > MOST_PROVIDED_NAME_CHARACTERS ||
    /[\p{Cc}\p{Cs}]/u.test(name)
  ) {
    throw new OpenIdRefused('the provider of OpenID Connect gave no name that the audit log can store (ROLLCALL_OIDC_NAME_CLAIM)')
  }
  const found = claimTexts(claims, role_claim).flatMap((value) => roles.get(value) ?? [])
  if (found.length === 0) {
    throw new OpenIdRefused('your account at the provider has no role here; ask whoever manages the operators')
  }
  return {
    issuer,
    subject: claims.sub,
    roles: [...new Set(found)],
    registries: readRegistriesClaim(settings, claims),
    name: `${OPENID_NAME_PREFIX}${PLAIN_NAME_PATTERN.test(name) ? name : quoteName(name)}${name_claim === 'sub' ? '' : `~${digestOfSubject(issuer, claims.sub)}`}`,
  }
}

/**
 * A short digest of issuer and subject. It is appended to the name of an operator, unless the name is the subject itself.
 * The provider may give two users the same name, or reuse a name later; it gives no two users the same subject.
 */
const digestOfSubject = (issuer: string, subject: string): string =>
  createHash('sha256').update(`${issuer} ${subject}`).digest('hex').slice(0, 12)

/** The value of `registry_claim` that means all registries. */
const ALL_REGISTRIES_CLAIM = '*'

/**
 * Reads the registries of the operator from the claims; null: all.
 * @throws OpenIdRefused the claim is configured but names no registry (`*` means all)
 */
function readRegistriesClaim(
  { registry_claim }: Pick<OpenIdSettings, 'registry_claim'>,
  claims: IdTokenClaims,
): readonly string[] | null {
  if (registry_claim === null) return null
  const named = claimTexts(claims, registry_claim)
  if (named.includes(ALL_REGISTRIES_CLAIM)) return null
  if (named.length > 0) return named
  throw new OpenIdRefused(NO_REGISTRY_MESSAGE)
}

export const NO_REGISTRY_MESSAGE = 'your account at the provider is for no registry here; ask whoever manages the operators'

/** The texts of a claim: one, or a list. The path is tried as a whole name first: a name may contain dots. */
function claimTexts(claims: IdTokenClaims, path: string): readonly string[] {
  const own = (from: unknown, name: string): unknown =>
    typeof from === 'object' && from !== null && Object.hasOwn(from, name)
      ? (from as Readonly<Record<string, unknown>>)[name]
      : undefined
  const found = own(claims, path) ?? path.split('.').reduce<unknown>(own, claims)
  return (Array.isArray(found) ? found : [found]).filter((value) => typeof value === 'string')
}

const PROVIDER_REQUEST_LIMITS = { timeoutMs: 10_000, maxBytes: 262_144 }

/** Sends the requests to the provider through the address guard. */
const createGuardedFetch =
  (guard: Pick<AddressGuard, 'request'>): CustomFetch =>
  async (address, { method, headers, body }) => {
    if (method !== 'GET' && method !== 'POST') throw new TypeError('the provider is asked by GET and POST alone')
    const {
      status,
      headers: answered,
      body: content,
    } = await guard.request(address, {
      ...PROVIDER_REQUEST_LIMITS,
      method,
      headers,
      ...(body instanceof URLSearchParams && { body: String(body) }),
      ...((typeof body === 'string' || body instanceof Uint8Array) && { body }),
    })
    if (status >= 500) throw new RequestFailed('connection', `HTTP ${status}`)
    const { 'content-type': type = '' } = answered
    return new Response(Buffer.from(content), { status, headers: { 'content-type': String(type) } })
  }

/** True when `createGuardedFetch` got no usable answer of the provider. Its error may be the `cause` of the library's error. */
const isUnanswered = (error: unknown): boolean =>
  error instanceof RequestFailed || error instanceof AddressRefused || (error instanceof Error && isUnanswered(error.cause))

/** The code or class of an error, for the log. Not its message: it may have what the provider said about a person. */
const errorCodeOrName = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.name) : 'unknown'
