/** One request over a guarded connection: bounded in time and size, nothing followed, nothing unpacked. */
import type { Dispatcher } from 'undici'
import { AddressRefused, codeOf, RequestFailed } from './outbound-problems.ts'

export interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** For everything: waiting for a connection, making it, sending, and reading the whole answer. */
  readonly timeoutMs: number
  /** Of the body of the answer. */
  readonly maxBytes: number
}

export interface Answer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
}

/**
 * Sends one request to an address that was judged.
 * @throws {AddressRefused} when the host resolves to an address that is refused
 * @throws {RequestFailed}
 */
export async function sendRequest(agent: Dispatcher, url: URL, request: GuardedRequest): Promise<Answer> {
  const { method, body = null, timeoutMs, maxBytes } = request
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: requestHeaders(url, request.headers),
      body,
      signal,
      // The signal bounds the whole; these would only bound its parts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { status: answer.statusCode, headers: answer.headers, body: await readBody(answer, maxBytes) }
  } catch (error) {
    throw asProblem(error, signal)
  }
}

/** The host is that of the address, and the answer is asked for as it is, so that its size is known. */
function requestHeaders(url: URL, headers: GuardedRequest['headers'] = {}): Record<string, string> {
  const lowered = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return { ...Object.fromEntries(lowered), host: url.host, 'accept-encoding': 'identity' }
}

async function readBody({ headers, body }: Dispatcher.ResponseData, maxBytes: number): Promise<Uint8Array> {
  const encoding = headers['content-encoding'] ?? 'identity'
  const announced = Number(headers['content-length'] ?? 0)
  try {
    if (encoding !== 'identity') throw new RequestFailed('encoded')
    if (announced > maxBytes) throw new RequestFailed('too_large')
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of body) {
      bytes += (chunk as Uint8Array).byteLength
      if (bytes > maxBytes) throw new RequestFailed('too_large')
      chunks.push(chunk as Uint8Array)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    // What is left of the answer is not wanted, nor what the stream says when it is cut off.
    body.on('error', () => {}).destroy()
    throw error
  }
}

function asProblem(error: unknown, signal: AbortSignal): AddressRefused | RequestFailed {
  if (error instanceof AddressRefused || error instanceof RequestFailed) return error
  const code = codeOf(error)
  const late = signal.aborted || code === 'UND_ERR_CONNECT_TIMEOUT'
  return new RequestFailed(late ? 'timeout' : 'connection', code)
}
