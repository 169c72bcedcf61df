/** Our own keys: one definition for each use and algorithm, and functions to make, encrypt and read a key. */
import { type AlgorithmName, importSigningKey } from '@rollcall/protocol'
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose'
import { DecryptionError } from './encrypted-value.ts'
import { ENCRYPTED_TABLES } from './store/master-keys.ts'
import type { OwnKey } from './store/own-keys.ts'
import type { Vault } from './vault.ts'

/**
 * `sig` keys sign messages, peers encrypt messages with `enc` keys, and `token` keys sign access tokens, which only we verify.
 */
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
  /** True when the public key set, which peers fetch, has the key. */
  readonly published: boolean
  /** True when the private half is kept after retirement: messages encrypted with the key may still arrive. */
  readonly keepPrivate: boolean
  /** Seconds for which a key stays valid after it was retired. */
  readonly overlap: number
  readonly generate: Readonly<Record<string, unknown>>
  /** True when the key is made only when a participant's profile needs it: most registries sign with Ed25519 only. */
  readonly onDemand?: true
}

const HOUR_SECONDS = 3_600
/** Seconds for which a peer may use its copy of our key set (N14). After them, each peer that can reach us knows a new key. */
export const KEY_SET_CACHE_SECONDS = 600
/** The longest time for which a signature is valid, in seconds. */
const SIGNATURE_LIFETIME_SECONDS = HOUR_SECONDS
/** Seconds for which a peer may use its copy of our key set, and encrypt with the keys in it, while it cannot reach us. */
const STALE_KEY_SET_SECONDS = 24 * HOUR_SECONDS

export const OWN_KEY_DEFINITIONS: readonly OwnKeyDefinition[] = [
  {
    use: 'sig',
    algorithm: 'EdDSA',
    published: true,
    keepPrivate: false,
    overlap: SIGNATURE_LIFETIME_SECONDS + KEY_SET_CACHE_SECONDS,
    generate: { crv: 'Ed25519' },
  },
  {
    use: 'sig',
    algorithm: 'ES256',
    published: true,
    keepPrivate: false,
    overlap: SIGNATURE_LIFETIME_SECONDS + KEY_SET_CACHE_SECONDS,
    generate: {},
    onDemand: true,
  },
  {
    use: 'sig',
    algorithm: 'RS256',
    published: true,
    keepPrivate: false,
    overlap: SIGNATURE_LIFETIME_SECONDS + KEY_SET_CACHE_SECONDS,
    // RSA with 3072 bits takes twice the time of 2048, and is good beyond 2030 (NIST SP 800-57).
    generate: { modulusLength: 3072 },
    onDemand: true,
  },
  {
    use: 'enc',
    algorithm: 'RSA-OAEP-256',
    published: true,
    keepPrivate: true,
    overlap: STALE_KEY_SET_SECONDS + SIGNATURE_LIFETIME_SECONDS + KEY_SET_CACHE_SECONDS,
    generate: { modulusLength: 2048 },
  },
  {
    use: 'enc',
    algorithm: 'ECDH-ES+A256KW',
    published: true,
    keepPrivate: true,
    overlap: STALE_KEY_SET_SECONDS + SIGNATURE_LIFETIME_SECONDS + KEY_SET_CACHE_SECONDS,
    generate: { crv: 'P-256' },
  },
  {
    use: 'token',
    algorithm: 'EdDSA',
    published: false,
    keepPrivate: false,
    // An access token lives for at most a quarter of the overlap.
    overlap: HOUR_SECONDS,
    generate: { crv: 'Ed25519' },
  },
]

/** True when the signature key of this algorithm is made only when it is first needed. */
export const isKeyMadeOnDemand = (algorithm: AlgorithmName): boolean =>
  OWN_KEY_DEFINITIONS.some((row) => row.use === 'sig' && row.algorithm === algorithm && row.onDemand)

/** The definition of a stored key; undefined for a use or algorithm that only an older or newer version of Rollcall has. */
export const findKeyDefinition = (key: { readonly use: string; readonly algorithm: string }): OwnKeyDefinition | undefined =>
  OWN_KEY_DEFINITIONS.find(({ use, algorithm }) => use === key.use && algorithm === key.algorithm)

export interface GeneratedKey {
  /** The RFC 7638 thumbprint of the public key. */
  readonly kid: string
  readonly private_jwk: JWK
}

/** Generates a key pair. This runs outside of the event loop, because an RSA key takes nearly a second. */
export async function generateKey({ algorithm, generate }: OwnKeyDefinition): Promise<GeneratedKey> {
  for (;;) {
    const { privateKey } = await generateKeyPair(algorithm, { ...generate, extractable: true })
    const private_jwk = await exportJWK(privateKey)
    const kid = await calculateJwkThumbprint(publicHalf(private_jwk))
    // The command that revokes a key would read a kid that begins with "-" as an option.
    if (!kid.startsWith('-')) return { kid, private_jwk }
  }
}

/** The members of public keys (RFC 7518 6.2.1, 6.3.1; RFC 8037 2). `publicHalf` copies no others. */
const PUBLIC_JWK_MEMBERS = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const

/** The public key of a JWK, without `kid`, `use` and `alg`. */
export function publicHalf(jwk: JWK): JWK {
  return Object.fromEntries(PUBLIC_JWK_MEMBERS.flatMap((member) => (jwk[member] === undefined ? [] : [[member, jwk[member]]])))
}

/** Imports a key so that it cannot be exported again. */
export async function importKey(jwk: JWK, algorithm: string): Promise<CryptoKey> {
  const key = await importJWK(jwk, algorithm, { extractable: false })
  if (key instanceof Uint8Array) throw new TypeError('a symmetric key where a key pair is expected')
  return key
}

/** Imports a private key. For signing, the protocol package imports it, in the form that signs fastest. */
export const importPrivateKey = ({ kty = '', ...jwk }: JWK, { use, algorithm }: OwnKeyDefinition): Promise<CryptoKey> =>
  use === 'enc' ? importKey({ kty, ...jwk }, algorithm) : importSigningKey({ kty, ...jwk }, algorithm)

const { table, purpose } = ENCRYPTED_TABLES.own_key

/** Encrypts the JWK of a key for the database, bound to its kid. */
export function encryptJwk(kid: string, jwk: JWK, vault: Vault): Promise<Buffer> {
  return vault.encrypt(purpose, { table, id: kid }, Buffer.from(JSON.stringify(jwk)))
}

/** Decrypts the JWK of a key. @throws DecryptionError it was altered, moved or erased */
export async function decryptJwk({ kid, sealed }: Pick<OwnKey, 'kid' | 'sealed'>, vault: Vault): Promise<JWK> {
  if (sealed === null) throw new DecryptionError('the key is erased')
  return JSON.parse((await vault.decrypt(purpose, { table, id: kid }, sealed)).toString())
}
