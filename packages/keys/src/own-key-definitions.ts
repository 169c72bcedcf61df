/** Our own keys: a definition for each use and algorithm, and how a key is made, encrypted at rest and read. */
import { type AlgorithmName, importSigningKey } from '@rollcall/protocol'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { DecryptionError } from './encrypted-value.ts'
import { ENCRYPTED } from './store/master-keys.ts'
import type { OwnKey } from './store/own-keys.ts'
import type { Vault } from './vault.ts'

/** `sig` signs messages, `enc` is what peers encrypt for, `token` signs access tokens and is nobody else's business. */
export type OwnKeyUse = 'sig' | 'enc' | 'token'

export type OwnKeyDefinition = SignatureKeyDefinition | EncryptionKeyDefinition

export interface SignatureKeyDefinition extends KeyDefinition {
  readonly use: 'sig' | 'token'
  readonly algorithm: AlgorithmName
}

interface EncryptionKeyDefinition extends KeyDefinition {
  readonly use: 'enc'
  readonly algorithm: 'RSA-OAEP-256' | 'ECDH-ES+A256KW'
}

interface KeyDefinition {
  /** Whether the key is in the key set for peers. */
  readonly published: boolean
  /**
   * Whether the private half is kept after retirement, because messages that peers encrypted with it are still on their
   * way.
   */
  readonly keepPrivate: boolean
  /** Seconds for which a retired key is still valid. */
  readonly overlap: number
  readonly generate: Readonly<Record<string, unknown>>
  /** The key is made when a participant's profile first needs it: most registries sign only with Ed25519. */
  readonly onDemand?: true
}

const HOUR = 3_600
/**
 * Seconds for which a peer may use a cached key set (N14). Peers know a key when it has been published for this long.
 */
export const CACHED_BY_PEERS = 600
/** The longest validity of a signature. */
const SIGNATURE_LIFETIME = HOUR
/** How long a peer that cannot reach us may use its copy of the key set, and encrypt with its keys. */
const STALE_AT_PEERS = 24 * HOUR

export const OWN_KEY_DEFINITIONS: readonly OwnKeyDefinition[] = [
  {
    use: 'sig',
    algorithm: 'EdDSA',
    published: true,
    keepPrivate: false,
    overlap: SIGNATURE_LIFETIME + CACHED_BY_PEERS,
    generate: { crv: 'Ed25519' },
  },
  {
    use: 'sig',
    algorithm: 'ES256',
    published: true,
    keepPrivate: false,
    overlap: SIGNATURE_LIFETIME + CACHED_BY_PEERS,
    generate: {},
    onDemand: true,
  },
  {
    use: 'sig',
    algorithm: 'RS256',
    published: true,
    keepPrivate: false,
    overlap: SIGNATURE_LIFETIME + CACHED_BY_PEERS,
    // Twice the time of 2048 bits, and good beyond 2030 (NIST SP 800-57).
    generate: { modulusLength: 3072 },
    onDemand: true,
  },
  {
    use: 'enc',
    algorithm: 'RSA-OAEP-256',
    published: true,
    keepPrivate: true,
    overlap: STALE_AT_PEERS + SIGNATURE_LIFETIME + CACHED_BY_PEERS,
    generate: { modulusLength: 2048 },
  },
  {
    use: 'enc',
    algorithm: 'ECDH-ES+A256KW',
    published: true,
    keepPrivate: true,
    overlap: STALE_AT_PEERS + SIGNATURE_LIFETIME + CACHED_BY_PEERS,
    generate: { crv: 'P-256' },
  },
  {
    use: 'token',
    algorithm: 'EdDSA',
    published: false,
    keepPrivate: false,
    // The longest lifetime of a token is a quarter of this.
    overlap: HOUR,
    generate: { crv: 'Ed25519' },
  },
]

/** Whether the key for signatures of this algorithm is made only when it is first needed. */
export const isMadeOnDemand = (algorithm: AlgorithmName): boolean =>
  OWN_KEY_DEFINITIONS.some((row) => row.use === 'sig' && row.algorithm === algorithm && row.onDemand)

/** The definition of a key in the database; undefined for a key of another version of Rollcall, which this one does not use. */
export const definitionOf = (key: { readonly use: string; readonly algorithm: string }): OwnKeyDefinition | undefined =>
  OWN_KEY_DEFINITIONS.find(({ use, algorithm }) => use === key.use && algorithm === key.algorithm)

export interface GeneratedKey {
  /** RFC 7638 thumbprint of the public key */
  readonly kid: string
  readonly private_jwk: JWK
}

/** Off the event loop: an RSA key takes a good part of a second. */
export async function generateKey({ algorithm, generate }: OwnKeyDefinition): Promise<GeneratedKey> {
  for (;;) {
    const { privateKey } = await generateKeyPair(algorithm, { ...generate, extractable: true })
    const private_jwk = await exportJWK(privateKey)
    const kid = await calculateJwkThumbprint(publicHalf(private_jwk))
    // A kid that begins with "-" would be read as an option of the revoking command.
    if (!kid.startsWith('-')) return { kid, private_jwk }
  }
}

/** The members of public keys (RFC 7518 6.2.1, 6.3.1; RFC 8037 2); whatever else there is stays behind. */
const PUBLIC_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const

export function publicHalf(jwk: JWK): JWK {
  return Object.fromEntries(
    PUBLIC_MEMBERS.flatMap((member) => (jwk[member] === undefined ? [] : [[member, jwk[member]]])),
  )
}

/** A key of WebCrypto that cannot be exported again. */
export async function importKey(jwk: JWK, algorithm: string): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm, { extractable: false })
  if (key instanceof Uint8Array) throw new TypeError('a symmetric key where a key pair is expected')
  return key
}

/**
 * Imports a private key. The protocol package imports signing keys, because it knows the fastest way to sign with them.
 */
export const importPrivateKey = (
  { kty = '', ...jwk }: JWK,
  { use, algorithm }: OwnKeyDefinition,
): Promise<CryptoKey> =>
  use === 'enc' ? importKey({ kty, ...jwk }, algorithm) : importSigningKey({ kty, ...jwk }, algorithm)

const { table, purpose } = ENCRYPTED.own_key

/** Encrypts a key for the database: its JWK, bound to its kid. */
export function encryptJwk(kid: string, jwk: JWK, vault: Vault): Promise<Buffer> {
  return vault.encrypt(purpose, { table, id: kid }, Buffer.from(JSON.stringify(jwk)))
}

/** @throws DecryptionError altered, moved, or erased */
export async function decryptJwk({ kid, sealed }: Pick<OwnKey, 'kid' | 'sealed'>, vault: Vault): Promise<JWK> {
  if (sealed === null) throw new DecryptionError('the key is erased')
  return JSON.parse((await vault.decrypt(purpose, { table, id: kid }, sealed)).toString())
}
