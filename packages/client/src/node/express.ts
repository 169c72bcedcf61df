/** A middleware for Express and similar frameworks. Its types name only the parts of a framework that it uses. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerRequest, type RequestHandler } from './listener.ts'

type ConnectRequest = IncomingMessage & { readonly body?: unknown; readonly originalUrl?: string }

/**
 * Makes a middleware for a receiver: `app.use('/callbacks', expressReceiver(receiver))`. It must be before `express.json()`,
 * because `express.json()` does not keep the signed text. A body that was read as text or bytes is accepted.
 */
export function expressReceiver(
  receiver: RequestHandler,
): (request: ConnectRequest, response: ServerResponse, next: (error?: unknown) => void) => void {
  return (request, response, next) => {
    const { body, originalUrl: url = request.url ?? '/' } = request
    if (typeof body === 'string' || body instanceof Uint8Array) {
      const read = typeof body === 'string' ? body : new Uint8Array(body)
      answerRequest(receiver, request, response, { body: read, url }).catch(next)
    } else if (request.readableEnded) {
      next(new TypeError('the body was parsed before it reached the receiver: mount it before express.json()'))
    } else {
      answerRequest(receiver, request, response, { url }).catch(next)
    }
  }
}
