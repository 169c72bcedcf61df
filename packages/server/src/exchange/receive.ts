/**
 * The life of a request, top to bottom. The order of the checks is the same for every operation, and
 * docs/message-flow.md draws it with the code at every exit.
 */

import { randomUUID } from 'node:crypto'
import { HeaderRejection, type JsonObject, type Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../model/exchange.ts'
import type { Registry } from '../model/registry.ts'
import type { IncomingRequest } from '../reading/body.ts'
import { openMessage, verifyEnvelope } from '../trust/messages.ts'
import { authenticate } from './authenticate.ts'
import { checkAddress, checkMessageTime, checkSender } from './checks.ts'
import type { Reply } from './reply.ts'
import type { Road } from './roads.ts'

/**
 * Answers one request: with its result on a synchronous road, with an ack on an asynchronous one.
 * @throws RequestFault when the whole request is refused: an ack ERR with an HTTP status
 */
export async function receive(
  context: Context,
  road: Road,
  operation: Operation,
  registry: Registry,
  request: IncomingRequest,
): Promise<Reply> {
  // 1. Who is calling, and may it call now? Asked before a byte of the body is read.
  const participant = await authenticate(context, request)
  const visit = await context.quota.enter(participant)
  try {
    // 2. What was sent? Its size, its JSON, and the frame of header and message; of a file all that stands before it.
    const sent = await road.take(context, operation, participant, { ...request, ...visit })
    const { header, message, source } = sent.envelope

    // 3. Is the sender the caller, and did it sign this, just now?
    checkSender(header, participant)
    const signed = await verifyEnvelope(context, participant, source)

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
    const open = () => (opening ??= openMessage(context, exchange, operation, message))
    const taken = async () => ({ exchange, opened: await open(), path: request.path })
    try {
      // 4. Is it for this version, this registry and this operation, and of now?
      checkAddress(header, registry, operation)
      checkMessageTime(header, context.limits.message_ts_window)

      // 5. What does it say, when opened? Remembered before anything is done: of two twins one is the first.
      const opened = await open()
      exchange = await road.remember(context, await taken())

      // 6. Is the message what the operation asks for?
      const checked = await sent.read(exchange, opened, signed)

      // 7. Every item on its own, now; or kept, to be answered later.
      return await road.answer(context, await taken(), checked)
    } catch (error) {
      if (!(error instanceof HeaderRejection)) throw error
      return await road.reject(context, await taken(), error)
    }
  } catch (error) {
    visit.leave(true)
    throw error
  } finally {
    visit.leave()
  }
}
