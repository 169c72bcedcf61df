/** Large bodies as the checks see them: read on a thread, with their items as text. */

import {
  type Callback,
  type JsonBounds,
  type JsonObject,
  type JsonValue,
  type Operation,
  RequestFault,
  SignatureProblem,
  type SignedEnvelope,
  SourcedEnvelope,
} from '@rollcall/protocol'
import type { Message } from '../model/exchange.ts'
import type { Participant } from '../model/participant.ts'
import type { CallbackEnvelope } from './envelope.ts'
import { asText, asValues, type Items } from './items.ts'
import { messageOf, nameOf } from './rows.ts'
import type { ReadingThreads } from './threads.ts'
import type { ReadEnvelope, ReadMessage } from './work.ts'

interface Reading {
  readonly reading: ReadingThreads
}

/** What was found of a message on a thread, by the message as it was sent. */
const found = new WeakMap<JsonObject, ReadMessage>()

/**
 * @param body it is handed over, so that nobody here can read it afterwards
 * @throws RequestFault as `readEnvelope` and `readCallbackEnvelope` do
 */
export async function readLargeEnvelope(
  { reading }: Reading,
  row: Operation | Callback,
  { id, sender_id, signature_policy, signature_profile }: Participant,
  body: Uint8Array | string,
  bounds: JsonBounds,
): Promise<CallbackEnvelope> {
  const read = await reading.run(id, 'envelope', {
    body,
    row: nameOf(row),
    bounds,
    sender_id,
    mustBeSigned: signature_policy === 'required',
    form: signature_policy === 'off' ? null : signature_profile.canonical_form,
  })
  // One that was not looked at is refused before anybody asks for it.
  const message = read.message === undefined ? undefined : asSent(row, read.message)
  return { header: read.header, message, source: signedEnvelope(read, message, bounds) }
}

/** A message that was encrypted; null for what is none within the bounds. */
export async function readLargeMessage(
  { reading }: Reading,
  row: Operation | Callback,
  participant: number,
  text: string,
  bounds: JsonBounds,
): Promise<JsonObject | null> {
  const read = await reading.run(participant, 'message', { text, row: nameOf(row), bounds })
  return read === null ? null : asSent(row, read)
}

/** A message as it was sent: its items stand in it as text. */
function asSent(row: Operation | Callback, read: ReadMessage | null): JsonObject {
  if (read === null) return {}
  const { frame, items } = read.sent
  const member = messageOf(row).items
  if (member === null || items === null) {
    found.set(frame, read)
    return frame
  }
  const message = { ...frame, [member]: asText(items) } as unknown as JsonObject
  found.set(message, read)
  return message
}

/** A message in canonical spelling that keeps to its row, and how many items it has. */
export interface CheckedMessage {
  readonly frame: JsonObject
  readonly items: Items | null
}

/**
 * What a thread found of a message as it was sent; undefined where it was read here.
 * @throws RequestFault err.request.bad: it does not keep to its row
 */
export function checkedLarge(message: JsonObject): CheckedMessage | undefined {
  const read = found.get(message)
  if (read === undefined) return undefined
  if ('problem' in read.checked) throw new RequestFault('err.request.bad', read.checked.problem)
  return { frame: read.checked.frame, items: read.checked.items ?? read.sent.items }
}

/** With its items as values, for those who act on them, or as text, for those who keep them. */
export async function wholeMessage(
  row: Operation | Callback,
  { frame, items }: CheckedMessage,
  as: 'values' | 'text',
): Promise<Message> {
  const member = messageOf(row).items
  if (member === null || items === null) return frame as unknown as Message
  const batch = as === 'text' ? asText(items) : await asValues(items)
  return { ...frame, [member]: batch } as unknown as Message
}

function signedEnvelope(
  { source, signed }: ReadEnvelope,
  message: JsonValue | undefined,
  bounds: JsonBounds,
): SignedEnvelope {
  const members = new Map(Object.entries({ ...source, message }))
  return {
    member: (name) => members.get(name),
    canonical(member) {
      if (signed === null) return undefined
      if ('problem' in signed) throw new SignatureProblem('invalid', signed.problem)
      return signed[member]
    },
    source(member) {
      throw new RangeError(`the text of ${member} is not kept`)
    },
    another: (text) => new SourcedEnvelope(text, bounds),
  }
}
