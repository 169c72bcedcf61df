/**
 * The life of a request, in the steps of docs/message-flow.md, which lists the code of every refusal. The order is the
 * same for every operation.
 */

import { randomUUID } from 'node:crypto'
import type { Exchange, ModeName } from '@rollcall/core/model/exchange'
import type { Registry } from '@rollcall/core/model/registry'
import { readTraceparent } from '@rollcall/core/model/traceparent'
import type { IncomingRequest } from '@rollcall/participants/reading/body'
import { type OpenDeps, openMessage, type VerifyDeps, verifyEnvelope } from '@rollcall/participants/trust/messages'
import { HeaderRejection, mediaType, type Operation } from '@rollcall/protocol'
import { type AcceptDeps, acceptRequest } from './accept.ts'
import { type AdmitDeps, type AuthorizeDeps, admitRequest, authorize, requireActiveParticipant } from './admit.ts'
import { type AnswerNowDeps, answerNow } from './answer-now.ts'
import { checkDemandedDetails, checkReceiver, checkSender } from './checks.ts'
import { type ReadRequestDeps, readJsonRequest } from './read-request.ts'
import { type Reply, refusalAck } from './reply.ts'
import { readUploadRequest } from './upload/upload.ts'

export type ReceiveDeps = AdmitDeps & AuthorizeDeps & ReadRequestDeps & VerifyDeps & OpenDeps & AnswerNowDeps & AcceptDeps

/** A request that counts as in flight until its answer is written to the connection. */
export interface RequestToAnswer extends IncomingRequest {
  /** Calls a function when the answer has been written to the connection, or the connection is closed. */
  readonly afterAnswer: (work: () => void) => void
}

/**
 * Receives a request: answers a synchronous one, and acknowledges an asynchronous one.
 * @throws RequestFault the whole request is refused: an ack ERR with an HTTP status
 */
export async function receiveRequest(
  deps: ReceiveDeps,
  mode: ModeName,
  operation: Operation,
  registry: Registry,
  request: RequestToAnswer,
): Promise<Reply> {
  // 1. Checks token, quotas, operation, environment and grant before a byte of the body is read: only a caller that may ask can
  // make the server read a body.
  const { participant, admission } = await admitRequest(deps, registry, request, operation)
  try {
    const grant = await authorize(deps, participant, registry, operation)

    // 2. Body: size, JSON, and the form of header and message; of an upload the parts before the file.
    const admitted = { ...request, ...admission }
    const isUpload = mode === 'async' && mediaType(request.headers['content-type']) === 'multipart/form-data'
    const received = isUpload
      ? await readUploadRequest(deps, operation, participant, admitted)
      : await readJsonRequest(deps, mode, operation, participant, admitted)
    const { header, message, source } = received.envelope
    request.onHeaderRead?.(header)

    // 3. Sender: the caller is the sender, and the signature that its policy demands is valid and fresh.
    checkSender(header, participant)
    const signed = await verifyEnvelope(deps, participant, source)

    // 4. Address: the header names this registry. If it has another version or action, or an invalid time, the message is
    // rejected after step 5 (`checkHeader`), because the reply repeats the transaction_id of the decrypted message.
    checkReceiver(header, registry)

    // 5. Decryption. Then participant and grant are read again, because a body may come slowly, and header.meta is checked.
    const encrypted = header.is_msg_encrypted === true
    const exchange: Exchange = {
      // `answerNow` replaces this for a message that changes nothing: equal messages then have the same correlation_id.
      correlation_id: randomUUID(),
      operation,
      registry,
      participant,
      grant,
      header,
      encrypted,
      received_at: new Date(deps.clock.date()),
      isGone: request.isGone,
      traceparent: readTraceparent(request.headers.traceparent),
    }
    const opened = await openMessage(deps, exchange, operation, message)
    const sender = await requireActiveParticipant(deps, participant)
    const current = { ...exchange, participant: sender, grant: await authorize(deps, sender, registry, operation) }
    checkDemandedDetails(current.grant, header)

    // 6. Checks the message. 7. Answers the items, makes the reply, commits its audit entry: now (`answer-now.ts`), or later if
    // the request is asynchronous (`answer-accepted.ts`); `accept.ts` checks its message and stores it.
    const verified = { exchange: current, received, opened, signed, path: request.path }
    const reply = mode === 'sync' ? await answerNow(deps, verified) : await acceptRequest(deps, verified)
    // A large request has waited for its turn while its body was read. The next large one may begin while this answer is sent.
    admission.endLargeTurn()
    // The answer is in memory until it is written to the connection. Until then the request is in flight.
    admission.holdAnswer(reply.text.length)
    request.afterAnswer(() => admission.leave())
    return reply
  } catch (error) {
    // A refused large request keeps its turn a little longer (`Admission.leave`).
    admission.leave({ refused: true })
    throw error instanceof HeaderRejection ? refusalAck(error) : error
  }
}
