/** Access tokens: EdDSA JWTs of type at+jwt (RFC 9068), signed and verified here, a quarter of an hour at most. */
import { randomUUID } from 'node:crypto'
import {
  type CryptoKey,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose'
import type { Database } from '../store/database.ts'
import { addFirstTokenKey, listTokenKeys } from '../store/token-keys.ts'
import { shortLived } from './short-lived.ts'

export interface Tokens {
  /** A token for this sender_id and its lifetime in seconds. */
  issue(sender_id: string): Promise<{ access_token: string; expires_in: number }>
  /** The sender_id a token was issued to; null when it is not ours, altered, expired or of another type. */
  verify(token: string): Promise<string | null>
}

const ALGORITHM = 'EdDSA'
const TYPE = 'at+jwt'
/** Issuer and audience of every token: a token of another system that shares the key is still none of ours. */
const ISSUER = 'rollcall'
/** Tokens verified before are remembered until they expire; the oldest go first above this number. */
const MAX_REMEMBERED = 10_000
/** Far above any token of ours; what is longer is not worth a signature check. */
const MAX_TOKEN_LENGTH = 2_048

interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

/** @param options.lifetime seconds */
export function createTokens(db: Database, options: { lifetime: number }): Tokens {
  const keys = shortLived(async () => loadKeys(db), { maxAge: 1_000 })
  const remembered = new Map<string, { sender_id: string; expires: number }>()

  const remember = (token: string, sender_id: string, expires: number): void => {
    remembered.set(token, { sender_id, expires })
    if (remembered.size <= MAX_REMEMBERED) return
    const oldest = remembered.keys().next()
    if (!oldest.done) remembered.delete(oldest.value)
  }

  return {
    async issue(sender_id) {
      const [key] = await keys.get('all')
      if (key === undefined) throw new Error('no key to sign access tokens with')
      const access_token = await new SignJWT()
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: key.kid })
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .setSubject(sender_id)
        .setJti(randomUUID())
        .setIssuedAt()
        .setExpirationTime(`${options.lifetime}s`)
        .sign(key.privateKey)
      return { access_token, expires_in: options.lifetime }
    },

    async verify(token) {
      const known = remembered.get(token)
      if (known !== undefined) {
        if (known.expires > Date.now() / 1_000) return known.sender_id
        remembered.delete(token)
        return null
      }
      if (token.length > MAX_TOKEN_LENGTH) return null
      const loaded = await keys.get('all')
      try {
        const { payload } = await jwtVerify(token, (header) => keyOf(loaded, header.kid), {
          algorithms: [ALGORITHM],
          typ: TYPE,
          issuer: ISSUER,
          audience: ISSUER,
          requiredClaims: ['sub', 'exp'],
        })
        const { sub, exp } = payload
        if (sub === undefined || exp === undefined) return null
        remember(token, sub, exp)
        return sub
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

function keyOf(keys: readonly SigningKey[], kid: string | undefined): CryptoKey {
  const key = keys.find((candidate) => candidate.kid === kid)
  if (key === undefined) throw new errors.JWKSNoMatchingKey()
  return key.publicKey
}

/** The keys in the database, newest first; the first node that ever asks makes the first one. */
async function loadKeys(db: Database): Promise<SigningKey[]> {
  let rows = await listTokenKeys(db)
  if (rows.length === 0) {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    await addFirstTokenKey(db, { kid: randomUUID(), private_jwk: await exportJWK(privateKey) })
    rows = await listTokenKeys(db)
  }
  return Promise.all(rows.map((row) => importKey(row.kid, row.private_jwk)))
}

async function importKey(kid: string, private_jwk: JWK): Promise<SigningKey> {
  const { d: _secret, ...public_jwk } = private_jwk
  const [privateKey, publicKey] = await Promise.all([
    importJWK(private_jwk, ALGORITHM),
    importJWK(public_jwk, ALGORITHM),
  ])
  if (privateKey instanceof Uint8Array || publicKey instanceof Uint8Array) throw new Error('not a key pair')
  return { kid, privateKey, publicKey }
}
