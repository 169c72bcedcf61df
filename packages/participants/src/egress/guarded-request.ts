/**
 * Sends one request over a guarded connection, limited in time and size. Redirects are not followed, and nothing is
 * decompressed.
 */
import type { Dispatcher } from 'undici'
import { AddressRefused, codeOf, RequestFailed } from './problems.ts'

export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** For the whole request: waiting for a connection, connecting, sending, and reading the whole answer. */
  readonly timeoutMs: number
  /** The limit for the body of the answer. */
  readonly maxBytes: number
  /**
   * How a longer or compressed answer is treated. `refuse` (the default): the request fails. `cut`: its status is used,
   * and its body is read up to the limit.
   */
  readonly beyond?: 'refuse' | 'cut'
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

/**
 * Sends one request to a checked address.
 * @throws {AddressRefused} the host resolves to a refused address
 * @throws {RequestFailed}
 */
export async function sendRequest(agent: Dispatcher, url: URL, request: GuardedRequest): Promise<Answer> {
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
      // The signal limits the whole request; these would limit only its parts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { status: answer.statusCode, headers: answer.headers, body: await readBody(answer, request) }
  } catch (error) {
    throw asProblem(error, signal)
  }
}

/** The Host header is that of the address. The answer must not be compressed, so that its size is known. */
function requestHeaders(url: URL, headers: GuardedRequest['headers'] = {}): Record<string, string> {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { ...Object.fromEntries(lowered), host: url.host, 'accept-encoding': 'identity' }
}

async function readBody(
  { headers, body }: Dispatcher.ResponseData,
  { maxBytes, beyond = 'refuse' }: GuardedRequest,
): Promise<Uint8Array> {
  const encoding = headers['content-encoding'] ?? 'identity'
  const announced = Number(headers['content-length'] ?? 0)
  const chunks: Uint8Array[] = []
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
    // Discards the rest of the answer, and the stream's error when it is cut off.
    body.on('error', () => {}).destroy()
    const isBeyond = error instanceof RequestFailed && ['encoded', 'too_large'].includes(error.failure)
    if (!isBeyond || beyond === 'refuse') throw error
  }
  return Buffer.concat(chunks)
}

function asProblem(error: unknown, signal: AbortSignal): AddressRefused | RequestFailed {
  if (error instanceof AddressRefused || error instanceof RequestFailed) return error
  const code = codeOf(error)
  const late = signal.aborted || code === 'UND_ERR_CONNECT_TIMEOUT'
  return new RequestFailed(late ? 'timeout' : 'connection', code)
}
