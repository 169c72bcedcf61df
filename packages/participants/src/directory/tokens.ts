/** Access tokens for participants: EdDSA JWTs of type at+jwt (RFC 9068), which this server signs and verifies. */
import { randomUUID } from 'node:crypto'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createLruCache } from '@rollcall/base/shared/recently-used'
import type { Participant } from '@rollcall/core/model/participant'
import { type CryptoKey, errors, jwtVerify, SignJWT } from 'jose'

/** The server's own keys that sign and verify access tokens. */
export interface TokenKeys {
  signing(): Promise<{ readonly kid: string; readonly privateKey: CryptoKey }>
  /** The key with this kid; null when it is unknown or no longer valid. */
  verification(kid: string): Promise<{ readonly publicKey: CryptoKey } | null>
}

/** Issues and verifies access tokens. */
export interface AccessTokens {
  /** Issues a token for this participant. `expires_in` is its lifetime in seconds. */
  issue(owner: TokenOwner): Promise<{ access_token: string; expires_in: number }>
  /** The owner of a token; null: it was not made here, was altered, has expired, or its key is not valid any more. */
  verify(token: string): Promise<TokenOwner | null>
}

/**
 * The claims of a token about its participant. A participant that was removed and added again has another `client_id`,
 * and a promoted one another environment, so their older tokens are refused.
 */
export type TokenOwner = Pick<Participant, 'sender_id' | 'client_id' | 'environment'>

const TOKEN_ALGORITHM = 'EdDSA'
const TOKEN_TYPE = 'at+jwt'
/** The issuer and the audience of every token. Tokens of another system that has the same key are refused. */
const TOKEN_ISSUER = 'rollcall'
/** The claim of tokens for sandbox participants; tokens of live ones do not have it. */
const ENVIRONMENT_CLAIM = 'environment'
/** The most verified tokens that are cached: each until it expires at the latest, or until others need its place. */
const MOST_CACHED_TOKENS = 10_000
/** The length in characters above which a token is refused unchecked. Our tokens are far shorter. */
const MOST_TOKEN_CHARACTERS = 2_048

/**
 * Creates the functions that issue and verify access tokens.
 * @param options.lifetime seconds
 * @param clock the time of issue and of expiry
 */
export function createAccessTokenIssuer(
  keys: TokenKeys,
  options: { lifetime: number },
  clock: Pick<Clock, 'date'> = SYSTEM_CLOCK,
): AccessTokens {
  const remembered = createLruCache<string, VerifiedToken>(MOST_CACHED_TOKENS)
  return {
    async issue({ sender_id, client_id, environment }) {
      const key = await keys.signing()
      const now = Math.floor(clock.date() / 1_000)
      const access_token = await new SignJWT({ client_id, ...(environment !== 'live' && { [ENVIRONMENT_CLAIM]: environment }) })
        .setProtectedHeader({ alg: TOKEN_ALGORITHM, typ: TOKEN_TYPE, kid: key.kid })
        .setIssuer(TOKEN_ISSUER)
        .setAudience(TOKEN_ISSUER)
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
        // A cached token is refused too when its key is no longer valid.
        if (known.expires > clock.date() / 1_000 && (await keys.verification(known.kid)) !== null) {
          return known
        }
        remembered.delete(token)
        return null
      }
      if (token.length > MOST_TOKEN_CHARACTERS || !isCanonicalToken(token)) return null
      try {
        const { payload, protectedHeader } = await jwtVerify(token, (header) => requireTokenKey(keys, header.kid), {
          algorithms: [TOKEN_ALGORITHM],
          typ: TOKEN_TYPE,
          currentDate: new Date(clock.date()),
          issuer: TOKEN_ISSUER,
          audience: TOKEN_ISSUER,
          requiredClaims: ['sub', 'client_id', 'exp'],
        })
        const { sub, exp, client_id } = payload
        const { kid } = protectedHeader
        if (sub === undefined || exp === undefined || kid === undefined) return null
        if (typeof client_id !== 'string') return null
        const environment = payload[ENVIRONMENT_CLAIM] === 'sandbox' ? 'sandbox' : 'live'
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

interface VerifiedToken extends TokenOwner {
  /** Unix time in seconds at which the token expires. */
  readonly expires: number
  readonly kid: string
}

/**
 * Whether each part of a token is spelt in the one canonical way. The last character of base64url may have unused bits,
 * so that one token could be written in several ways.
 */
const isCanonicalToken = (token: string): boolean =>
  token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)

async function requireTokenKey(keys: TokenKeys, kid: string | undefined): Promise<CryptoKey> {
  const key = kid === undefined ? null : await keys.verification(kid)
  if (key === null) throw new errors.JWKSNoMatchingKey()
  return key.publicKey
}
