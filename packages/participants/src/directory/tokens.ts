/** Access tokens: EdDSA JWTs of type at+jwt (RFC 9068), signed and verified here, a quarter of an hour at most. */
import { randomUUID } from 'node:crypto'
import { CLOCK, type Clock } from '@rollcall/base/shared/clock'
import { recentlyUsed } from '@rollcall/base/shared/recently-used'
import type { Participant } from '@rollcall/core/model/participant'
import { type CryptoKey, errors, jwtVerify, SignJWT } from 'jose'

/** The keys that sign and verify tokens, a part of the server's own keys. */
export interface TokenKeys {
  signing(): Promise<{ readonly kid: string; readonly privateKey: CryptoKey }>
  /** Null: there is no live key with this kid. */
  verification(kid: string): Promise<{ readonly publicKey: CryptoKey } | null>
}

export interface Tokens {
  /** A token for this participant, and its lifetime in seconds. */
  issue(owner: TokenOwner): Promise<{ access_token: string; expires_in: number }>
  /** The owner of a token; null when the token is not ours, was altered, has expired, or has another type. */
  verify(token: string): Promise<TokenOwner | null>
}

/**
 * The participant when the token was issued. A participant that was removed and added again has another `client_id`,
 * and a promoted one another environment, so their older tokens are refused.
 */
export type TokenOwner = Pick<Participant, 'sender_id' | 'client_id' | 'environment'>

const ALGORITHM = 'EdDSA'
const TYPE = 'at+jwt'
/** Issuer and audience of every token, so that tokens of another system with the same key are refused. */
const ISSUER = 'rollcall'
/** The claim of tokens for sandbox participants; tokens of live ones do not have it. */
const ENVIRONMENT = 'environment'
/** Verified tokens that are cached until they expire. */
const MAX_REMEMBERED = 10_000
/** Our tokens are far shorter than this many characters; the signature of a longer one is not checked. */
const MAX_TOKEN_LENGTH = 2_048

/**
 * @param options.lifetime seconds
 * @param clock gives the time at which tokens are issued and expire
 */
export function createTokens(
  keys: TokenKeys,
  options: { lifetime: number },
  clock: Pick<Clock, 'date'> = CLOCK,
): Tokens {
  const remembered = recentlyUsed<string, Verified>(MAX_REMEMBERED)
  return {
    async issue({ sender_id, client_id, environment }) {
      const key = await keys.signing()
      const now = Math.floor(clock.date() / 1_000)
      const access_token = await new SignJWT({
        client_id,
        ...(environment !== 'live' && { [ENVIRONMENT]: environment }),
      })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: key.kid })
        .setIssuer(ISSUER)
        .setAudience(ISSUER)
        .setSubject(sender_id)
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setExpirationTime(now + options.lifetime)
        .sign(key.privateKey)
      return { access_token, expires_in: options.lifetime }
    },

    async verify(token) {
      const known = remembered.get(token)
      if (known !== undefined) {
        // A cached token is refused as soon as its key is revoked.
        if (known.expires > clock.date() / 1_000 && (await keys.verification(known.kid)) !== null) {
          return known
        }
        remembered.delete(token)
        return null
      }
      if (token.length > MAX_TOKEN_LENGTH || !isCanonical(token)) return null
      try {
        const { payload, protectedHeader } = await jwtVerify(token, (header) => keyOf(keys, header.kid), {
          algorithms: [ALGORITHM],
          typ: TYPE,
          currentDate: new Date(clock.date()),
          issuer: ISSUER,
          audience: ISSUER,
          requiredClaims: ['sub', 'client_id', 'exp'],
        })
        const { sub, exp, client_id } = payload
        const { kid } = protectedHeader
        if (sub === undefined || exp === undefined || kid === undefined) return null
        if (typeof client_id !== 'string') return null
        const environment = payload[ENVIRONMENT] === 'sandbox' ? 'sandbox' : 'live'
        const verified = { sender_id: sub, client_id, environment, expires: exp, kid } as const
        remembered.set(token, verified)
        return verified
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

interface Verified extends TokenOwner {
  /** Unix time in seconds */
  readonly expires: number
  readonly kid: string
}

/**
 * Whether each part is the only spelling of its bytes. The last character of base64url may have unused bits, so one
 * token could be spelt in several ways.
 */
const isCanonical = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

async function keyOf(keys: TokenKeys, kid: string | undefined): Promise<CryptoKey> {
  const key = kid === undefined ? null : await keys.verification(kid)
  if (key === null) throw new errors.JWKSNoMatchingKey()
  return key.publicKey
}
