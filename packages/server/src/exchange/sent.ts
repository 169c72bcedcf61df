/** What a request sends, from its body: an envelope, and the message that is acted on. */

import type { JsonObject, Operation } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange, Message } from '../model/exchange.ts'
import type { Participant } from '../model/participant.ts'
import { referenceId } from '../model/reference-id.ts'
import { itemsOf } from '../operations/batch.ts'
import { type AdmittedRequest, decodeBody, readJsonBody } from '../reading/body.ts'
import { envelopeBounds } from '../reading/bounds.ts'
import { checkBeginning, type Envelope, readEnvelope, readMessage, withMessage } from '../reading/envelope.ts'
import { checkedLarge, readLargeEnvelope, wholeMessage } from '../reading/large.ts'
import { LARGE } from '../reading/threads.ts'
import { batchLength, checkCount, checkNotEmpty } from './checks.ts'

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

/** An envelope that is the whole body. @throws RequestFault as `readJsonBody` and `readEnvelope` do */
export async function takeJson(
  context: Context,
  operation: Operation,
  participant: Participant,
  request: AdmittedRequest,
  large: LargeAs,
): Promise<Sent> {
  const bounds = envelopeBounds(context.limits, operation.request)
  const body = await readJsonBody(request, context.limits.body_bytes, (bytes) =>
    checkBeginning(bytes, bounds),
  )
  return sentAs(context, operation, participant, body, large)
}

/** How the items of a large message are wanted: to be acted on, or to be kept. */
export type LargeAs = 'values' | 'text'

/** An envelope, as it came or as text. @throws RequestFault as `decodeBody` and `readEnvelope` do */
export async function sentAs(
  context: Context,
  operation: Operation,
  participant: Participant,
  body: Buffer | string,
  large: LargeAs,
): Promise<Sent> {
  const { limits } = context
  const { request } = operation
  const bounds = envelopeBounds(limits, request)
  const envelope =
    body.length < LARGE
      ? readEnvelope(typeof body === 'string' ? body : decodeBody(body), bounds)
      : withMessage(await readLargeEnvelope(context, operation, participant, body, bounds))
  return {
    envelope,
    async read({ header }, opened) {
      const checked = checkedLarge(opened)
      if (checked !== undefined) {
        const length = checked.items?.count ?? null
        checkNotEmpty(request, length)
        checkCount(header, request, length, limits.batch_items)
        const message = await wholeMessage(operation, checked, large)
        const reference_ids = checked.items?.reference_ids ?? []
        return { message, items: length ?? 1, reference_ids, content: opened }
      }
      const message = readMessage(request, opened)
      const length = batchLength(request, message)
      checkNotEmpty(request, length)
      checkCount(header, request, length, limits.batch_items)
      const reference_ids = itemsOf({ operation }, message).map(referenceId)
      return { message, items: length ?? 1, reference_ids, content: opened }
    },
  }
}
