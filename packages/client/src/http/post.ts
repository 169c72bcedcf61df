/** Sends one HTTP request and reads its whole answer, within limits of time and size. */
import { TransportError } from '../errors.ts'
import type { Fetch } from './fetch.ts'
import { BodyProblem, readText } from './read-text.ts'
import { errorCodesText, isCertificateCode, isTlsExpected, schemeProblem, wrongSchemeError } from './wrong-scheme.ts'

export interface HttpSettings {
  readonly fetch: Fetch
  /** The longest time for a request with its whole answer, in milliseconds. */
  readonly timeout: number
  readonly maxAnswerBytes: number
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly text: string
}

/**
 * Sends one request. Redirects are not followed, because the request is for this address only.
 * @throws TransportError, or the reason of `signal` when it aborts
 */
export async function sendOnce(
  { fetch, timeout, maxAnswerBytes }: HttpSettings,
  url: string,
  request: HttpRequest,
  signal?: AbortSignal,
): Promise<HttpAnswer> {
  signal?.throwIfAborted()
  const tooLate = AbortSignal.timeout(timeout)
  const signals = signal === undefined ? [tooLate] : [tooLate, signal]
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.any(signals) })
    if (isRedirect(response)) {
      await response.body?.cancel().catch(() => {})
      throw new TransportError('redirected', 'the registry redirects to another address; redirects are not followed', {
        httpStatus: response.status,
      })
    }
    const text = await readText(response, maxAnswerBytes)
    if (isTlsExpected(url, response.status, text)) throw wrongSchemeError('https')
    return { status: response.status, headers: response.headers, text }
  } catch (error) {
    if (error instanceof TransportError) throw error
    if (signal?.aborted) throw signal.reason
    if (tooLate.aborted) {
      throw new TransportError('timeout', `no answer within ${timeout} ms`, { cause: error })
    }
    throw (await corsProblem(fetch, url, error)) ?? (await schemeProblem(fetch, url, error)) ?? transportProblem(error)
  }
}

/** True for a redirect. A browser shows a redirect that is not followed as an answer without a status. */
function isRedirect({ status, type }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400)
}

/** The longest time for the second request in `corsProblem`, in milliseconds. */
const CORS_PROBE_TIMEOUT_MS = 5_000

/**
 * The error for an answer that the browser hides, because the page that asks is of another origin. The browser reports a hidden
 * answer like a failed connection, so a second request, which needs no readable answer, tests whether the server is reachable.
 * Returns null when the server is not reachable, or no page of another origin asks.
 */
async function corsProblem(fetch: Fetch, url: string, cause: unknown): Promise<TransportError | null> {
  const page = (globalThis as { readonly location?: { readonly origin?: string } }).location?.origin
  const { origin } = new URL(url)
  if (page === undefined || page === origin || cause instanceof BodyProblem) return null
  try {
    await fetch(`${origin}/health`, { mode: 'no-cors', signal: AbortSignal.timeout(CORS_PROBE_TIMEOUT_MS) })
  } catch {
    return null
  }
  const message = `the server answers, but the browser does not let this page read it (CORS): its operator must list ${page} among the web origins of the registry`
  return new TransportError('cors', message, { cause })
}

function transportProblem(error: unknown): TransportError {
  if (error instanceof BodyProblem && error.kind !== 'broken') {
    const reason = error.kind === 'too_large' ? 'too_large' : 'unreadable'
    return new TransportError(reason, `the answer ${error.message}`)
  }
  const codes = errorCodesText(error).trim()
  const message = isCertificateCode(codes)
    ? `its TLS certificate is not trusted (${codes}); for a certificate authority of your own, name its file in NODE_EXTRA_CA_CERTS`
    : 'the address cannot be reached or broke the connection off'
  return new TransportError('unreachable', message, { cause: error })
}
