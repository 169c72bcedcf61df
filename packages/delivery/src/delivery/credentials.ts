/**
 * The credentials that a participant demands of us when we call it: a bearer token, an access token of its own token
 * endpoint (OAuth2 client credentials), or a client certificate. The vault encrypts them. Tokens and certificates are
 * for one origin and are sent to no other; client_id and client_secret are sent to the token endpoint.
 */
import { createHash, hash, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { Memo } from '@rollcall/base/shared/memo'
import { DecryptionError } from '@rollcall/keys/encrypted-value'
import { MasterKeyError } from '@rollcall/keys/master-key'
import type { Vault } from '@rollcall/keys/vault'
import type {
  AddressGuard,
  AddressGuardOwner,
  ClientIdentity,
  ParticipantGuards,
} from '@rollcall/participants/egress/address-guard'
import { AddressRefused, CredentialsUnusable, RequestFailed } from '@rollcall/participants/egress/problems'
import {
  type CallbackAuth,
  type CallbackSettings,
  SEALED_CREDENTIAL_TABLE,
} from '@rollcall/participants/store/participant-callbacks'
import { type Fetched, isJsonObject, parseJson, Refreshed, readTokenAnswer, TokenProblem } from '@rollcall/protocol'

/** The members of credentials that are stored encrypted, for each way of authentication (`auth`). */
export interface CredentialsByAuth {
  readonly bearer: { readonly token: string }
  readonly oauth2: {
    readonly token_url: string
    readonly client_id: string
    readonly client_secret: string
    readonly scope: string | null
  }
  readonly mtls: { readonly cert: string; readonly key: string }
}

/** The credentials of a participant in clear, and the origin of the addresses to which they are sent. */
export type DecryptedCredentials = {
  readonly [auth in keyof CredentialsByAuth]: { readonly auth: auth; readonly origin: string } & CredentialsByAuth[auth]
}[keyof CredentialsByAuth]

/** The address guard and the headers for a single request to a participant. */
export interface AddressGuardAndHeaders {
  readonly guard: AddressGuard
  /** The headers that authenticate us to the participant. Their values are secret. */
  readonly headers: Readonly<Record<string, string>>
  /** True when credentials are sent; false when there are none for the origin of this address. */
  readonly sent: boolean
  /** Must be called when the peer has answered 401: a cached access token is then not used again. */
  refused(): void
}

/** Finds the credentials for our calls to participants. */
export interface Credentials {
  /** Finds the credentials for an address. @param timeoutMs for fetching an access token @throws CredentialsUnusable */
  find(
    participant: AddressGuardOwner,
    settings: Pick<CallbackSettings, 'auth' | 'sealed'>,
    target: string,
    timeoutMs: number,
  ): Promise<AddressGuardAndHeaders>
}

const { table, purpose } = SEALED_CREDENTIAL_TABLE

/** Encrypts credentials for the row of their participant. */
export async function encryptCredentials(vault: Vault, participant: number, secrets: DecryptedCredentials): Promise<Buffer> {
  const context = { table, id: String(participant) }
  return vault.encrypt(purpose, context, Buffer.from(JSON.stringify(secrets)))
}

/**
 * Decrypts the credentials of a participant; null when it has none.
 * @throws CredentialsUnusable they cannot be decrypted, or are not those of this `auth`
 */
export async function decryptCredentials(
  vault: Vault,
  participant: number,
  { auth, sealed }: Pick<CallbackSettings, 'auth' | 'sealed'>,
): Promise<DecryptedCredentials | null> {
  if (auth === 'none' || sealed === null) return null
  const opened = await vault.decrypt(purpose, { table, id: String(participant) }, sealed).catch((error: unknown) => {
    if (error instanceof DecryptionError || error instanceof MasterKeyError) {
      throw new CredentialsUnusable('closed')
    }
    throw error
  })
  const secrets: unknown = parseJson(opened.toString())
  if (!areCredentialsOfAuth(secrets, auth)) throw new CredentialsUnusable('closed')
  return secrets
}

/** True when a decrypted value has this `auth`. Nothing else is checked: a value that we can decrypt was encrypted by us. */
const areCredentialsOfAuth = (value: unknown, auth: CallbackAuth): value is DecryptedCredentials =>
  isJsonObject(value) && value.auth === auth

/** True when a certificate and a key belong together and can be used. */
export function isClientIdentity({ cert, key }: CredentialsByAuth['mtls']): boolean {
  try {
    createSecureContext({ cert, key })
    return new X509Certificate(cert).publicKey !== undefined
  } catch {
    return false
  }
}

/** Creates the finder of credentials. @param clock the time for the age of access tokens */
export function createCredentialsFinder(
  vault: Vault,
  guards: Pick<ParticipantGuards, 'of'>,
  { now }: Pick<Clock, 'now'> = SYSTEM_CLOCK,
): Credentials {
  const tokens = new Memo<Refreshed<string>>()
  const opened = new Memo<Promise<DecryptedCredentials | null>>()

  const open = async (id: number, settings: Pick<CallbackSettings, 'auth' | 'sealed'>) => {
    const source = `${settings.auth} ${settings.sealed?.toString('base64') ?? ''}`
    const secrets = opened.of(id, source, () => decryptCredentials(vault, id, settings))
    // A failure to decrypt is not cached, because the master key may become available later.
    secrets.catch(() => opened.forget(id))
    return secrets
  }

  return {
    async find(participant, settings, target, timeoutMs) {
      const secrets = await open(participant.id, settings)
      const plain = { guard: guards.of(participant), headers: {}, sent: false, refused: () => undefined }
      if (secrets === null || URL.parse(target)?.origin !== secrets.origin) return plain
      switch (secrets.auth) {
        case 'bearer':
          return { ...plain, sent: true, headers: { authorization: `Bearer ${secrets.token}` } }
        case 'oauth2': {
          // The cache key contains the secrets, so another token is fetched after they change.
          const client = hash('sha256', JSON.stringify(secrets))
          const held = tokens.of(participant.id, client, () => createTokenHolder(now))
          const token = await held.get(() => fetchToken(secrets, plain.guard, timeoutMs)).catch(rethrowTokenFailure)
          const refused = () => held.drop((value) => value === token)
          return { ...plain, sent: true, headers: { authorization: `Bearer ${token}` }, refused }
        }
        case 'mtls':
          return { ...plain, sent: true, guard: guards.of(participant, requireClientIdentity(secrets)) }
      }
    },
  }
}

/**
 * Holds the access token for a participant. It is used until it expires, even if the token endpoint cannot be reached meanwhile.
 * The token is dropped when its endpoint refuses us or has an address that is no longer allowed, or when the peer answers 401.
 */
const createTokenHolder = (now: () => number): Refreshed<string> =>
  new Refreshed({
    pause: { withValue: 0, without: 0 },
    survives: (error) => error instanceof RequestFailed || (error instanceof TokenProblem && error.kind !== 'refused'),
    now,
  })

/** The most bytes that the answer of a token endpoint may have. */
const MOST_TOKEN_ANSWER_BYTES = 65_536

/** Fetches an access token at a participant's token endpoint (RFC 6749, 4.4). */
async function fetchToken(
  { token_url, client_id, client_secret, scope }: CredentialsByAuth['oauth2'],
  guard: AddressGuard,
  timeoutMs: number,
): Promise<Fetched<string>> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== null && { scope }) })
  const login = [client_id, client_secret].map(formEncode).join(':')
  const { status, body } = await guard.request(token_url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      authorization: `Basic ${Buffer.from(login).toString('base64')}`,
    },
    body: form.toString(),
    timeoutMs,
    maxBytes: MOST_TOKEN_ANSWER_BYTES,
  })
  return readTokenAnswer(status, Buffer.from(body).toString())
}

/** Form-encodes a client id or a client secret (RFC 6749, 2.3.1). */
const formEncode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

/** Throws a failed token request as CredentialsUnusable, without any text of the peer, and other errors unchanged. */
function rethrowTokenFailure(error: unknown): never {
  if (error instanceof AddressRefused) throw new CredentialsUnusable('token', error.rule)
  if (error instanceof RequestFailed) throw new CredentialsUnusable('token', error.failure)
  if (error instanceof TokenProblem) {
    const detail = error.kind === 'unreadable' ? 'answer' : `status ${error.httpStatus}`
    throw new CredentialsUnusable('token', detail)
  }
  throw error
}

function requireClientIdentity({ cert, key }: CredentialsByAuth['mtls']): ClientIdentity {
  if (!isClientIdentity({ cert, key })) throw new CredentialsUnusable('certificate')
  return { cert, key, fingerprint: createHash('sha256').update(cert).update('\0').update(key).digest('hex') }
}

/** The values of `auth`: the ways in which a participant demands authentication of us, or `none`. */
export const CALLBACK_AUTH_WAYS = ['none', 'bearer', 'oauth2', 'mtls'] as const satisfies readonly CallbackAuth[]
