/** What a peer is told when a whole request is refused: one body, whatever went wrong (D1, D2). */
import { randomUUID } from 'node:crypto'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyReply } from 'fastify'
import type { DatabaseTrouble } from '../observe/database-trouble.ts'
import type { Log } from '../observe/log.ts'
import { isUnavailable, safeDatabaseError } from '../store/db/database-errors.ts'
import { type AnswerHeaders, sendJson } from './answer.ts'

/** An ack ERR that also carries the specification's `errors` (spec "Errors" 1 and 2). */
export function faultBody(fault: RequestFault): string {
  const error = { code: fault.code, message: fault.message }
  return JSON.stringify({
    message: {
      ack_status: 'ERR',
      timestamp: new Date().toISOString(),
      correlation_id: randomUUID(),
      error,
    },
    errors: [error],
  })
}

/** Answers a refused request. */
export function sendFault(reply: FastifyReply, fault: RequestFault, headers: AnswerHeaders = {}): void {
  const challenge: AnswerHeaders = fault.httpStatus === 401 ? { 'WWW-Authenticate': 'Bearer' } : {}
  const retry: AnswerHeaders =
    fault.retryAfter === undefined ? {} : { 'Retry-After': String(fault.retryAfter) }
  sendJson(reply, fault.httpStatus, faultBody(fault), { ...challenge, ...retry, ...headers })
}

/**
 * The fault to answer when something was thrown. What is not a RequestFault is ours, not the peer's: it is
 * logged without anything that a message or a statement carried, and answered without detail.
 */
export function asFault(
  error: unknown,
  { log, databaseTrouble }: { readonly log: Log; readonly databaseTrouble: DatabaseTrouble },
): RequestFault {
  if (error instanceof RequestFault) return error
  if (isUnavailable(error)) {
    databaseTrouble.note(error)
    return new RequestFault(
      'err.service.unavailable',
      'the registry cannot be read at the moment; try again later',
    )
  }
  log.error({ failure: describe(error) }, 'a request failed inside the server')
  return new RequestFault(
    'err.service.unavailable',
    'the server failed to answer; the failure is logged',
    500,
  )
}

/** The class of an error and where it was thrown; its message may hold personal data and stays out. */
function describe(error: unknown): object {
  const stack = error instanceof Error ? (error.stack ?? '').split('\n') : []
  const frames = stack.filter((line) => line.startsWith('    at ')).map((line) => line.trim())
  return { ...safeDatabaseError(error), frames }
}

/** 404: one answer for an unknown namespace and an unknown path. */
export const notFound = (): RequestFault =>
  new RequestFault('err.request.not_found', 'there is no such namespace or path here')

/** 404: an operation of the protocol that this registry does not have, or that this server does not answer yet. */
export const notServed = (): RequestFault =>
  new RequestFault('err.request.not_found', 'this operation is not served by this registry')

/** 405 */
export const wrongMethod = (allowed: string): RequestFault =>
  new RequestFault('err.request.bad', `the method must be ${allowed}`, 405)
