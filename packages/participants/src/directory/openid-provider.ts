/**
 * Operators who sign in at a provider of OpenID Connect: the authorization code flow with PKCE, state and nonce, all
 * three derived from one secret in the operator's browser. Nothing is stored before a sign-in has succeeded.
 */
import { createHash, createHmac } from 'node:crypto'
import { bareHost } from '@rollcall/core/model/allowed-hosts'
import { type OperatorRole, PROVIDED_NAME } from '@rollcall/core/model/operator'
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
import type { ProvidedOperator } from '../store/sessions.ts'
import type { ClientKey } from './openid-client-key.ts'
import { newSecret } from './secrets.ts'

/** Our credential at the provider. */
export type ClientCredential = { readonly secret: string } | ClientKey

export interface OpenIdSettings {
  readonly issuer: string
  readonly client_id: string
  readonly credential: ClientCredential
  /** Our roles, by values of the claim. */
  readonly roles: ReadonlyMap<string, readonly OperatorRole[]>
  /** The claim of the ID token with the roles at the provider: its name, or a path with dots. */
  readonly role_claim: string
  /** The claim with the name under which the operator's acts are in the audit log. */
  readonly name_claim: string
  /** The claim with the namespaces that the operator is bound to; null: nobody is. */
  readonly registry_claim: string | null
  readonly scope: string
  /** The title of the provider, for a button. */
  readonly title: string
  /** The address to which the provider sends the browser back. */
  readonly redirect_uri: string
}

/** Why somebody may not enter. The message is for that person. */
export class OpenIdRefused extends Error {
  override readonly name = 'OpenIdRefused'
}

/** An operator who has come back from the provider, with the registries as the provider names them. */
export interface NamedOperator extends Omit<ProvidedOperator, 'registries'> {
  /** Namespaces; null: all. */
  readonly registries: readonly string[] | null
}

export interface OpenIdProvider {
  readonly title: string
  /**
   * @returns the address to which the browser goes, and the secret that it keeps meanwhile
   * @throws OpenIdRefused the provider does not answer
   */
  begin(): Promise<{ readonly address: string; readonly secret: string }>
  /**
   * The operator who has come back from the provider.
   * @param query the query of the address to which the browser came back
   */
  operatorOf(secret: string, query: string): Promise<NamedOperator>
  close(): Promise<void>
}

/** A value derived from the secret for one use. It reveals neither the secret nor the other values. */
const derived = (secret: string, use: 'state' | 'nonce' | 'verifier'): string =>
  createHmac('sha256', secret).update(use).digest('base64url')

export function createOpenIdProvider(
  settings: OpenIdSettings,
  { log }: { readonly log: Pick<Log, 'warn'> },
): OpenIdProvider {
  const issuer = new URL(settings.issuer)
  const plainHttp = issuer.protocol === 'http:'
  // The operator has configured this host: it may be inside the network.
  const guard = createAddressGuard({
    allowed: [{ host: bareHost(issuer), ports: 'any', loopback: true, private: true, plainHttp }],
  })
  const options = {
    execute: [enableNonRepudiationChecks, ...(plainHttp ? [allowInsecureRequests] : [])],
    [customFetch]: fetchBy(guard),
  }
  let known: Promise<Configuration> | undefined
  const configuration = (): Promise<Configuration> => {
    const { client_id, credential } = settings
    known ??=
      'secret' in credential
        ? discovery(issuer, client_id, credential.secret, undefined, options)
        : discovery(issuer, client_id, undefined, PrivateKeyJwt(credential), options)
    // A provider that did not answer is asked again.
    known.catch(() => {
      known = undefined
    })
    return known
  }
  const refused = (error: unknown, message: string): OpenIdRefused => {
    log.warn({ provider: settings.issuer, problem: codeOf(error) }, 'a sign-in at the provider failed')
    return new OpenIdRefused(message)
  }

  return {
    title: settings.title,
    async begin() {
      const { secret } = newSecret()
      const known = await configuration().catch((error: unknown) => {
        throw refused(error, 'the provider of OpenID Connect does not answer; try again later')
      })
      const { href } = buildAuthorizationUrl(known, {
        redirect_uri: settings.redirect_uri,
        scope: settings.scope,
        response_type: 'code',
        state: derived(secret, 'state'),
        nonce: derived(secret, 'nonce'),
        code_challenge: await calculatePKCECodeChallenge(derived(secret, 'verifier')),
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
            expectedState: derived(secret, 'state'),
            expectedNonce: derived(secret, 'nonce'),
            pkceCodeVerifier: derived(secret, 'verifier'),
            idTokenExpected: true,
          }),
        )
        .catch((error: unknown) => {
          throw refused(error, 'the provider of OpenID Connect did not confirm who you are; sign in again')
        })
      const claims = tokens.claims()
      if (claims === undefined) throw new OpenIdRefused('the provider of OpenID Connect said nothing of you')
      return readOperator(settings, claims)
    },
    close: () => guard.close(),
  }
}

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string }

/** Characters of a name in the audit log. */
const NAME_LIMIT = 128

/** Any other name is quoted, so that it cannot be confused with the text beside it. */
const PLAIN_NAME = /^[\p{L}\p{M}\p{N} .@_'+-]+$/u

/** Characters that cannot be seen, or that turn round what is beside them, are written as their numbers. */
const quoted = (name: string): string =>
  JSON.stringify(name).replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)

function readOperator(settings: OpenIdSettings, claims: Claims): NamedOperator {
  const { issuer, roles, role_claim, name_claim } = settings
  const name = claims[name_claim]
  if (typeof name !== 'string' || name.trim() === '' || name.length > NAME_LIMIT || /[\p{Cc}\p{Cs}]/u.test(name)) {
    throw new OpenIdRefused(
      'the provider of OpenID Connect gave no name that the audit log can store (ROLLCALL_OIDC_NAME_CLAIM)',
    )
  }
  const found = valuesAt(claims, role_claim).flatMap((value) => roles.get(value) ?? [])
  if (found.length === 0) {
    throw new OpenIdRefused('your account at the provider has no role here; ask whoever manages the operators')
  }
  return {
    issuer,
    subject: claims.sub,
    roles: [...new Set(found)],
    registries: registriesOf(settings, claims),
    name: `${PROVIDED_NAME}${PLAIN_NAME.test(name) ? name : quoted(name)}${name_claim === 'sub' ? '' : `~${digestOf(issuer, claims.sub)}`}`,
  }
}

/** A provider may give two users the same name, or a name to another user later; only the subject is unique. */
const digestOf = (issuer: string, subject: string): string =>
  createHash('sha256').update(`${issuer} ${subject}`).digest('hex').slice(0, 12)

/** The value of the claim of registries that means all of them. */
const ALL_REGISTRIES = '*'

/**
 * The registries that the claim names; null: all.
 * @throws OpenIdRefused the claim is configured and names no registry: only `*` means all
 */
function registriesOf(
  { registry_claim }: Pick<OpenIdSettings, 'registry_claim'>,
  claims: Claims,
): readonly string[] | null {
  if (registry_claim === null) return null
  const named = valuesAt(claims, registry_claim)
  if (named.includes(ALL_REGISTRIES)) return null
  if (named.length > 0) return named
  throw new OpenIdRefused(NO_REGISTRY)
}

export const NO_REGISTRY = 'your account at the provider is for no registry here; ask whoever manages the operators'

/** The texts of a claim: one, or a list. A name may contain dots, so the whole path is tried as a name first. */
function valuesAt(claims: Claims, path: string): readonly string[] {
  const own = (from: unknown, name: string): unknown =>
    typeof from === 'object' && from !== null && Object.hasOwn(from, name)
      ? (from as Readonly<Record<string, unknown>>)[name]
      : undefined
  const found = own(claims, path) ?? path.split('.').reduce<unknown>(own, claims)
  return (Array.isArray(found) ? found : [found]).filter((value) => typeof value === 'string')
}

const REQUEST = { timeoutMs: 10_000, maxBytes: 262_144 }

/** Requests to the provider go through the guard of addresses, as all others do. */
const fetchBy =
  (guard: Pick<AddressGuard, 'request'>): CustomFetch =>
  async (address, { method, headers, body }) => {
    if (method !== 'GET' && method !== 'POST') throw new TypeError('the provider is asked by GET and POST alone')
    const {
      status,
      headers: answered,
      body: content,
    } = await guard.request(address, {
      ...REQUEST,
      method,
      headers,
      ...(body instanceof URLSearchParams && { body: String(body) }),
      ...((typeof body === 'string' || body instanceof Uint8Array) && { body }),
    })
    const { 'content-type': type = '' } = answered
    return new Response(Buffer.from(content), { status, headers: { 'content-type': String(type) } })
  }

/** A code for the log. Messages of these errors may contain what the provider said about a person. */
const codeOf = (error: unknown): string =>
  error instanceof Error ? ('code' in error ? String(error.code) : error.name) : 'unknown'
