/** Takes a request that is answered later: kept, given to a worker, and acknowledged after all that is committed. */
import { canonicalJson } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import { readSenderUri } from '../delivery/sender-uri.ts'
import { requestContext } from '../model/exchange.ts'
import { acknowledgement } from './ack.ts'
import { remember } from './remember.ts'
import type { Reply } from './reply.ts'
import type { Checked, Taken } from './sent.ts'

/**
 * The ack of a message (spec "Responses" 2, N11, G3). The same message sent again has the first one's ack.
 * @throws RequestFault err.sender_uri.invalid: the answer may not be sent there
 * @throws HeaderRejection rjct.message_id.duplicate
 * @throws RequestFault 429 err.request.too_many_requests: it has had as much accepted today as it may
 */
export async function accept(context: Context, taken: Taken, checked: Checked): Promise<Reply> {
  const { exchange, path } = taken
  const { message, items, reference_ids, content } = checked
  const { header, operation, participant, encrypted } = exchange
  // Asked now so that the sender learns of it, and again when something is sent: much may change between. What is kept
  // is the address as it was read, and every attempt reads the same.
  const sender_uri = await readSenderUri(context, participant, header.sender_uri ?? null, operation.callback)
  const { correlation_id } = await remember(context, exchange, content, path, async () => {
    const text = canonicalJson({ header, message })
    const request = await context.bodies.encryptBody(text, requestContext(exchange))
    return { sender_uri, encrypted, request, request_bytes: Buffer.byteLength(text), items, reference_ids }
  })
  return acknowledgement(correlation_id)
}
