/** Public keys of peers: read from a JWK, whether it was registered or stands in a key set, and chosen for a message. */
import { isJsonObject, type JsonObject, parseJson } from '../json.ts'
import { JsonError } from '../json-error.ts'
import { toBase64Url, utf8 } from './base64.ts'
import { canonicalJson } from './canonical-json.ts'
import { KEY_ENCRYPTIONS } from './encryption/algorithms.ts'
import { type EncryptionKey, publicEncryptionKey } from './encryption/keys.ts'
import {
  algorithmOfJwk,
  bareJwk,
  importVerifyingKey,
  isKid,
  isPrivateJwk,
  type Jwk,
  KeyRefused,
  type LooseJwk,
} from './jwk.ts'
import { ALGORITHMS, type AlgorithmName, type WebCryptoKey } from './signature/algorithms.ts'

/** What a key is for: `sig` verifies what its owner signed, with `enc` we encrypt for its owner. */
export type KeyUse = 'sig' | 'enc'

/** A public key that was read and found good. */
export interface PublicKey {
  readonly kid: string
  readonly use: KeyUse
  /** Of signatures or of key encryption, by its JOSE name. */
  readonly algorithm: string
  /** The members that make the key and no others, as RFC 7638 has them. */
  readonly public_jwk: Jwk
  /** RFC 7638, SHA-256: the same key has the same text for every sender and in every spelling. */
  readonly thumbprint: string
}

/** The owner of a key, and values for members that its JWK may leave out. */
export interface KeyContext {
  /** Undefined where it is not known: any sender's name may stand in a `kid` then. */
  readonly sender_id?: string | undefined
  readonly kid?: string
  readonly use?: KeyUse
}

/** What the text of a member may hold: enough for 8192 bits of RSA in base64. */
const MEMBER_LIMIT = 2_000

/**
 * The key of a JWK, tried out and brought to the one spelling that its thumbprint is made of. Members that say how
 * to find more, such as x5u and x5c, do not count.
 * @throws {KeyRefused} and nothing else
 */
export async function readPublicKey(jwk: LooseJwk, context: KeyContext): Promise<PublicKey> {
  if (isPrivateJwk(jwk)) {
    throw new KeyRefused('this is a private key: its owner keeps it; register its public key')
  }
  const { kty, crv, x, y, n, e } = jwk
  const members = [kty, crv, x, y, n, e].filter((member) => member !== undefined)
  if (!members.every((member) => typeof member === 'string' && member.length <= MEMBER_LIMIT)) {
    throw new KeyRefused(`each member of a key must be a text of at most ${MEMBER_LIMIT} characters`)
  }
  const public_jwk = bareJwk(jwk)
  if (public_jwk === null) {
    throw new KeyRefused('this is no public key of a known type: RSA, EC (P-256) or OKP (Ed25519, X25519)')
  }
  const { use, algorithm } = purposeOf({ alg: jwk.alg, use: jwk.use, public_jwk }, context.use)
  const bytes = utf8(canonicalJson(public_jwk))
  const thumbprint = toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
  const kid = readKid(context.kid ?? jwk.kid ?? thumbprint, use, context.sender_id)
  const key = { kid, use, algorithm, public_jwk, thumbprint }
  // WebCrypto takes the key, and it is strong enough.
  await (use === 'sig' ? verifyingKey(key) : encryptionKey(key))
  return key
}

interface Purpose {
  readonly use: KeyUse
  readonly algorithm: string
}

/** When neither the JWK nor the caller says it, a key is for signatures. */
function purposeOf(
  { alg, use, public_jwk }: { alg: unknown; use: unknown; public_jwk: Jwk },
  wanted: KeyUse | undefined,
): Purpose {
  if (use !== undefined && wanted !== undefined && use !== wanted) {
    throw new KeyRefused(`the JWK says that the key is not for ${wanted}; leave --use out, or register another key`)
  }
  const said = use ?? wanted
  const [found] = PURPOSES.filter((row) => said === undefined || row.use === said).flatMap((row) => {
    const algorithm = row.algorithm(public_jwk, alg)
    return algorithm === null ? [] : [{ use: row.use, algorithm }]
  })
  if (found === undefined)
    throw new KeyRefused(
      'the key fits none of the algorithms of this protocol: EdDSA, ES256 and RS256 to sign, RSA-OAEP-256 and ECDH-ES+A256KW to encrypt',
    )
  return found
}

/** By use: the algorithm of a key that names it, or names none. */
const PURPOSES: readonly { use: KeyUse; algorithm(key: Jwk, alg: unknown): string | null }[] = [
  {
    use: 'sig',
    algorithm(key, alg) {
      const name = algorithmOfJwk(key)
      if (name === null || alg === undefined) return name
      // Some peers publish the spelling that stands in their signatures.
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

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]+$/u

/** The name of a key in messages. Where a JWK has the whole kidId for it (public-standard 1.5), its middle part. */
function readKid(kid: unknown, use: KeyUse, sender_id: string | undefined): string {
  if (!isKid(kid) || !PRINTABLE.test(kid)) {
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

/** @throws {KeyRefused} */
export async function verifyingKey({ public_jwk, algorithm }: PublicKey): Promise<WebCryptoKey> {
  if (!isSignatureAlgorithm(algorithm)) throw new KeyRefused('the key is for no algorithm of signatures')
  return importVerifyingKey(public_jwk, algorithm)
}

/** @throws {KeyRefused} */
export async function encryptionKey({ public_jwk, kid, algorithm }: PublicKey): Promise<EncryptionKey> {
  return publicEncryptionKey({ ...public_jwk, kid, alg: algorithm })
}

/** Keys of one participant that are tried for one signature, and keys in one set. */
export const MOST_KEYS = 20

/** The keys that may have made a signature of this algorithm: those called `kid`, or all where it names none. */
export function signatureKeys<Key extends PublicKey>(
  keys: readonly Key[],
  kid: string | null,
  algorithm: AlgorithmName,
): readonly Key[] {
  const usable = keys.filter(
    (key) => key.use === 'sig' && key.algorithm === algorithm && (kid === null || key.kid === kid),
  )
  const different = new Map(usable.map((key) => [key.thumbprint, key]))
  return [...different.values()].slice(0, MOST_KEYS)
}

/** Milliseconds: how long a fetched key set is believed, may be used while it cannot be fetched, and between requests. */
export const KEY_SET = { fresh: 600_000, usable: 24 * 3_600_000, pause: 30_000 } as const

/** A key set is not taken. The message names the rule and nothing of the content. */
export class KeySetProblem extends Error {
  override readonly name = 'KeySetProblem'
  /** It gives away what only its owner may know: not one of its keys is to be believed any more. */
  readonly exposed: boolean

  constructor(rule: string, exposed = false) {
    super(rule)
    this.exposed = exposed
  }
}

/**
 * The JWKs of a key set (RFC 7517, 5), given as a value or as the text of its JSON.
 * @throws {KeySetProblem} no set, too many keys, or a private or symmetric key among them
 */
export function readKeySet(set: unknown): readonly JsonObject[] {
  const value = typeof set === 'string' ? parsed(set) : set
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

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) throw new KeySetProblem('the key set is no JSON that is read here')
    throw error
  }
}

/**
 * The keys of a set that are of use here, in their order; a key may be published under several names. Keys for other
 * algorithms and uses do not count, nor do members that are unknown.
 * @throws {KeySetProblem} two keys have the same kid
 */
export async function publicKeysOf(
  jwks: readonly JsonObject[],
  sender_id: string | undefined,
): Promise<readonly PublicKey[]> {
  const keys: PublicKey[] = []
  for (const jwk of jwks) {
    const key = await usable(jwk, sender_id)
    if (key === null) continue
    const known = keys.find(({ kid, use }) => kid === key.kid && use === key.use)
    if (known === undefined) keys.push(key)
    else if (known.thumbprint !== key.thumbprint) {
      throw new KeySetProblem('two keys of the key set have the same kid')
    }
  }
  return keys
}

async function usable(jwk: JsonObject, sender_id: string | undefined): Promise<PublicKey | null> {
  try {
    return await readPublicKey(jwk, { sender_id })
  } catch (error) {
    if (error instanceof KeyRefused) return null
    throw error
  }
}
