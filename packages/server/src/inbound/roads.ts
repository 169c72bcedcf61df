/**
 * The two roads of a request, as rows: on one the answer is the result, on the other it is an ack, and the result
 * follows as a callback (spec "Endpoints"). Everything before that is the same for both (`receive.ts`).
 */
import { type HeaderRejection, type JsonObject, RequestFault } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange, Message } from '../exchange.ts'
import { answerMessage } from '../operations/handlers.ts'
import { type Reply, rejectedReply, reply } from '../outbound/reply.ts'
import { accept } from './accept.ts'
import { remember } from './remember.ts'

/** A message between its checks and its answer. */
export interface Taken {
  readonly exchange: Exchange
  /** As it was sent, opened where it was encrypted. */
  readonly opened: JsonObject
  /** Of the operation, as it was called. */
  readonly path: string
}

export interface Road {
  /** Before the message is checked: the exchange under the correlation_id that it keeps. */
  remember(context: Context, taken: Taken): Promise<Exchange>
  /** What a message that is in order is answered with. */
  answer(context: Context, taken: Taken, message: Message): Promise<Reply>
  /** What one is answered with whose header was rejected. */
  reject(context: Context, taken: Taken, rejection: HeaderRejection): Promise<Reply>
}

/** Every item is answered now; what is wrong with one is said in that one. */
export const SYNCHRONOUS: Road = {
  remember: (context, { exchange, opened, path }) => remember(context, exchange, opened, path),
  answer: async (context, { exchange }, message) =>
    reply(context, exchange, message.transaction_id, await answerMessage(context, exchange, message)),
  reject: (context, { exchange, opened }, rejection) => rejectedReply(context, exchange, opened, rejection),
}

/** Kept for a worker, and acknowledged when it is kept. Nothing is remembered of a message that is not taken. */
export const ASYNCHRONOUS: Road = {
  remember: async (_context, { exchange }) => exchange,
  answer: accept,
  reject: async (_context, _taken, { code, message }) => {
    throw new RequestFault(
      code === 'rjct.version.invalid' ? 'err.version.not_supported' : 'err.request.bad',
      message,
    )
  },
}
