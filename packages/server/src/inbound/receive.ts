/**
 * The life of a request, top to bottom. The order of the checks is the same for every operation, and
 * docs/message-flow.md draws it with the code at every exit.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { HeaderRejection, type Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { answerMessage } from '../operations/handlers.ts'
import { type Reply, rejectedReply, reply } from '../outbound/reply.ts'
import type { Registry } from '../store/registries.ts'
import { authenticate } from './authenticate.ts'
import { readJsonText } from './body.ts'
import { checkAddress, checkCount, checkSender } from './checks.ts'
import { readEnvelope, readMessage } from './envelope.ts'

/** A request as HTTP hands it over: its body is not read yet. */
export interface IncomingRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/**
 * Answers one request on a synchronous path.
 * @throws RequestFault when the whole request is refused: an ack ERR with an HTTP status
 */
export async function receive(
  context: Context,
  operation: Operation,
  registry: Registry,
  request: IncomingRequest,
): Promise<Reply> {
  // 1. Who is calling? Asked before a byte of the body is read.
  const participant = await authenticate(context, request.headers.authorization)

  // 2. What was sent? Its size, its JSON, and the frame of header and message.
  const text = await readJsonText(request.headers, request.body, context.limits.body_bytes)
  const envelope = readEnvelope(text, context.limits.body_depth)

  // 3. Is the sender the caller?
  checkSender(envelope.header, participant)

  const exchange = { correlation_id: randomUUID(), operation, registry, participant, header: envelope.header }
  try {
    // 4. Is it for this version, this registry and this operation?
    checkAddress(envelope.header, registry, operation)

    // 5. Is the message what the operation asks for?
    const message = readMessage(operation, envelope)
    checkCount(envelope.header, operation, message, context.limits)

    // 6. Every item on its own: what is wrong with one is said in that one.
    const outcome = await answerMessage(context, exchange, message)
    return reply(exchange, message.transaction_id, outcome)
  } catch (error) {
    if (error instanceof HeaderRejection) return rejectedReply(exchange, envelope.message, error)
    throw error
  }
}
