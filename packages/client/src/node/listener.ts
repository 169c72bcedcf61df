/** Hands requests of node:http to a web-standard handler. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A Receiver, or another handler of web-standard requests. */
export interface RequestHandler {
  readonly handle: (request: Request) => Promise<Response>
}

/** Makes a listener for `http.createServer`. */
export function nodeListener(receiver: RequestHandler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    answerRequest(receiver, request, response).catch(() => response.destroy())
  }
}

/** A body that somebody has read already. */
export type ReadBody = string | Uint8Array<ArrayBuffer>

interface AnswerOptions {
  /** The body, if it was read already; by default it is read from the request. */
  readonly body?: ReadBody
  /** Path and query, where a framework has cut them in `request`. */
  readonly url?: string
}

/** Answers one request. */
export async function answerRequest(
  receiver: RequestHandler,
  request: IncomingMessage,
  response: ServerResponse,
  { body, url = request.url ?? '/' }: AnswerOptions = {},
): Promise<void> {
  const answered = await receiver.handle(webRequest(request, url, body))
  const text = await answered.text()
  response.writeHead(answered.status, {
    ...Object.fromEntries([...answered.headers].map(([name, value]) => [canonical(name), value])),
    'Content-Length': String(Buffer.byteLength(text)),
  })
  response.end(text)
}

function webRequest(request: IncomingMessage, url: string, body: ReadBody | undefined): Request {
  const headers = new Headers()
  for (const [name, values = []] of Object.entries(request.headersDistinct)) headers.set(name, values.join(', '))
  const { method = 'GET' } = request
  const init: RequestInit = { method, headers }
  if (method !== 'GET' && method !== 'HEAD') Object.assign(init, { body: body ?? stream(request), duplex: 'half' })
  // Only the path is used; the peer may send any host.
  return new Request(`http://receiver.invalid${url.startsWith('/') ? url : '/'}`, init)
}

/**
 * The body as a stream. Node's own conversion destroys the connection, and the answer with it, when the stream is
 * cancelled; this one discards the rest of the body.
 */
function stream(request: IncomingMessage): ReadableStream<Uint8Array> {
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

/** `content-type` as `Content-Type`: some clients compare letter by letter (3.2, rule 11). */
const canonical = (name: string): string => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
