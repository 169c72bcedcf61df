/**
 * The two roads of a request, as rows: on one the answer is the result, on the other it is an ack, and the result
 * follows as a callback (spec "Endpoints"). Everything before that is the same for both (`receive.ts`).
 */

import type { HeaderRejection, Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../model/exchange.ts'
import type { Participant } from '../model/participant.ts'
import { answerMessage, unansweredMembers } from '../operations/handlers.ts'
import type { AdmittedRequest } from '../reading/body.ts'
import { accept } from './accept.ts'
import { refusalOf } from './ack.ts'
import { remember } from './remember.ts'
import { type Reply, rejectedReply, reply } from './reply.ts'
import { type Checked, type Sent, type Taken, takeJson } from './sent.ts'
import { isUpload, takeUpload } from './upload/upload.ts'

export interface Road {
  /**
   * Reads so much of a request as is needed to know who sent it.
   * @throws RequestFault
   */
  take(
    context: Context,
    operation: Operation,
    participant: Participant,
    request: AdmittedRequest,
  ): Promise<Sent>
  /** Before the message is checked: the exchange under the correlation_id that it keeps. */
  remember(context: Context, taken: Taken): Promise<Exchange>
  /** What a message that is in order is answered with. */
  answer(context: Context, taken: Taken, checked: Checked): Promise<Reply>
  /** What one is answered with whose header was rejected. */
  reject(context: Context, taken: Taken, rejection: HeaderRejection): Promise<Reply>
}

/** Every item is answered now; what is wrong with one is said in that one. */
export const SYNCHRONOUS: Road = {
  take: (context, operation, participant, request) =>
    takeJson(context, operation, participant, request, 'values'),
  remember: (context, { exchange, opened, path }) => remember(context, exchange, opened, path),
  answer: async (context, { exchange }, { message }) =>
    reply(context, exchange, message.transaction_id, await answerMessage(context, exchange, message)),
  reject: (context, { exchange, opened }, rejection) =>
    rejectedReply(context, exchange, opened, rejection, (message) =>
      unansweredMembers(exchange, message, rejection.message),
    ),
}

/** Kept for a worker, and acknowledged when it is kept. Nothing is remembered of a message that is not taken. */
export const ASYNCHRONOUS: Road = {
  take: (context, operation, participant, request) =>
    isUpload(request)
      ? takeUpload(context, operation, participant, request)
      : takeJson(context, operation, participant, request, 'text'),
  remember: async (_context, { exchange }) => exchange,
  answer: accept,
  reject: async (_context, _taken, rejection) => {
    throw refusalOf(rejection)
  },
}
