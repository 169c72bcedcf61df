/**
 * What is done with a large body on a reading thread: everything that takes long and needs nothing but the text. What
 * comes of it is small, or text, so that handing it over takes no time.
 */
import {
  type CanonicalFormName,
  type IncomingHeader,
  isJsonObject,
  isPlaceholder,
  type JsonBounds,
  JsonError,
  type JsonObject,
  type JsonValue,
  type Message as MessageRow,
  parseJson,
  RequestFault,
  receivedParts,
  SignatureProblem,
  type SourcedEnvelope,
} from '@rollcall/protocol'
import { BodyUnreadable, parsePersisted } from '../keys/bodies.ts'
import type { Message } from '../model/exchange.ts'
import { decodeBody } from './body.ts'
import { readCallbackEnvelope, readEnvelope, readMessage } from './envelope.ts'
import { type Items, itemsText } from './items.ts'
import { messageOf, type RowName, rowNamed } from './rows.ts'

/** A message without its items, and these as text; null where it has no array of items. */
export interface Parted {
  readonly frame: JsonObject
  readonly items: Items | null
}

export interface ReadMessage {
  /** As it was sent. */
  readonly sent: Parted
  /** The same in canonical spelling; or the rule that it breaks. Items are null where they are those that were sent. */
  readonly checked: Parted | { readonly problem: string }
}

/** The text of header and message that is signed, where it is not what canonical JSON makes of the values. */
export type SignedTexts =
  | { readonly header: string; readonly message: string }
  | { readonly problem: string }
  | null

export interface ReadEnvelope {
  readonly header: IncomingHeader
  /** As they came. */
  readonly source: { readonly signature: JsonValue | undefined; readonly header: JsonValue | undefined }
  /** Undefined: there is none. Null: it was not looked at, because the message is refused before. */
  readonly message: ReadMessage | null | undefined
  readonly signed: SignedTexts
}

export interface EnvelopeTask {
  readonly body: Uint8Array | string
  readonly row: RowName
  readonly bounds: JsonBounds
  readonly sender_id: string
  readonly mustBeSigned: boolean
  /** Null: nobody looks at signatures. */
  readonly form: CanonicalFormName | null
}

const rowOf = (name: RowName): MessageRow => messageOf(rowNamed(name))

/** @throws RequestFault as `decodeBody`, `readEnvelope` and `readCallbackEnvelope` do */
function envelope({ body, row, bounds, sender_id, mustBeSigned, form }: EnvelopeTask): ReadEnvelope {
  const named = rowNamed(row)
  const text = typeof body === 'string' ? body : decodeBody(body)
  const { header, message, source } =
    'request' in named ? readEnvelope(text, bounds) : readCallbackEnvelope(named, sender_id, text, bounds)
  const [signature, sentHeader] = [source.member('signature'), source.member('header')]
  const found = { header, source: { signature, header: sentHeader } }
  const isSigned = typeof signature === 'string' && !isPlaceholder(signature)
  // It is refused for these, so that nothing of the message is looked at.
  if (header.sender_id !== sender_id || (mustBeSigned && !isSigned)) {
    return { ...found, message: null, signed: null }
  }
  if (message === undefined) {
    return { ...found, message, signed: isSigned && form !== null ? signedTexts(source, form) : null }
  }
  const signed = isSigned && form !== null && form !== 'rfc8785' ? signedTexts(source, form) : null
  return { ...found, message: parted(rowOf(row), message, header.is_msg_encrypted !== true), signed }
}

function signedTexts(source: SourcedEnvelope, form: CanonicalFormName): SignedTexts {
  try {
    return receivedParts(source, form)
  } catch (error) {
    if (error instanceof SignatureProblem) return { problem: error.message }
    throw error
  }
}

/** @param inClear whether the message is what its row says; one that is encrypted is not opened here */
function parted(row: MessageRow, message: JsonObject, inClear = true): ReadMessage {
  const sent = withoutItems(row, message)
  return { sent, checked: inClear ? checked(row, message) : { problem: 'message: is encrypted' } }
}

function checked(row: MessageRow, message: JsonObject): ReadMessage['checked'] {
  let read: Message
  try {
    read = readMessage(row, message)
  } catch (error) {
    if (error instanceof RequestFault) return { problem: error.message }
    throw error
  }
  return withoutItems(row, read as unknown as JsonObject, message)
}

/** @param same a message whose items, where they are the very same, are not written again */
function withoutItems({ items: member }: MessageRow, message: JsonObject, same?: JsonObject): Parted {
  const batch = member === null ? undefined : message[member]
  if (member === null || !Array.isArray(batch)) return { frame: message, items: null }
  const { [member]: _items, ...frame } = message
  return { frame, items: same !== undefined && same[member] === batch ? null : itemsText(batch) }
}

export interface MessageTask {
  /** Of a message that was encrypted. */
  readonly text: string
  readonly row: RowName
  readonly bounds: JsonBounds
}

/** Null for what is no JSON object within the bounds. */
function message({ text, row, bounds }: MessageTask): ReadMessage | null {
  try {
    const value = parseJson(text, bounds)
    return isJsonObject(value) ? parted(rowOf(row), value) : null
  } catch (error) {
    if (error instanceof JsonError) return null
    throw error
  }
}

export interface KeptTask {
  /** Header and message of a request, as they are kept. */
  readonly text: string
  readonly row: RowName
}

/** Null for what this version cannot read. */
function kept({ text, row }: KeptTask): { readonly header: JsonValue; readonly message: Parted } | null {
  try {
    const { header, message } = parsePersisted(text)
    if (header === undefined || !isJsonObject(message)) return null
    return { header, message: withoutItems(rowOf(row), message) }
  } catch (error) {
    if (error instanceof BodyUnreadable) return null
    throw error
  }
}

/** By the name of the task. */
export const WORK = { envelope, message, kept } as const
export type Work = typeof WORK
export type WorkName = keyof Work
