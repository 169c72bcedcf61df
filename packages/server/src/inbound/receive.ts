/**
 * The life of a request, top to bottom. The order of the checks is the same for every operation, and
 * docs/message-flow.md draws it with the code at every exit.
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { HeaderRejection, type JsonObject, type Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../exchange.ts'
import { answerMessage } from '../operations/handlers.ts'
import { type Reply, rejectedReply, reply } from '../outbound/reply.ts'
import type { Registry } from '../store/registries.ts'
import { authenticate } from './authenticate.ts'
import { readJsonText } from './body.ts'
import { checkAddress, checkCount, checkSender } from './checks.ts'
import { openMessage } from './decrypt.ts'
import { readEnvelope, readMessage } from './envelope.ts'
import { remember } from './remember.ts'
import { verifyEnvelope } from './verify.ts'

/** A request as HTTP hands it over: its body is not read yet. */
export interface IncomingRequest {
  /** Of the operation, such as `registry/sync/search`. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
  /** Whether the connection has ended. */
  readonly isGone: () => boolean
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
  // 1. Who is calling, and may it call now? Asked before a byte of the body is read.
  const participant = await authenticate(context, request.headers.authorization)
  const visit = await context.quota.enter(participant)
  try {
    // 2. What was sent? Its size, its JSON, and the frame of header and message.
    const text = await readJsonText(request.headers, request.body, context.limits.body_bytes)
    const envelope = readEnvelope(text, context.limits.body_depth)
    const { header } = envelope

    // 3. Is the sender the caller, and did it sign this, just now?
    checkSender(header, participant)
    await verifyEnvelope(context, participant, envelope.source)

    const encrypted = header.is_msg_encrypted === true
    let exchange: Exchange = {
      correlation_id: randomUUID(),
      operation,
      registry,
      participant,
      header,
      encrypted,
      isGone: request.isGone,
    }
    let opening: Promise<JsonObject> | undefined
    const open = () => (opening ??= openMessage(context, exchange, envelope.message))
    try {
      // 4. Is it for this version, this registry and this operation?
      checkAddress(header, registry, operation)

      // 5. What does it say, when opened? Remembered first, so that of two twins one is the first.
      const opened = await open()
      exchange = await remember(context, exchange, opened, request.path)

      // 6. Is the message what the operation asks for?
      const message = readMessage(operation, opened)
      checkCount(header, operation, message, context.limits)

      // 7. Every item on its own: what is wrong with one is said in that one.
      const outcome = await answerMessage(context, exchange, message)
      return await reply(context, exchange, message.transaction_id, outcome)
    } catch (error) {
      if (!(error instanceof HeaderRejection)) throw error
      return await rejectedReply(context, exchange, await open(), error)
    }
  } finally {
    visit.leave()
  }
}
