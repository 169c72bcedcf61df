/** Takes a request that is answered later: kept, given to a worker, and acknowledged after all that is committed. */
import { canonicalJson } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { exactJson } from '../exact-json.ts'
import { type Message, requestContext } from '../exchange.ts'
import type { Reply } from '../outbound/reply.ts'
import { callbackTarget } from '../outbound/targets.ts'
import { remember } from './remember.ts'
import type { Taken } from './roads.ts'

/**
 * The ack of a message (spec "Responses" 2, N11, G3). The same message sent again has the first one's ack.
 * @throws RequestFault err.sender_uri.invalid: the answer may not be sent there
 * @throws HeaderRejection rjct.message_id.duplicate
 */
export async function accept(context: Context, taken: Taken, message: Message): Promise<Reply> {
  const { exchange, opened, path } = taken
  const { header, operation, participant, encrypted } = exchange
  const { items } = operation.request
  const sender_uri = header.sender_uri ?? null
  // Asked now so that the sender learns of it, and again when something is sent: much may change between.
  callbackTarget(await context.callbacks.of(participant), sender_uri, operation.callback)
  const { correlation_id } = await remember(context, exchange, opened, path, {
    sender_uri,
    encrypted,
    request: await context.bodies.sealBody(exactJson({ header, message }), requestContext(exchange)),
    items: items === null ? 1 : (message[items] as readonly unknown[]).length,
  })
  const timestamp = new Date().toISOString()
  const text = canonicalJson({ message: { ack_status: 'ACK', timestamp, correlation_id } })
  return { correlation_id, text }
}
