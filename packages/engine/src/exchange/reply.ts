/** Makes the reply to a request: a signed envelope with a callback header (spec "Envelope", 3.2), encrypted if it must be. */

import { hash, randomUUID } from 'node:crypto'
import { makeAuditedMessage } from '@rollcall/audit/audit-entry-of'
import type { AuditedMessage } from '@rollcall/core/model/audit-entry'
import type { Exchange, Message } from '@rollcall/core/model/exchange'
import { encryptAndSignEnvelope, type SignDeps } from '@rollcall/participants/trust/messages'
import {
  type CallbackHeader,
  canonicalJson,
  type HeaderCode,
  type HeaderRejection,
  type JsonObject,
  PROTOCOL_VERSION,
  RequestFault,
  TransactionId,
  tolerateMessage,
  validator,
} from '@rollcall/protocol'
import { unansweredMembers } from '../operations/handlers.ts'
import type { Outcome } from '../operations/outcome.ts'

/** The dependencies of `makeReply`. */
export type ReplyDeps = SignDeps

const transactionIdValidator = validator(TransactionId)

/** A reply or an ack that is ready to be sent. */
export interface Reply {
  readonly correlation_id: string
  /** The whole body as RFC 8785 text, which is sent unchanged. */
  readonly text: string
  /** The part of the audit entry about the reply. */
  readonly audited: AuditedMessage
  /** The code with which the header was rejected, so that no item was answered; absent: it was not rejected. */
  readonly rejected?: HeaderCode
}

/** Makes, signs and, if needed, encrypts the reply for the outcome of an operation. */
export async function makeReply(deps: ReplyDeps, exchange: Exchange, transaction_id: string, outcome: Outcome): Promise<Reply> {
  const { correlation_id, registry, participant, operation } = exchange
  const header = makeReplyHeader(exchange, operation.reply_action, outcome, new Date(deps.clock.date()))
  const message = { transaction_id, correlation_id, ...outcome.members }
  const encrypt = exchange.encrypted || outcome.encrypted === true
  const envelope = { header, message }
  const bare = operation.reply_also_bare
  const { text, signature } = await encryptAndSignEnvelope(deps, registry, participant, envelope, encrypt, bare)
  return { correlation_id, text, audited: makeAuditedMessage(header.message_id, hash('sha256', text), signature) }
}

/**
 * Makes the header of a reply, with a new message_id that stays the same when the reply is sent again.
 * @param action the action of the reply in this mode
 */
export function makeReplyHeader(
  { registry, participant }: Pick<Exchange, 'registry' | 'participant'>,
  action: string,
  outcome: Outcome,
  now = new Date(),
): Omit<CallbackHeader, 'is_msg_encrypted'> {
  const { status, status_reason_code, status_reason_message, total_count, completed_count } = outcome
  return {
    version: PROTOCOL_VERSION,
    message_id: randomUUID(),
    message_ts: now.toISOString(),
    action,
    status,
    ...(status_reason_code !== undefined && { status_reason_code }),
    ...(status_reason_message !== undefined && { status_reason_message }),
    total_count,
    completed_count,
    sender_id: registry.sender_id,
    receiver_id: participant.sender_id,
    meta: {},
  }
}

/**
 * Makes the reply to a message whose header was rejected. No item was processed.
 * @throws RequestFault the message has no transaction_id for the reply
 */
export async function makeRejectionReply(
  deps: ReplyDeps,
  exchange: Exchange,
  message: JsonObject,
  rejection: HeaderRejection,
): Promise<Reply> {
  // The transaction_id is read as in a message without faults: a number counts as its digits.
  const tolerated = tolerateMessage(exchange.operation, message) as JsonObject
  const { transaction_id } = tolerated
  const problem = transactionIdValidator.problem(transaction_id, 'message.transaction_id')
  if (problem !== null) throw new RequestFault('err.request.bad', problem)
  const rejected = await makeReply(deps, exchange, transaction_id as string, {
    status: 'rjct',
    status_reason_code: rejection.code,
    status_reason_message: rejection.message,
    total_count: 0,
    completed_count: 0,
    audited: [],
    members: unansweredMembers(exchange, tolerated as JsonObject & Message, rejection.message),
  })
  return { ...rejected, rejected: rejection.code }
}

/** Makes an ack. The caller sends it only after the commit of what it acknowledges. */
export function acknowledgement(correlation_id: string, now = new Date()): Reply {
  const timestamp = now.toISOString()
  const text = canonicalJson({ message: { ack_status: 'ACK', timestamp, correlation_id } })
  return { correlation_id, text, audited: makeAuditedMessage(null, hash('sha256', text), null) }
}

/**
 * Turns a rejected header into an ack ERR (N20). An ack may not have the code of a rejection, so it has err.version.not_supported
 * or err.request.bad. With err.request.bad, the text begins with the code of the rejection.
 */
export function refusalAck({ code, message }: HeaderRejection): RequestFault {
  if (code === 'rjct.version.invalid') return new RequestFault('err.version.not_supported', message)
  return new RequestFault('err.request.bad', `${code}: ${message}`)
}
