/** Reads the answer of a token endpoint to client credentials (RFC 6749, 4.4 and 5). */
import { isJsonObject, type JsonObject, parseJson } from '../json.ts'
import { JsonError } from '../json-error.ts'
import type { Fetched } from './refreshed.ts'

/**
 * There is no access token. `away`: the endpoint does not answer now. `refused`: it refuses to give one. `unreadable`:
 * its answer has no token that a header may have.
 */
export class TokenProblem extends Error {
  override readonly name = 'TokenProblem'
  readonly kind: 'away' | 'refused' | 'unreadable'
  readonly httpStatus: number
  /**
   * For `refused`, the `error` in the answer (RFC 6749, 5.2). When the answer has none, it is `invalid_client` for the
   * statuses 401 and 403, and empty for others.
   */
  readonly code: string

  constructor(kind: TokenProblem['kind'], httpStatus: number, message: string, code = '') {
    super(message)
    this.kind = kind
    this.httpStatus = httpStatus
    this.code = code
  }
}

/** Matches a token that a header may have (RFC 6750, 2.1). */
const BEARER_TOKEN_PATTERN = /^[\w.~+/-]{1,8192}=*$/
/** The life of a token in seconds: when the answer does not say it (`unsaid`), and at most (`longest`). */
const TOKEN_LIFE_SECONDS = { unsaid: 60, longest: 86_400 }
/** A token is renewed when only the share `part` of its life is left, or `most` milliseconds if that is less. */
const TOKEN_LIFE_LEFT_AT_RENEWAL = { part: 0.1, most: 60_000 }

/** The token, and how long it may be used. @throws TokenProblem */
export function readTokenAnswer(status: number, text: string): Fetched<string> {
  if (status >= 500 || status === 429) {
    throw new TokenProblem('away', status, 'the token endpoint does not answer at the moment')
  }
  const answer = parseObjectOrEmpty(text)
  if (status !== 200) throw tokenRefusal(answer, status)
  const { access_token, token_type, expires_in } = answer
  const isBearer = typeof token_type !== 'string' || token_type.toLowerCase() === 'bearer'
  if (typeof access_token !== 'string' || !BEARER_TOKEN_PATTERN.test(access_token) || !isBearer) {
    throw new TokenProblem('unreadable', status, 'the answer of the token endpoint holds no access_token')
  }
  // expires_in is declared as a text, and often given as a number: both are read. Number() of an object may throw.
  const seconds = typeof expires_in === 'object' ? Number.NaN : Number(expires_in)
  const life = (seconds > 0 ? Math.min(seconds, TOKEN_LIFE_SECONDS.longest) : TOKEN_LIFE_SECONDS.unsaid) * 1_000
  return {
    value: access_token,
    fresh: life - Math.min(life * TOKEN_LIFE_LEFT_AT_RENEWAL.part, TOKEN_LIFE_LEFT_AT_RENEWAL.most),
    usable: life,
  }
}

function tokenRefusal({ error, error_description }: JsonObject, status: number): TokenProblem {
  const unsaid = status === 401 || status === 403 ? 'invalid_client' : ''
  const code = typeof error === 'string' ? error : unsaid
  const why = typeof error_description === 'string' ? error_description : `HTTP status ${status}`
  return new TokenProblem('refused', status, why, code)
}

function parseObjectOrEmpty(text: string): JsonObject {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (error instanceof JsonError) return {}
    throw error
  }
}
