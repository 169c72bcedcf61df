/** Reads large requests on a reading thread. The items of such a message stay canonical text until they are needed. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Message } from '@rollcall/core/model/exchange'
import type { Participant } from '@rollcall/core/model/participant'
import {
  CanonicalText,
  type JsonBounds,
  type JsonObject,
  type JsonValue,
  type Operation,
  RequestFault,
  SignatureProblem,
  type SignedEnvelope,
  SourcedEnvelope,
} from '@rollcall/protocol'
import type { Envelope } from './envelope.ts'
import type { EnvelopeFromThread, ItemTexts, MessageFromThread, SplitMessage } from './thread.ts'
import type { ReadingThreads } from './threads.ts'

interface ReadingDeps {
  readonly reading: ReadingThreads
}

/** The results of reading threads, by the message that a thread has read. */
const threadResultsByMessage = new WeakMap<JsonObject, MessageFromThread>()

/**
 * Reads a large envelope on a thread.
 * @param body bytes may be moved to the thread: the caller cannot read them afterwards
 * @throws RequestFault as `decodeBody` and `readEnvelope` do
 */
export async function readLargeEnvelope(
  { reading }: ReadingDeps,
  operation: Operation,
  sender: Pick<Participant, 'id' | 'sender_id' | 'signature_policy' | 'signature_profile'>,
  body: Uint8Array | string,
  bounds: JsonBounds,
): Promise<Envelope> {
  const { id, sender_id, signature_policy, signature_profile } = sender
  const read = await reading.run(id, 'envelope', {
    body,
    operation: operation.name,
    bounds,
    sender_id,
    mustBeSigned: signature_policy === 'required',
    form: signature_policy === 'off' ? null : signature_profile.canonical_form,
  })
  // The thread returns no message if the checks will refuse the envelope.
  const message = read.message === null ? {} : rebuildReceivedMessage(operation, read.message)
  return { header: read.header, message, source: envelopeReadByThread(read, message, bounds) }
}

/** Reads a large decrypted message on a thread; null when the text is no JSON object within the bounds. */
export async function readLargeMessage(
  { reading }: ReadingDeps,
  operation: Operation,
  participant: number,
  text: string,
  bounds: JsonBounds,
): Promise<JsonObject | null> {
  const read = await reading.run(participant, 'message', { text, operation: operation.name, bounds })
  return read === null ? null : rebuildReceivedMessage(operation, read)
}

/** Rebuilds the message that the participant sent. Its items are canonical text, which `canonicalJson` writes unchanged. */
function rebuildReceivedMessage({ request }: Operation, read: MessageFromThread): JsonObject {
  const { frame, items } = read.sent
  const batch = request.items === null || items === null ? {} : { [request.items]: itemsAsText(items) }
  const message = Object.assign({ ...frame }, batch)
  threadResultsByMessage.set(message, read)
  return message
}

/** A checked message in canonical spelling, with its items apart. */
export type ValidSplitMessage = SplitMessage<Message>

/**
 * The checked form of a message that a reading thread has read; undefined when the main thread read the message.
 * @throws RequestFault err.request.bad: the message breaks a rule of its schema
 */
export function findMessageCheckedByThread(message: JsonObject): ValidSplitMessage | undefined {
  const read = threadResultsByMessage.get(message)
  if (read === undefined) return undefined
  if ('problem' in read.checked) throw new RequestFault('err.request.bad', read.checked.problem)
  return { frame: read.checked.frame, items: read.checked.items ?? read.sent.items }
}

/** Puts the items back into a message: as values for answering, or as text for storing. */
export async function joinSplitMessage(
  { request }: Operation,
  { frame, items }: ValidSplitMessage,
  as: 'values' | 'text',
): Promise<Message> {
  if (request.items === null || items === null) return frame
  return { ...frame, [request.items]: as === 'text' ? itemsAsText(items) : await itemsAsValues(items) }
}

/** All items as one array of canonical text, which is written but never parsed. */
const itemsAsText = ({ pieces }: ItemTexts): CanonicalText =>
  new CanonicalText(`[${pieces.map((piece) => piece.slice(1, -1)).join(',')}]`)

/** All items as values. The event loop does other work between two pieces. */
async function itemsAsValues({ pieces }: ItemTexts): Promise<JsonValue[]> {
  const values: JsonValue[] = []
  for (const piece of pieces) {
    // Our own thread wrote this text, so it needs no checks.
    values.push(...(JSON.parse(piece) as JsonValue[]))
    await nextTurn()
  }
  return values
}

function envelopeReadByThread({ source, signed }: EnvelopeFromThread, message: JsonValue, bounds: JsonBounds): SignedEnvelope {
  const members = new Map(Object.entries({ ...source, message }))
  return {
    member: (name) => members.get(name),
    canonical(member) {
      if (signed === null) return undefined
      if ('problem' in signed) throw new SignatureProblem('invalid', signed.problem)
      return signed[member]
    },
    source(member) {
      throw new RangeError(`the text of ${member} is no longer available`)
    },
    another: (text) => new SourcedEnvelope(text, bounds),
  }
}
