/** Lets a handler of web-standard requests answer requests of node:http. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A Receiver, or another handler of web-standard requests. */
export interface RequestHandler {
  readonly handle: (request: Request) => Promise<Response>
}

/** Makes a listener for `http.createServer` from a handler. When the promise of `handle` rejects, it closes the connection. */
export function nodeListener(receiver: RequestHandler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answerRequest(receiver, request, response).catch(() => response.destroy())
  }
}

/** A body that a framework has read already. */
export type AlreadyReadBody = string | Uint8Array<ArrayBuffer>

interface AnswerOptions {
  /** The body, if it was read already; otherwise it is read from the request. */
  readonly body?: AlreadyReadBody
  /** The path and query as they were sent, if a framework has changed them in `request`. */
  readonly url?: string
}

/** Answers one request of node:http with a handler. */
export async function answerRequest(
  receiver: RequestHandler,
  request: IncomingMessage,
  response: ServerResponse,
  { body, url = request.url ?? '/' }: AnswerOptions = {},
): Promise<void> {
  const answered = await receiver.handle(webRequest(request, url, body))
  const text = await answered.text()
  response.writeHead(answered.status, {
    ...Object.fromEntries([...answered.headers].map(([name, value]) => [canonicalHeaderName(name), value])),
    'Content-Length': String(Buffer.byteLength(text)),
  })
  response.end(text)
}

function webRequest(request: IncomingMessage, url: string, body: AlreadyReadBody | undefined): Request {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(request.headersDistinct)) headers.set(name, values.join(', '))
  const { method = 'GET' } = request
  const init: RequestInit = { method, headers }
  if (method !== 'GET' && method !== 'HEAD') Object.assign(init, { body: body ?? bodyStream(request), duplex: 'half' })
  // The receiver uses only the path, because a peer may send any host.
  return new Request(`http://receiver.invalid${url.startsWith('/') ? url : '/'}`, init)
}

/**
 * The body as a stream. Node's own stream closes the connection when it is cancelled, and no answer could be sent. This stream
 * discards the rest of the body instead.
 */
function bodyStream(request: IncomingMessage): ReadableStream<Uint8Array> {
  let detach = (): void => {}
  return new ReadableStream({
    start(controller) {
      const onData = (chunk: Uint8Array): void => {
        controller.enqueue(chunk)
        if ((controller.desiredSize ?? 0) <= 0) request.pause()
      }
      const onEnd = (): void => {
        detach()
        controller.close()
      }
      const onBroken = (): void => {
        detach()
        controller.error(new Error('the sender closed the connection within the body'))
      }
      detach = () => {
        request.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken)
        request.on('error', () => {})
      }
      request.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken)
    },
    pull() {
      request.resume()
    },
    cancel() {
      detach()
      request.resume()
    },
  })
}

/** Returns `content-type` as `Content-Type`: some clients compare exactly (public-standard 3.2, rule 11). */
const canonicalHeaderName = (name: string): string => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
