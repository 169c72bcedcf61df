/**
 * Reads the envelope of a request, and defines the types of the first phases: envelope read, request verified, message checked.
 */
import { hash } from 'node:crypto'
import type { Limits } from '@rollcall/core/limits'
import { type Exchange, type Message, type ModeName, referenceId } from '@rollcall/core/model/exchange'
import type { Participant } from '@rollcall/core/model/participant'
import { type AdmittedRequest, decodeBody, readJsonBody } from '@rollcall/participants/reading/body'
import {
  checkBodyBeginning,
  type Envelope,
  envelopeBounds,
  readEnvelope,
  readMessage,
} from '@rollcall/participants/reading/envelope'
import { findMessageCheckedByThread, joinSplitMessage, readLargeEnvelope } from '@rollcall/participants/reading/large'
import { LEAST_LARGE_TEXT_LENGTH, type ReadingThreads } from '@rollcall/participants/reading/threads'
import type { MessageSignature, VerifyDeps } from '@rollcall/participants/trust/messages'
import { ACCEPTED_TYPES, type JsonBounds, type JsonObject, type Operation } from '@rollcall/protocol'
import { batchItemsOf } from '../operations/item.ts'
import { batchLength, checkBatchNotEmpty, checkItemCount } from './checks.ts'

/** The dependencies for reading requests. */
export interface ReadRequestDeps extends VerifyDeps {
  readonly limits: Limits
  readonly reading: ReadingThreads
}

/** A whole message, or a part of a large batch that is answered alone. */
export interface ItemChunk {
  readonly message: Message
  /** The number of items in this chunk; 1 when the message is no batch. */
  readonly items: number
}

/** A request whose message was read and checked, in chunks. */
export interface CheckedRequest {
  /** One chunk, or several for an asynchronous batch of more than `chunk_items` items. */
  readonly chunks: readonly [ItemChunk, ...ItemChunk[]]
  /** The reference_id of each item; empty when the message is no batch. */
  readonly reference_ids: readonly string[]
  /** The decrypted message, for the fingerprint of the request. For a file of items, the file's digest and format are added. */
  readonly content: JsonObject
  /** The SHA-256 of the body or of the uploaded file, in hexadecimal. */
  readonly digest: string
}

/** A received request whose envelope was read, but not its message. After steps 3 to 5 `readAndCheckMessage` takes step 6. */
export interface RequestWithEnvelope {
  readonly envelope: Envelope
  /**
   * Reads and checks the message.
   * @param opened the decrypted message of the envelope
   * @param signed whether a signature was verified; only an upload needs it
   * @throws RequestFault, HeaderRejection
   */
  readAndCheckMessage(exchange: Exchange, opened: JsonObject, signed: boolean): Promise<CheckedRequest>
}

/** A request whose sender and signature are verified, and whose message is decrypted but not checked. */
export interface VerifiedRequest {
  readonly exchange: Exchange
  readonly received: RequestWithEnvelope
  /** The decrypted message, as it was sent. */
  readonly opened: JsonObject
  /** The verified signature; null: the request has none. */
  readonly signed: MessageSignature | null
  /** The path of the operation in the request, such as `registry/sync/search`. */
  readonly path: string
}

/** Reads the envelope of a request that is no upload. @throws RequestFault */
export async function readJsonRequest(
  deps: ReadRequestDeps,
  mode: ModeName,
  operation: Operation,
  participant: Participant,
  request: AdmittedRequest,
): Promise<RequestWithEnvelope> {
  const bounds = envelopeBounds(deps.limits, operation.request)
  const check = (bytes: Buffer): void => checkBodyBeginning(bytes, bounds)
  const body = await readJsonBody(request, deps.limits.body_bytes, ACCEPTED_TYPES.request, check)
  return makeRequestWithEnvelope(deps, mode, operation, participant, { body, bounds })
}

/** Reads the envelope of a body, or of an uploaded text. @throws RequestFault as `decodeBody` and `readEnvelope` do */
export async function makeRequestWithEnvelope(
  { limits, reading }: Pick<ReadRequestDeps, 'limits' | 'reading'>,
  mode: ModeName,
  operation: Operation,
  participant: Participant,
  { body, bounds }: { readonly body: Buffer | string; readonly bounds: JsonBounds },
): Promise<RequestWithEnvelope> {
  const digest = await bodySha256(body)
  const envelope =
    body.length < LEAST_LARGE_TEXT_LENGTH
      ? readEnvelope(typeof body === 'string' ? body : decodeBody(body), bounds)
      : await readLargeEnvelope({ reading }, operation, participant, body, bounds)
  return {
    envelope,
    readAndCheckMessage: async (exchange, opened) => {
      return { ...(await checkMessage(limits, mode, exchange, opened)), content: opened, digest }
    },
  }
}

/** Checks a decrypted message, and divides it into chunks. A large message was read and checked by a thread before. */
async function checkMessage(
  { batch_items, chunk_items }: Limits,
  mode: ModeName,
  { header, operation }: Exchange,
  opened: JsonObject,
): Promise<Pick<CheckedRequest, 'chunks' | 'reference_ids'>> {
  const { request } = operation
  const large = findMessageCheckedByThread(opened)
  // `frame` is the message. If a thread has read it, its items are not in `frame` but in `large.items`.
  const frame = large?.frame ?? readMessage(request, opened)
  const { count } = large?.items ?? {}
  const length = count ?? batchLength(request, frame)
  checkBatchNotEmpty(request, length)
  checkItemCount(header, request, length, batch_items)
  if (large === undefined) {
    const reference_ids = batchItemsOf({ operation }, frame).map(referenceId)
    return { chunks: divideIntoChunks(mode, operation, frame, chunk_items), reference_ids }
  }
  const reference_ids = large.items?.reference_ids ?? []
  // The items of an asynchronous batch stay text for storing, unless the batch must be divided into chunks.
  if (mode === 'async' && (count ?? 1) <= chunk_items) {
    return { chunks: [{ message: await joinSplitMessage(operation, large, 'text'), items: count ?? 1 }], reference_ids }
  }
  const message = await joinSplitMessage(operation, large, 'values')
  return { chunks: divideIntoChunks(mode, operation, message, chunk_items), reference_ids }
}

/** The SHA-256 in hexadecimal; of a large body computed on another thread, so that other requests do not wait. */
async function bodySha256(body: Buffer | string): Promise<string> {
  if (body.length < LEAST_LARGE_TEXT_LENGTH) return hash('sha256', body)
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

/** Divides an asynchronous batch into chunks of at most `most` items. Any other message is one chunk. */
function divideIntoChunks(mode: ModeName, operation: Operation, message: Message, most: number): CheckedRequest['chunks'] {
  const { items: member } = operation.request
  const length = batchLength(operation.request, message)
  const whole = { message, items: length ?? 1 }
  if (mode === 'sync' || member === null || length === null || length <= most) return [whole]
  const items = batchItemsOf({ operation }, message)
  const cut = (from: number): ItemChunk => {
    const part = items.slice(from, from + most)
    return { message: { ...message, [member]: part }, items: part.length }
  }
  const rest = Array.from({ length: Math.ceil(length / most) - 1 }, (_, index) => cut((index + 1) * most))
  return [cut(0), ...rest]
}
