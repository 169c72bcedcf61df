/** Access tokens: waiting callers share one request; renewed before they expire (public standard 1.3; RFC 6749, 4.4). */
import { type Fetched, Refreshed, readTokenAnswer, TokenProblem } from '@rollcall/protocol'
import { TokenRefused, TransportError } from '../errors.ts'
import { type HttpAnswer, type HttpSettings, sendOnce } from './post.ts'
import { type Retry, withRetries } from './retry.ts'

/** The credentials that a registry gives to a new participant. */
export interface ClientCredentials {
  readonly client_id: string
  readonly client_secret: string
  /** The address of the token endpoint; by default `/oauth2/client/token` on the registry's host. */
  readonly token_url?: string
  readonly scope?: string
}

/** Gives an access token from another source. `renew` is true when the last one was refused. */
export type GiveToken = (options: { readonly renew: boolean }) => string | Promise<string>

export interface TokenSource {
  /** A token that has not expired, as far as is known. @throws TokenRefused, TransportError, AckError */
  get(): Promise<string>
  /** A token in place of a refused one. With client credentials, all requests that had the refused token get the same new one. */
  renew(refused: string): Promise<string>
}

/** Tokens from a function. The function is called for each request, and may itself remember the token. */
export function functionTokenSource(give: GiveToken): TokenSource {
  return { get: async () => give({ renew: false }), renew: async () => give({ renew: true }) }
}

/**
 * Tokens for client credentials. A token is renewed before it expires. If the renewal fails, the token is used until it expires,
 * unless the endpoint has refused to give another token.
 * @param readFault finds the refusal in an answer without an OAuth error code, such as a proxy's; null when there is none
 */
export function fetchedTokenSource(
  http: HttpSettings,
  retry: Retry,
  credentials: ClientCredentials & { readonly token_url: string },
  readFault: (answer: HttpAnswer) => Error | null,
): TokenSource {
  const token = new Refreshed<string>({
    pause: { withValue: 0, without: 0 },
    survives: (error) => error instanceof TransportError,
  })
  const get = (): Promise<string> => token.get(() => fetchToken(http, retry, credentials, readFault))
  return {
    get,
    async renew(refused) {
      token.drop((value) => value === refused)
      return get()
    },
  }
}

async function fetchToken(
  http: HttpSettings,
  retry: Retry,
  { client_id, client_secret, token_url, scope }: ClientCredentials & { readonly token_url: string },
  readFault: (answer: HttpAnswer) => Error | null,
): Promise<Fetched<string>> {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  if (scope !== undefined) form.set('scope', scope)
  const answer = await withRetries(
    () =>
      sendOnce(http, token_url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded', Accept: 'application/json' },
        body: form.toString(),
      }),
    retry,
  )
  const { status, text, attempts } = answer
  try {
    return readTokenAnswer(status, text)
  } catch (error) {
    if (!(error instanceof TokenProblem)) throw error
    // An answer without an OAuth error code is not from a token endpoint but, for example, from a proxy: `readFault` reads its
    // form.
    if (error.kind === 'refused' && error.code === '') throw readFault(answer) ?? tokenAnswerError(answer)
    if (error.kind === 'refused') throw new TokenRefused(error.code, error.message, status)
    const reason = error.kind === 'away' ? 'unreachable' : 'unreadable'
    throw new TransportError(reason, error.message, { attempts, httpStatus: status })
  }
}

const tokenAnswerError = ({ status }: HttpAnswer): TransportError =>
  new TransportError('unreadable', `the token endpoint answers HTTP status ${status} without an error code`, {
    httpStatus: status,
  })
