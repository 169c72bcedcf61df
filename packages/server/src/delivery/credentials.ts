/**
 * What a participant wants to see before it takes a message: a bearer token, an access token of its own token
 * endpoint (OAuth2 client credentials), or a client certificate. Sealed by the vault, and each set for one origin:
 * to another one nothing of it is sent.
 */
import { createHash, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { isJsonObject, parseJson } from '@rollcall/protocol'
import type { AddressGuard, ClientIdentity } from '../egress/address-guard.ts'
import type { GuardOwner, Guards } from '../egress/guards.ts'
import { CredentialsUnusable } from '../egress/problems.ts'
import type { Vault } from '../keys/vault.ts'
import type { CallbackAuth, CallbackSettings } from '../store/directory/participant-callbacks.ts'
import { ENCRYPTED } from '../store/keys/master-keys.ts'
import { createAccessTokens } from './access-tokens.ts'

/** What is sealed, by `auth`. */
export interface CredentialsOf {
  readonly bearer: { readonly token: string }
  readonly oauth2: {
    readonly token_url: string
    readonly client_id: string
    readonly client_secret: string
    readonly scope: string | null
  }
  readonly mtls: { readonly cert: string; readonly key: string }
}

export type Secrets = {
  readonly [auth in keyof CredentialsOf]: {
    readonly auth: auth
    readonly origin: string
  } & CredentialsOf[auth]
}[keyof CredentialsOf]

/** How one request to a participant is made. */
export interface Usable {
  readonly guard: AddressGuard
  /** Secret. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether the address is the one that the credentials are for; false also where there are none. */
  readonly sent: boolean
  /** The peer did not take them: what was only remembered is not used again. */
  refused(): void
}

export interface Credentials {
  /**
   * @param timeoutMs for an access token, where one has to be fetched
   * @throws CredentialsUnusable
   */
  find(
    participant: GuardOwner,
    settings: Pick<CallbackSettings, 'auth' | 'sealed'>,
    target: string,
    timeoutMs: number,
  ): Promise<Usable>
}

const { table, purpose } = ENCRYPTED.participant_callback

/** Seals credentials for the row of a participant. */
export async function sealCredentials(vault: Vault, participant: number, secrets: Secrets): Promise<Buffer> {
  const context = { table, id: String(participant) }
  return vault.encrypt(purpose, context, Buffer.from(JSON.stringify(secrets)))
}

/**
 * @throws CredentialsUnusable they do not open, or are not those of this `auth`
 */
export async function openCredentials(
  vault: Vault,
  participant: number,
  { auth, sealed }: Pick<CallbackSettings, 'auth' | 'sealed'>,
): Promise<Secrets | null> {
  if (auth === 'none' || sealed === null) return null
  const opened = await vault
    .decrypt(purpose, { table, id: String(participant) }, sealed)
    .catch((error: unknown) => {
      if (error instanceof Error && ['DecryptionError', 'MasterKeyError'].includes(error.name)) {
        throw new CredentialsUnusable('closed')
      }
      throw error
    })
  const secrets = parseJson(opened.toString())
  if (!isJsonObject(secrets) || secrets.auth !== auth) throw new CredentialsUnusable('closed')
  return secrets as unknown as Secrets
}

/** Whether a certificate and a key belong together, and can be used. */
export function isIdentity({ cert, key }: CredentialsOf['mtls']): boolean {
  try {
    createSecureContext({ cert, key })
    return new X509Certificate(cert).publicKey !== undefined
  } catch {
    return false
  }
}

export function createCredentials(vault: Vault, guards: Guards, now: () => number = Date.now): Credentials {
  const tokens = createAccessTokens(now)
  const held = new Map<number, { readonly sealed: Buffer; readonly secrets: Secrets }>()

  const open = async (
    participant: number,
    settings: Pick<CallbackSettings, 'auth' | 'sealed'>,
  ): Promise<Secrets | null> => {
    const known = held.get(participant)
    const { auth, sealed } = settings
    if (sealed !== null && known?.sealed.equals(sealed) && known.secrets.auth === auth) return known.secrets
    const secrets = await openCredentials(vault, participant, settings)
    if (secrets === null || sealed === null) held.delete(participant)
    else held.set(participant, { sealed, secrets })
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
          const name = String(participant.id)
          const token = await tokens.get(name, secrets, plain.guard, timeoutMs)
          const refused = () => tokens.drop(name, token)
          return { ...plain, sent: true, headers: { authorization: `Bearer ${token}` }, refused }
        }
        case 'mtls':
          return { ...plain, sent: true, guard: guards.of(participant, identityOf(secrets)) }
      }
    },
  }
}

function identityOf({ cert, key }: CredentialsOf['mtls']): ClientIdentity {
  if (!isIdentity({ cert, key })) throw new CredentialsUnusable('certificate')
  return { cert, key, fingerprint: createHash('sha256').update(cert).update('\0').update(key).digest('hex') }
}

/** Every way but none, for people and for checks. */
export const AUTHS = ['none', 'bearer', 'oauth2', 'mtls'] as const satisfies readonly CallbackAuth[]
