/** Access tokens: fetched once for all who wait, renewed before they expire (public standard 1.3; RFC 6749, 4.4). */
import { isJsonObject } from '@rollcall/protocol'
import { TokenRefused, TransportError } from '../errors.ts'
import { type HttpSettings, send } from './post.ts'
import { isTransient, type Retry, withRetries } from './retry.ts'

/** What a registry gives a participant when it is taken in. */
export interface ClientCredentials {
  readonly client_id: string
  readonly client_secret: string
  /** By default `/oauth2/client/token` at the host of the registry. */
  readonly token_url?: string
  readonly scope?: string
}

/** Gives an access token of another making; `renew` says that the last one was refused. */
export type GiveToken = (options: { readonly renew: boolean }) => string | Promise<string>

export interface Tokens {
  /** @throws TokenRefused, TransportError */
  get(): Promise<string>
  /** A token in place of one that was refused; the same for all whose token it was. */
  renew(refused: string): Promise<string>
}

/** Asks a function whenever a token is needed: it may remember what it gave. */
export function givenTokens(give: GiveToken): Tokens {
  return {
    get: async () => give({ renew: false }),
    renew: async () => give({ renew: true }),
  }
}

interface Token {
  readonly value: string
  /** Unix times in milliseconds. */
  readonly renewAt: number
  readonly expiresAt: number
}

/** A token whose answer does not say how long it lives is taken for one of this many seconds. */
const LIFETIME = 300
/** It is renewed when a tenth of its life is left, or a minute if that is less. */
const LEFT = { part: 0.1, most: 60_000 }

/** Tokens for client credentials. */
export function fetchedTokens(
  http: HttpSettings,
  retry: Retry,
  credentials: ClientCredentials & { readonly token_url: string },
): Tokens {
  let held: Token | undefined
  let fetching: Promise<Token> | undefined

  const fetchOnce = (): Promise<Token> => {
    fetching ??= fetchToken(http, retry, credentials).finally(() => {
      fetching = undefined
    })
    return fetching.then((token) => {
      held = token
      return token
    })
  }

  return {
    async get() {
      const now = Date.now()
      if (held !== undefined && now < held.renewAt) return held.value
      try {
        return (await fetchOnce()).value
      } catch (error) {
        // Until it expires the old one is good, whatever has become of the token endpoint.
        if (held !== undefined && Date.now() < held.expiresAt && error instanceof TransportError) {
          return held.value
        }
        throw error
      }
    },
    async renew(refused) {
      if (held !== undefined && held.value !== refused) return held.value
      held = undefined
      return (await fetchOnce()).value
    },
  }
}

async function fetchToken(
  http: HttpSettings,
  retry: Retry,
  { client_id, client_secret, token_url, scope }: ClientCredentials & { readonly token_url: string },
): Promise<Token> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  if (scope !== undefined) form.set('scope', scope)
  const answer = await withRetries(
    () =>
      send(http, token_url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
        body: form.toString(),
      }),
    retry,
  )
  if (answer.status >= 500 || isTransient(answer)) {
    throw new TransportError('unreachable', 'the token endpoint does not answer at the moment', {
      attempts: answer.attempts,
      httpStatus: answer.status,
    })
  }
  const body = parsed(answer.text)
  if (answer.status !== 200) throw refusal(body, answer.status)
  const { access_token, expires_in } = body
  if (typeof access_token !== 'string' || access_token === '') {
    throw new TransportError('unreadable', 'the answer of the token endpoint holds no access_token', {
      httpStatus: answer.status,
    })
  }
  // Declared as a text, given as a number: both are read.
  const seconds = Number(expires_in)
  const life = (Number.isFinite(seconds) && seconds > 0 ? seconds : LIFETIME) * 1_000
  const now = Date.now()
  return {
    value: access_token,
    renewAt: now + life - Math.min(life * LEFT.part, LEFT.most),
    expiresAt: now + life,
  }
}

function refusal({ error, error_description }: Record<string, unknown>, status: number): TokenRefused {
  const code = typeof error === 'string' ? error : 'invalid_client'
  const why = typeof error_description === 'string' ? error_description : `HTTP status ${status}`
  return new TokenRefused(code, why, status)
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
