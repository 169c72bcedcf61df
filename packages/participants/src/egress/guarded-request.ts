/** Sends one request over a guarded connection, limited in time and size. Redirects are not followed. */
import { ByteCollector } from '@rollcall/base/shared/pieces'
import type { Dispatcher } from 'undici'
import { AddressRefused, errorCodeOf, RequestFailed } from './problems.ts'

/** A request to another system, with its limits of time and size. */
export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Milliseconds for the whole request: waiting for a connection, connecting, sending and reading the answer. */
  readonly timeoutMs: number
  /** The largest body of an answer, in bytes. */
  readonly maxBytes: number
  /**
   * How a longer or compressed answer is treated. `refuse` (the default): the request fails. `cut`: its status is used,
   * and its body is read up to the limit; a compressed body is not read.
   */
  readonly beyond?: 'refuse' | 'cut'
}

/** The answer of the other system. */
export interface GuardedAnswer {
  readonly status: number
  /** The headers of the answer; the names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

/**
 * Sends one request to a checked address.
 * @throws {AddressRefused} the host has a refused address
 * @throws {RequestFailed}
 */
export async function sendRequest(agent: Dispatcher, url: URL, request: GuardedRequest): Promise<GuardedAnswer> {
  const { method, body = null, timeoutMs } = request
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: requestHeaders(url, request.headers),
      body,
      signal,
      // The signal limits the time of the whole request. These two options of undici would limit only parts of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { status: answer.statusCode, headers: answer.headers, body: await readAnswerBody(answer, request) }
  } catch (error) {
    throw toOutgoingRequestError(error, signal)
  }
}

/** The headers to send. A compressed answer is not accepted, so that the size of the answer is known. */
function requestHeaders(url: URL, headers: GuardedRequest['headers'] = {}): Record<string, string> {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { ...Object.fromEntries(lowered), host: url.host, 'accept-encoding': 'identity' }
}

async function readAnswerBody(
  { headers, body }: Dispatcher.ResponseData,
  { maxBytes, beyond = 'refuse' }: GuardedRequest,
): Promise<Uint8Array> {
  const encoding = headers['content-encoding'] ?? 'identity'
  const announced = Number(headers['content-length'] ?? 0)
  const chunks = new ByteCollector()
  try {
    if (encoding !== 'identity') throw new RequestFailed('encoded')
    if (announced > maxBytes && beyond === 'refuse') throw new RequestFailed('too_large')
    let bytes = 0
    for await (const chunk of body) {
      const left = maxBytes - bytes
      bytes += (chunk as Uint8Array).byteLength
      chunks.push((chunk as Uint8Array).subarray(0, left))
      if (bytes > maxBytes) throw new RequestFailed('too_large')
    }
  } catch (error) {
    // The rest of the answer is not read. The error that its stream then reports is ignored.
    body.on('error', () => {}).destroy()
    const isBeyond = error instanceof RequestFailed && ['encoded', 'too_large'].includes(error.failure)
    if (!isBeyond || beyond === 'refuse') throw error
  }
  return chunks.bytes()
}

function toOutgoingRequestError(error: unknown, signal: AbortSignal): AddressRefused | RequestFailed {
  if (error instanceof AddressRefused || error instanceof RequestFailed) return error
  const code = errorCodeOf(error)
  const late = signal.aborted || code === 'UND_ERR_CONNECT_TIMEOUT'
  return new RequestFailed(late ? 'timeout' : 'connection', code)
}
