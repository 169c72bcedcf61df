/**
 * The life of a request, top to bottom. The order of the checks is the same for every operation, and
 * docs/message-flow.md draws it with the code at every exit.
 */

import { randomUUID } from 'node:crypto'
import type { Exchange, ModeName } from '@rollcall/core/model/exchange'
import type { Registry } from '@rollcall/core/model/registry'
import { readTraceparent } from '@rollcall/core/model/traceparent'
import type { IncomingRequest } from '@rollcall/participants/reading/body'
import { type Opening, openMessage, type Verifying, verifyEnvelope } from '@rollcall/participants/trust/messages'
import { HeaderRejection, type Operation } from '@rollcall/protocol'
import { type Accepting, accept } from './accept.ts'
import { type Admitting, type Authorizing, admit, authorize } from './admit.ts'
import { type AnsweringNow, answerNow } from './answer-now.ts'
import { checkAddress, checkDemands, checkMessageTime, checkSender } from './checks.ts'
import { type Reply, refusalOf } from './reply.ts'
import { orRejection, type ReadingSent, readSent } from './sent.ts'
import { isUpload, takeUpload } from './upload/upload.ts'

export type Receiving = Admitting & Authorizing & ReadingSent & Verifying & Opening & AnsweringNow & Accepting

/**
 * Receives one request: answers a synchronous one, and acknowledges an asynchronous one.
 * @throws RequestFault the whole request is refused: an ack ERR with an HTTP status
 */
export async function receive(
  parts: Receiving,
  mode: ModeName,
  operation: Operation,
  registry: Registry,
  request: IncomingRequest,
): Promise<Reply> {
  // 1. Token, quotas and environment, before a byte of the body is read.
  const { participant, admission } = await admit(parts, registry, request)
  try {
    // The grant is checked before the body is read, too.
    const grant = await authorize(parts, participant, registry, operation)

    // 2. Body: size, JSON, and the outer shape of header and message; of an upload the parts before the file.
    const admitted = { ...request, ...admission }
    const sent =
      mode === 'async' && isUpload(request)
        ? await takeUpload(parts, operation, participant, admitted)
        : await readSent(parts, mode, operation, participant, admitted)
    const { header, message, source } = sent.envelope
    request.named?.(header.message_id)

    // 3. Is the sender the caller, and did it sign this, just now?
    checkSender(header, participant)
    const signed = await verifyEnvelope(parts, participant, source)

    // 4. Is it for this version, this registry and this operation, and of now?
    const rejection = await orRejection(async () => {
      checkAddress(header, registry, operation)
      checkMessageTime(header, parts.limits.message_ts_window)
      return null
    })

    // 5. Decryption.
    const encrypted = header.is_msg_encrypted === true
    const exchange: Exchange = {
      correlation_id: randomUUID(),
      operation,
      registry,
      participant,
      grant,
      header,
      encrypted,
      received_at: new Date(),
      isGone: request.isGone,
      traceparent: readTraceparent(request.headers.traceparent),
    }
    const opened = await openMessage(parts, exchange, operation, message)
    // A large body takes long to arrive, so the grant is read again.
    const current = { ...exchange, grant: await authorize(parts, participant, registry, operation) }
    checkDemands(current.grant, header)

    // 6. Read the message; then answer every item now, or accept the request.
    const received = { exchange: current, sent, opened, signed, rejection, path: request.path }
    return mode === 'sync' ? await answerNow(parts, received) : await accept(parts, received)
  } catch (error) {
    admission.leave(true)
    throw error instanceof HeaderRejection ? refusalOf(error) : error
  } finally {
    admission.leave()
  }
}
