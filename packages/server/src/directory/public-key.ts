/** Reads a participant's public key from a JWK (RFC 7517), whether it was registered or stands in a key set. */
import { createHash, createPublicKey } from 'node:crypto'
import {
  ALGORITHMS,
  type AlgorithmName,
  algorithmOfJwk,
  canonicalJson,
  importVerifyingKey,
  isKid,
  isPrivateJwk,
  type Jwk,
  JwkError,
  KEY_ENCRYPTIONS,
  publicEncryptionKey,
  UnusableKey,
} from '@rollcall/protocol'
import type { KeyUse, PublicKey } from '../store/directory/participant-keys.ts'

/** A key was refused. The message is for the operator and names the rule, never a value. */
export class KeyRefused extends Error {
  constructor(rule: string) {
    super(rule)
    this.name = 'KeyRefused'
  }
}

/** The owner of a key, and what to take for what its JWK leaves out. */
export interface KeyContext {
  readonly sender_id: string
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
export async function readPublicKey(
  jwk: Readonly<Record<string, unknown>>,
  context: KeyContext,
): Promise<PublicKey> {
  if (isPrivateJwk(jwk)) {
    throw new KeyRefused('this is a private key: its owner keeps it; register its public key')
  }
  const public_jwk = spelledOnce(jwk)
  const { use, algorithm } = purposeOf({ alg: jwk.alg, use: jwk.use, public_jwk }, context.use)
  const thumbprint = createHash('sha256').update(canonicalJson(public_jwk)).digest('base64url')
  const kid = readKid(context.kid ?? jwk.kid ?? thumbprint, use, context.sender_id)
  const key = { kid, use, algorithm, public_jwk, thumbprint }
  await tryOut(key)
  return key
}

/** The members that make the key, as one engine writes them: no leading zeros, no other spelling of base64. */
function spelledOnce(jwk: Readonly<Record<string, unknown>>): Jwk {
  const { kty, crv, x, y, n, e } = jwk
  const members = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined)
  if (!members.every(([, value]) => typeof value === 'string' && value.length <= MEMBER_LIMIT)) {
    throw new KeyRefused(`each member of a key must be a text of at most ${MEMBER_LIMIT} characters`)
  }
  try {
    const key = createPublicKey({ key: Object.fromEntries(members), format: 'jwk' })
    return key.export({ format: 'jwk' }) as Jwk
  } catch {
    throw new KeyRefused('this is no public key of a known type: RSA, EC (P-256) or OKP (Ed25519, X25519)')
  }
}

interface Purpose {
  readonly use: KeyUse
  readonly algorithm: string
}

/** For signatures, where the JWK and the operator leave it open. */
function purposeOf(
  { alg, use, public_jwk }: { alg: unknown; use: unknown; public_jwk: Jwk },
  wanted: KeyUse | undefined,
): Purpose {
  if (use !== undefined && wanted !== undefined && use !== wanted) {
    throw new KeyRefused(
      `the JWK says that the key is not for ${wanted}; leave --use out, or register another key`,
    )
  }
  const said = use ?? wanted
  const found = PURPOSES.filter((row) => said === undefined || row.use === said).flatMap((row) => {
    const algorithm = row.algorithm(public_jwk, alg)
    return algorithm === null ? [] : [{ use: row.use, algorithm }]
  })
  const [first] = found
  if (first === undefined)
    throw new KeyRefused(
      'the key fits none of the algorithms of this protocol: EdDSA, ES256 and RS256 to sign, RSA-OAEP-256 and ECDH-ES+A256KW to encrypt',
    )
  return first
}

/** By use: the algorithm of a key that names it, or names none. */
const PURPOSES: readonly { use: KeyUse; algorithm(key: Jwk, alg: unknown): string | null }[] = [
  {
    use: 'sig',
    algorithm(key, alg) {
      const name = algorithmOfJwk(key)
      if (name === null || alg === undefined) return name
      return typeof alg === 'string' && ALGORITHMS[name].spellings.jws.includes(alg) ? name : null
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
function readKid(kid: unknown, use: KeyUse, sender_id: string): string {
  if (!isKid(kid) || !PRINTABLE.test(kid)) {
    throw new KeyRefused('a kid must be a text of 1 to 256 printable characters')
  }
  const [sender, middle, algorithm, ...more] = kid.split('|')
  const whole = sender === sender_id && middle && algorithm && more.length === 0
  const short = use === 'sig' && whole ? middle : kid
  if (use === 'sig' && /[|"]/.test(short)) {
    throw new KeyRefused(
      'the kid of a key for signatures must have neither | nor ", because it is a part of kidId',
    )
  }
  return short
}

/** An engine takes the key, and it is strong enough. */
async function tryOut({ kid, use, algorithm, public_jwk }: PublicKey): Promise<void> {
  try {
    if (use === 'sig') await importVerifyingKey(public_jwk, algorithm as AlgorithmName)
    else await publicEncryptionKey({ ...public_jwk, kid, alg: algorithm })
  } catch (error) {
    if (error instanceof JwkError || error instanceof UnusableKey) throw new KeyRefused(error.message)
    throw error
  }
}
