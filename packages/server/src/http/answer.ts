/** Sends answers. A refused request gets the body that `faultBody` makes (docs/decisions/refused-requests-have-one-body.md). */
import { randomUUID } from 'node:crypto'
import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { isUnavailable, safeDatabaseError } from '@rollcall/database/database-errors'
import type { DatabaseHealth } from '@rollcall/observe/health'
import type { Log } from '@rollcall/observe/log'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyReply } from 'fastify'
import { mustEndConnection } from './connections.ts'

/** Headers by name. Write names as in `Content-Type`, not in lower case: some clients compare case. No code checks this. */
export type AnswerHeaders = { readonly [name: string]: string }

/** Sends a JSON text as the answer. */
export function sendJson(reply: FastifyReply, status: number, text: string, headers: AnswerHeaders = {}): void {
  sendBody(reply, status, text, { 'Content-Type': 'application/json', ...headers })
}

/**
 * The most characters of a body that is passed to node:http as a string, which node:http sends in one piece with the headers. A
 * longer string is made a Buffer first: otherwise Node.js would go through it twice, to find its length and to send it.
 */
const MOST_STRING_BODY_CHARACTERS = 16_384
/** Bytes a second. A peer may take `requestTimeout` plus the time to read the answer at this rate; then it is cut off. */
const LEAST_READ_BYTES_A_SECOND = 65_536

/** Sends a body; `headers` has its Content-Type. Fastify's own reply is bypassed, because it sends header names in lower case. */
export function sendBody(reply: FastifyReply, status: number, content: string | Buffer, headers: AnswerHeaders): void {
  const body = typeof content === 'string' && content.length > MOST_STRING_BODY_CHARACTERS ? Buffer.from(content) : content
  const length = Buffer.byteLength(body)
  reply.hijack()
  const { server } = reply.server
  // The connection ends after this answer in two cases: the server closes, or a part of the request body has not arrived and the
  // body is long or of unknown length.
  if (!server.listening || mustEndConnection(reply.request.raw)) reply.raw.shouldKeepAlive = false
  reply.raw.writeHead(status, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
    'Content-Length': String(length),
  })
  reply.raw.end(body)
  // The answer stays in our memory until the peer has read it. A peer that reads nothing for `requestTimeout`, or reads too
  // slowly, is cut off.
  if (reply.raw.writableLength > 0) {
    reply.raw.setTimeout(server.requestTimeout)
    const longest = server.requestTimeout + (length / LEAST_READ_BYTES_A_SECOND) * 1_000
    const timer = setTimeout(() => reply.raw.destroy(), longest).unref()
    reply.raw.once('close', () => clearTimeout(timer))
  }
}

/** Returns the JSON text of an ack ERR with `errors` (spec "Errors" 1 and 2). @param more further members of the body */
export function faultBody(fault: RequestFault, more: object = {}, now = new Date()): string {
  const error = { code: fault.code, message: fault.message }
  return JSON.stringify({
    message: { ack_status: 'ERR', timestamp: now.toISOString(), correlation_id: randomUUID(), error },
    errors: [error],
    ...more,
  })
}

/** Sends a fault as the answer, with `WWW-Authenticate` for a 401, and `Retry-After` when the fault says a time. */
export function sendFault(reply: FastifyReply, fault: RequestFault, headers: AnswerHeaders = {}, more: object = {}): void {
  const challenge: AnswerHeaders = fault.httpStatus === 401 ? { 'WWW-Authenticate': challengeFor(reply, fault) } : {}
  const retry: AnswerHeaders = fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) }
  sendJson(reply, fault.httpStatus, faultBody(fault, more), { ...challenge, ...retry, ...headers })
}

/** The challenge of a 401. It names the error only when a token was sent and refused (RFC 6750, 3): a new token then helps. */
const challengeFor = ({ request }: FastifyReply, { code }: RequestFault): string =>
  code === 'err.request.unauthorized' && /^bearer +\S/i.test(request.headers.authorization ?? '')
    ? 'Bearer error="invalid_token"'
    : 'Bearer'

/** The seconds in `Retry-After` when a registry's records cannot be read from its source at the moment. */
const RETRY_AFTER_SECONDS = 5

/**
 * The fault to send for a thrown error. An error that is no RequestFault is a failure of ours or of a database: it is
 * logged without the content of messages or statements, and answered without detail.
 */
export function faultForError(
  error: unknown,
  { log, databaseHealth }: { readonly log: Log; readonly databaseHealth: Pick<DatabaseHealth, 'failed'> },
): RequestFault {
  if (error instanceof RequestFault) return error
  if (error instanceof RecordsUnavailable) {
    log.warn({ source: safeDatabaseError(error.cause) }, 'the database of a registry does not answer')
    return new RequestFault(
      'err.service.unavailable',
      'the database of this registry does not answer at the moment; try again later',
      undefined,
      { retryAfter: RETRY_AFTER_SECONDS },
    )
  }
  if (isUnavailable(error)) {
    databaseHealth.failed(error)
    return new RequestFault('err.service.unavailable', 'the registry cannot be read at the moment; try again later')
  }
  log.error({ failure: describeError(error) }, 'a request failed inside the server')
  return new RequestFault('err.service.unavailable', 'the server failed to answer; the failure is logged', 500)
}

/** The class and the stack of an error, without the message, which may have personal data. */
function describeError(error: unknown): object {
  const stack = error instanceof Error ? (error.stack ?? '').split('\n') : []
  const frames = stack.filter((line) => line.startsWith('    at ')).map((line) => line.trim())
  return { ...safeDatabaseError(error), frames }
}

/** Makes the fault 404, with the same text for an unknown namespace and an unknown path. */
export const notFoundFault = (): RequestFault =>
  new RequestFault('err.request.not_found', 'there is no such namespace or path here')

/** Makes the fault 405 for a method that a path does not have. @param allowed the methods that it has */
export const wrongMethodFault = (allowed: string): RequestFault =>
  new RequestFault('err.request.bad', `the method must be ${allowed}`, 405)
