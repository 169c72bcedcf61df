/** Reads acknowledgements (acks) and error bodies as peers write them (N11, N19). */
import {
  actionMeans,
  isJsonObject,
  JsonError,
  type JsonObject,
  type JsonValue,
  type Operation,
  parseJson,
  STATUSES,
  tolerateHeader,
} from '@rollcall/protocol'
import { AckError, type PeerFault, TransportError } from '../errors.ts'
import type { HttpAnswer } from '../http/post.ts'
import { retryAfter } from '../http/retry.ts'
import type { Accepted } from './messages.ts'

/** For some HTTP statuses, the error code of a refusal whose body names no code. */
const CODES_BY_STATUS: Readonly<Record<number, string>> = {
  401: 'err.request.unauthorized',
  403: 'err.request.forbidden',
  404: 'err.request.not_found',
  408: 'err.request.timeout',
  429: 'err.request.too_many_requests',
}

/**
 * The refusal in an answer: an ack ERR, or a failed HTTP status, with the errors in its body; null when there is none.
 * @throws TransportError a status without a row in `CODES_BY_STATUS` and without an error of this protocol, as from a proxy
 */
export function readFault(answer: HttpAnswer): AckError | null {
  const { status, text } = answer
  const failed = status < 200 || status >= 300
  // An answer may be large: parse it here only if it may be an ack.
  if (!failed && !text.includes('ack_status')) return null
  const body = jsonBodyOrEmpty(answer)
  const ack = ackIn(body)
  if (!failed && memberText(ack, 'ack_status').toUpperCase() !== 'ERR') return null
  const [first, ...others] = faultsIn(body, ack)
  const code = CODES_BY_STATUS[status] ?? (status >= 500 ? 'err.service.unavailable' : 'err.request.bad')
  if (first === undefined && CODES_BY_STATUS[status] === undefined && failed) {
    throw new TransportError('unreadable', `HTTP status ${status} without an error of this protocol`, { httpStatus: status })
  }
  const { message = '' } = first ?? {}
  return new AckError([{ code: first?.code || code, message }, ...others], status, {
    correlation_id: memberText(ack, 'correlation_id') || undefined,
    retryAfter: retryAfter(answer, Date.now()),
  })
}

/** Reads the ACK or NACK of an asynchronous request; null when the answer is neither, or has no correlation_id. */
export function readAck(answer: HttpAnswer): Omit<Accepted, 'transaction_id'> | null {
  const ack = ackIn(jsonBodyOrEmpty(answer))
  const ack_status = memberText(ack, 'ack_status').toUpperCase()
  const correlation_id = memberText(ack, 'correlation_id')
  if ((ack_status !== 'ACK' && ack_status !== 'NACK') || correlation_id === '') return null
  return { ack_status, correlation_id, timestamp: memberText(ack, 'timestamp') }
}

/**
 * The operations whose ack some registries write as an answer without items (`readEnvelopeAck`). The value is the member with the
 * items.
 */
const ACK_ITEMS_MEMBER_BY_OPERATION: Readonly<Record<string, string>> = { search: 'search_response' }

/**
 * Reads an ack that has the form of an empty answer, as some registries write it: HTTP 202, no items, a correlation_id,
 * and a status that is not rejected. The callback tells later whether anybody was found. Null for any other answer.
 */
export function readEnvelopeAck({ name, callback }: Operation, answer: HttpAnswer): Omit<Accepted, 'transaction_id'> | null {
  const items = ACK_ITEMS_MEMBER_BY_OPERATION[name]
  const { header, message } = jsonBodyOrEmpty(answer)
  if (answer.status !== 202 || items === undefined || callback === null) return null
  if (!isJsonObject(header) || !isJsonObject(message) || !isEmptyList(message[items])) return null
  const { status } = tolerateHeader(header) as JsonObject
  if (!actionMeans(callback, memberText(header, 'action')) || !ACCEPTED_STATUSES.includes(status ?? '')) return null
  const correlation_id = memberText(message, 'correlation_id')
  return correlation_id === '' ? null : { ack_status: 'ACK', correlation_id, timestamp: '' }
}

const ACCEPTED_STATUSES: readonly JsonValue[] = STATUSES.filter((status) => status !== 'rjct')

const isEmptyList = (value: JsonValue | undefined): boolean => Array.isArray(value) && value.length === 0

function jsonBodyOrEmpty({ text }: HttpAnswer): JsonObject {
  try {
    const value = parseJson(text)
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (error instanceof JsonError) return {}
    throw error
  }
}

/** Finds the ack in a body: it is the member `message`, or the body itself. */
const ackIn = (body: JsonObject): JsonObject => (isJsonObject(body.message) ? body.message : body)

function faultsIn(body: JsonObject, ack: JsonObject): readonly PeerFault[] {
  const listed = Array.isArray(body.errors) ? body.errors : []
  return (listed.length > 0 ? listed : [ack.error, body.error])
    .filter(isJsonObject)
    .map((fault) => ({ code: memberText(fault, 'code'), message: memberText(fault, 'message') }))
}

function memberText(object: JsonObject, member: string): string {
  const value = Object.hasOwn(object, member) ? object[member] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
