/** The answer to a request: an envelope with a callback header, as canonical JSON text (spec "Envelope", 3.2). */
import { randomUUID } from 'node:crypto'
import {
  type CallbackHeader,
  canonicalJson,
  type HeaderRejection,
  type JsonObject,
  PROTOCOL_VERSION,
  RequestFault,
  TransactionId,
  tolerateMessage,
  validator,
} from '@rollcall/protocol'
import type { Exchange } from '../exchange.ts'
import type { Outcome } from '../operations/outcome.ts'

const transactionIds = validator(TransactionId)

export interface Reply {
  readonly correlation_id: string
  /** The whole body, RFC 8785 text: what is sent is what is signed. */
  readonly text: string
}

/** The reply that carries an operation's outcome. */
export function reply(exchange: Exchange, transaction_id: string, outcome: Outcome): Reply {
  const { correlation_id } = exchange
  const { status, status_reason_code, status_reason_message, total_count, completed_count } = outcome
  const header: CallbackHeader = {
    version: PROTOCOL_VERSION,
    message_id: randomUUID(),
    message_ts: new Date().toISOString(),
    action: exchange.operation.reply_action,
    status,
    ...(status_reason_code !== undefined && { status_reason_code }),
    ...(status_reason_message !== undefined && { status_reason_message }),
    total_count,
    completed_count,
    sender_id: exchange.registry.sender_id,
    receiver_id: exchange.participant.sender_id,
    is_msg_encrypted: false,
    meta: {},
  }
  const message = { transaction_id, correlation_id, ...outcome.members }
  return { correlation_id, text: canonicalJson({ header, message }) }
}

/**
 * The reply to a message whose header was rejected: no item of it was looked at.
 * @throws RequestFault when the message has no transaction_id that a reply could carry
 */
export function rejectedReply(exchange: Exchange, message: JsonObject, rejection: HeaderRejection): Reply {
  // Read as tolerantly as in a message that is answered: a number is accepted by its digits (3.1).
  const { transaction_id } = tolerateMessage(exchange.operation, message) as JsonObject
  const problem = transactionIds.problem(transaction_id, 'message.transaction_id')
  if (problem !== null) throw new RequestFault('err.request.bad', problem)
  const { items } = exchange.operation.reply
  return reply(exchange, transaction_id as string, {
    status: 'rjct',
    status_reason_code: rejection.code,
    status_reason_message: rejection.message,
    total_count: 0,
    completed_count: 0,
    members: items === null ? {} : { [items]: [] },
  })
}
