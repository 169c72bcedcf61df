/** Finds addresses with http:// where the server expects TLS, or with https:// where it does not. */
import { TransportError } from '../errors.ts'
import type { Fetch } from './fetch.ts'

/** Matches OpenSSL's error codes when a server answers without TLS. */
const NO_TLS_PATTERN = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST|UNKNOWN_PROTOCOL/
/** Matches error codes of a broken connection. A TLS server may have closed it, because the request had no TLS. */
const BROKEN_CONNECTION_PATTERN = /ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_|ConnectionClosed/
/** Matches answers of proxies (nginx, Caddy and others) to plain HTTP where they expect TLS. */
const TLS_EXPECTED_PATTERN = /plain HTTP request .{0,40} HTTPS port|HTTP request to an HTTPS server/i

/** The longest time for a TLS server to answer, in milliseconds. */
const TLS_PROBE_MS = 2_000

/**
 * Returns the error for a wrong scheme in the address; null when nothing shows that the scheme is wrong. After a broken http
 * connection, the function sends an https request to the server to find out.
 */
export async function schemeProblem(fetch: Fetch, url: string, error: unknown): Promise<TransportError | null> {
  const text = errorCodesText(error)
  if (url.startsWith('https:')) return NO_TLS_PATTERN.test(text) ? wrongSchemeError('http', error) : null
  if (!BROKEN_CONNECTION_PATTERN.test(text)) return null
  const { host } = new URL(url)
  try {
    await fetch(`https://${host}/health`, { redirect: 'manual', signal: AbortSignal.timeout(TLS_PROBE_MS) })
  } catch (failure) {
    // A certificate that is not trusted also shows that the server uses TLS.
    if (!isCertificateCode(errorCodesText(failure))) return null
  }
  return wrongSchemeError('https', error)
}

/** True for an answer that says that the server expects TLS. */
export const isTlsExpected = (url: string, status: number, text: string): boolean =>
  url.startsWith('http:') && status === 400 && TLS_EXPECTED_PATTERN.test(text)

/** Makes the error. @param scheme the scheme that the server expects */
export function wrongSchemeError(scheme: 'http' | 'https', cause?: unknown): TransportError {
  const other = scheme === 'https' ? 'http' : 'https'
  return new TransportError(
    'unreadable',
    `the address answers ${scheme}: write ${scheme}:// in place of ${other}://`,
    cause === undefined ? {} : { cause },
  )
}

/** True for Node's error codes about certificates. */
export const isCertificateCode = (text: string): boolean => /CERT|SELF_SIGNED|UNABLE_TO/.test(text)

/** The codes of a failed `fetch` and of its causes, as one text. */
export function errorCodesText(error: unknown): string {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown }
  const own = typeof code === 'string' ? code : ''
  return cause === undefined || cause === null ? own : `${own} ${errorCodesText(cause)}`
}
