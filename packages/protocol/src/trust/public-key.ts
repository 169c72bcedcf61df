/** Public keys of peers: reads them from a registered JWK or a key set, and chooses one for a message. */
import { isJsonObject, type JsonObject, parseJson } from '../json.ts'
import { JsonError } from '../json-error.ts'
import { toBase64Url, utf8Bytes } from './base64.ts'
import { canonicalJson } from './canonical-json.ts'
import { KEY_ENCRYPTIONS } from './encryption/algorithms.ts'
import { type EncryptionKey, publicEncryptionKey } from './encryption/keys.ts'
import {
  algorithmOfJwk,
  findCanonicalPublicJwk,
  importVerifyingKey,
  isKid,
  isPrivateJwk,
  type Jwk,
  KeyRefused,
  type LooseJwk,
} from './jwk.ts'
import { ALGORITHMS, type AlgorithmName, type WebCryptoKey } from './signature/algorithms.ts'

/** The use of a key: with `sig` we verify signatures of its owner, with `enc` we encrypt for its owner. */
export type KeyUse = 'sig' | 'enc'

/** A public key that was read and checked. */
export interface PublicKey {
  readonly kid: string
  readonly use: KeyUse
  /** The JOSE name of the key's algorithm, for signatures or for key encryption. */
  readonly algorithm: string
  /** Only the members that define the key, as in RFC 7638. */
  readonly public_jwk: Jwk
  /** The RFC 7638 thumbprint (SHA-256): equal for the same key, however it is written. */
  readonly thumbprint: string
}

/** The caller's facts about a key, besides its JWK: the owner, the name and the use. */
export interface KeyContext {
  /**
   * The owner's sender_id. The `kid` of a key for signatures may be a whole kidId (`sender_id|kid|algorithm`). The kidId must
   * have this sender_id; if undefined, it may have any.
   */
  readonly sender_id?: string | undefined
  /** The name of the key, used in place of the `kid` in the JWK. */
  readonly kid?: string
  /** The use of the key. A JWK with another `use` is refused. */
  readonly use?: KeyUse
}

/** The most characters of a member: enough for 8192 bits of RSA in base64. */
const MOST_JWK_MEMBER_CHARACTERS = 2_000

/**
 * Reads and checks a key, and returns it with the members that define it. Members that refer to other data, such as
 * x5u and x5c, are ignored.
 * @throws {KeyRefused} and nothing else
 */
export async function readPublicKey(jwk: LooseJwk, context: KeyContext): Promise<PublicKey> {
  if (isPrivateJwk(jwk)) {
    throw new KeyRefused('this is a private key: its owner keeps it; register its public key')
  }
  const { kty, crv, x, y, n, e } = jwk
  const members = [kty, crv, x, y, n, e].filter((member) => member !== undefined)
  if (!members.every((member) => typeof member === 'string' && member.length <= MOST_JWK_MEMBER_CHARACTERS)) {
    throw new KeyRefused(`each member of a key must be a text of at most ${MOST_JWK_MEMBER_CHARACTERS} characters`)
  }
  const public_jwk = findCanonicalPublicJwk(jwk)
  if (public_jwk === null) {
    throw new KeyRefused('this is no public key of a known type: RSA, EC (P-256) or OKP (Ed25519, X25519)')
  }
  const { use, algorithm } = readKeyUseAndAlgorithm({ alg: jwk.alg, use: jwk.use, public_jwk }, context.use)
  const bytes = utf8Bytes(canonicalJson(public_jwk))
  const thumbprint = toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
  const kid = readKid(context.kid ?? jwk.kid ?? thumbprint, use, context.sender_id)
  const key = { kid, use, algorithm, public_jwk, thumbprint }
  // Importing the key checks that WebCrypto accepts it, and that it is strong enough.
  await (use === 'sig' ? verifyingKey(key) : encryptionKey(key))
  return key
}

interface KeyUseAndAlgorithm {
  readonly use: KeyUse
  readonly algorithm: string
}

/**
 * Returns the use and the algorithm of a key. The JWK or the caller names the use. If neither does, the use is `sig` if the key
 * fits a signature algorithm, otherwise `enc`.
 * @throws KeyRefused the JWK and the caller name different uses, or the key fits no algorithm
 */
function readKeyUseAndAlgorithm(
  { alg, use, public_jwk }: { alg: unknown; use: unknown; public_jwk: Jwk },
  wanted: KeyUse | undefined,
): KeyUseAndAlgorithm {
  if (use !== undefined && wanted !== undefined && use !== wanted) {
    throw new KeyRefused(`the JWK says that the key is not for ${wanted}; leave --use out, or register another key`)
  }
  const said = use ?? wanted
  const [found] = ALGORITHM_FINDERS.filter((row) => said === undefined || row.use === said).flatMap((row) => {
    const algorithm = row.algorithm(public_jwk, alg)
    return algorithm === null ? [] : [{ use: row.use, algorithm }]
  })
  if (found === undefined)
    throw new KeyRefused(
      'the key fits none of the algorithms of this protocol: EdDSA, ES256 and RS256 to sign, RSA-OAEP-256 and ECDH-ES+A256KW to encrypt',
    )
  return found
}

/**
 * For each use, a function that returns the algorithm of a key; null when no algorithm for this use fits the key and its `alg`.
 */
const ALGORITHM_FINDERS: readonly { use: KeyUse; algorithm(key: Jwk, alg: unknown): string | null }[] = [
  {
    use: 'sig',
    algorithm(key, alg) {
      const name = algorithmOfJwk(key)
      if (name === null || alg === undefined) return name
      // Some peers publish as `alg` the name that they use in signatures.
      const spellings: readonly unknown[] = Object.values(ALGORITHMS[name].spellings).flat()
      return spellings.includes(alg) ? name : null
    },
  },
  {
    use: 'enc',
    algorithm(key, alg) {
      const rows = KEY_ENCRYPTIONS.filter(({ kty }) => kty.includes(key.kty))
      return rows.find((row) => alg === undefined || row.alg === alg)?.alg ?? null
    },
  },
]

const PRINTABLE_TEXT = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u

/** Checks the kid of a JWK, and returns it. If a signature key has a whole kidId as kid (1.5), returns the middle part. */
function readKid(kid: unknown, use: KeyUse, sender_id: string | undefined): string {
  if (!isKid(kid) || !PRINTABLE_TEXT.test(kid)) {
    throw new KeyRefused('a kid must be a text of 1 to 256 printable characters')
  }
  const [sender, middle, algorithm, ...more] = kid.split('|')
  const whole = sender === (sender_id ?? sender) && middle && algorithm && more.length === 0
  const short = use === 'sig' && whole ? middle : kid
  if (use === 'sig' && /[|"]/.test(short)) {
    throw new KeyRefused('the kid of a key for signatures must have neither | nor ", because it is a part of kidId')
  }
  return short
}

const isSignatureAlgorithm = (name: string): name is AlgorithmName => Object.hasOwn(ALGORITHMS, name)

/** Imports a public key for verifying signatures of its owner. @throws {KeyRefused} */
export async function verifyingKey({ public_jwk, algorithm }: PublicKey): Promise<WebCryptoKey> {
  if (!isSignatureAlgorithm(algorithm)) throw new KeyRefused('the key is for no algorithm of signatures')
  return importVerifyingKey(public_jwk, algorithm)
}

/** Imports a public key for encrypting messages to its owner. @throws {KeyRefused} */
export async function encryptionKey({ public_jwk, kid, algorithm }: PublicKey): Promise<EncryptionKey> {
  return publicEncryptionKey({ ...public_jwk, kid, alg: algorithm })
}

/**
 * The most keys that are tried for one signature, that a key set may have, and that may be registered for a participant; revoked
 * and expired keys of the participant do not count.
 */
export const MOST_KEYS = 20

/** The keys that may verify a signature: each once, with this algorithm and `kid` (null: any); at most `MOST_KEYS`. */
export function signatureKeys<Key extends PublicKey>(
  keys: readonly Key[],
  kid: string | null,
  algorithm: AlgorithmName,
): readonly Key[] {
  const usable = keys.filter((key) => key.use === 'sig' && key.algorithm === algorithm && (kid === null || key.kid === kid))
  const different = new Map(usable.map((key) => [key.thumbprint, key]))
  return [...different.values()].slice(0, MOST_KEYS)
}

/**
 * Milliseconds for a fetched key set: how long it is fresh, how long it may be used when fetching fails, and the pause
 * between requests.
 */
export const KEY_SET = { fresh: 600_000, usable: 24 * 3_600_000, pause: 30_000 } as const

/** The key set is refused. The message names the rule, and nothing of the content. */
export class KeySetProblem extends Error {
  override readonly name = 'KeySetProblem'
  /** True when the set has a private or symmetric key: then trust none of its keys any more. */
  readonly exposed: boolean

  constructor(rule: string, exposed = false) {
    super(rule)
    this.exposed = exposed
  }
}

/**
 * The JWKs in a key set (RFC 7517, 5), from a value or a JSON text.
 * @throws {KeySetProblem} it is not a key set, has too many keys, or has a private or symmetric key
 */
export function readKeySet(set: unknown): readonly JsonObject[] {
  const value = typeof set === 'string' ? parseKeySetText(set) : set
  const keys = isJsonObject(value) ? value.keys : undefined
  if (!Array.isArray(keys) || !keys.every(isJsonObject)) {
    throw new KeySetProblem('the key set must be an object whose member keys is a list of objects')
  }
  if (keys.length > MOST_KEYS) throw new KeySetProblem(`the key set has more than ${MOST_KEYS} keys`)
  if (keys.some((jwk) => isPrivateJwk(jwk) || jwk.kty === 'oct')) {
    throw new KeySetProblem('the key set holds a private or symmetric key', true)
  }
  return keys
}

function parseKeySetText(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) throw new KeySetProblem('the key set is no JSON that is read here')
    throw error
  }
}

/**
 * The usable keys of a set, in order. A key that is published under several kids is returned once for each kid. Keys that
 * `readPublicKey` refuses are left out.
 * @throws {KeySetProblem} two different keys for one use have the same kid
 */
export async function publicKeysOf(jwks: readonly JsonObject[], sender_id: string | undefined): Promise<readonly PublicKey[]> {
  const keys: PublicKey[] = []
  for (const jwk of jwks) {
    const key = await readPublicKeyOrNull(jwk, sender_id)
    if (key === null) continue
    const known = keys.find(({ kid, use }) => kid === key.kid && use === key.use)
    if (known === undefined) keys.push(key)
    else if (known.thumbprint !== key.thumbprint) {
      throw new KeySetProblem('two keys of the key set have the same kid')
    }
  }
  return keys
}

async function readPublicKeyOrNull(jwk: JsonObject, sender_id: string | undefined): Promise<PublicKey | null> {
  try {
    return await readPublicKey(jwk, { sender_id })
  } catch (error) {
    if (error instanceof KeyRefused) return null
    throw error
  }
}
