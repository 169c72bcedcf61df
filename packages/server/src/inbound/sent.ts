/** What a request sends, from its body: an envelope, and the message that is acted on. */
import type { JsonObject, Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange, Message } from '../exchange.ts'
import { itemsOf, referenceId } from '../operations/batch.ts'
import { type AdmittedRequest, readJsonText } from './body.ts'
import { envelopeBounds } from './bounds.ts'
import { batchLength, checkCount, checkNotEmpty } from './checks.ts'
import { type Envelope, readEnvelope, readMessage } from './envelope.ts'

/** A message that is in order. */
export interface Checked {
  readonly message: Message
  /** How many items it has; 1 where it is no batch. */
  readonly items: number
  /** Of each item, as its answer names it; none where it is no batch. */
  readonly reference_ids: readonly string[]
  /** What makes it this message and no other: the message as it was sent, opened; of a file its digest. */
  readonly content: JsonObject
}

/** What was sent, read so far as to know who sent it. */
export interface Sent {
  readonly envelope: Envelope
  /**
   * The rest, read and checked.
   * @param opened the envelope's message
   * @param signed whether a signature was verified
   * @throws RequestFault, HeaderRejection
   */
  read(exchange: Exchange, opened: JsonObject, signed: boolean): Promise<Checked>
}

/** A message between its checks and its answer. */
export interface Taken {
  readonly exchange: Exchange
  /** As it was sent, opened where it was encrypted. */
  readonly opened: JsonObject
  /** Of the operation, as it was called. */
  readonly path: string
}

/** An envelope that is the whole body. @throws RequestFault as `readJsonText` and `readEnvelope` do */
export async function takeJson(
  context: Context,
  operation: Operation,
  request: AdmittedRequest,
): Promise<Sent> {
  return sentAsText(context, operation, await readJsonText(request, context.limits.body_bytes))
}

/** An envelope as text. @throws RequestFault as `readEnvelope` does */
export function sentAsText({ limits }: Context, operation: Operation, text: string): Sent {
  const { request } = operation
  const envelope = readEnvelope(text, envelopeBounds(limits, request))
  return {
    envelope,
    async read({ header }, opened) {
      const message = readMessage(request, opened)
      const length = batchLength(request, message)
      checkNotEmpty(request, length)
      checkCount(header, request, length, limits.batch_items)
      const reference_ids = itemsOf({ operation }, message).map(referenceId)
      return { message, items: length ?? 1, reference_ids, content: opened }
    },
  }
}
