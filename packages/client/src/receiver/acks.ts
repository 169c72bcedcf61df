/** Makes the answer to a peer: an ack for its message, or a refusal with its reason (N11, D2). */
import { RequestFault } from '@rollcall/protocol'

/** The refusal of a message whose sender is no peer of the receiver. */
export class UnknownSender extends RequestFault {
  readonly sender_id: string

  constructor(sender_id: string) {
    super('err.sender_id.invalid', 'header.sender_id: must be a registry that this receiver knows')
    this.sender_id = sender_id
  }
}

/** Makes an ack. @param correlation_id that of the acknowledged callback; for a callback without one, a new UUID */
export function ackResponse(correlation_id: string): Response {
  return jsonResponse(200, { message: { ack_status: 'ACK', timestamp: new Date().toISOString(), correlation_id } })
}

/** An ack ERR that also has `errors` as in the specification. */
export function refusalResponse({ code, message, httpStatus, retryAfter }: RequestFault): Response {
  const error = { code, message }
  const body = {
    message: { ack_status: 'ERR', timestamp: new Date().toISOString(), correlation_id: crypto.randomUUID(), error },
    errors: [error],
  }
  return jsonResponse(httpStatus, body, {
    ...(httpStatus === 401 && { 'WWW-Authenticate': 'Bearer' }),
    ...(httpStatus === 405 && { Allow: 'POST' }),
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
  })
}

function jsonResponse(status: number, body: object, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  })
}
