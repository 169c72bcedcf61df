/**
 * The program of a reading thread, which `threads.ts` starts. It does the slow work on a large body that needs nothing but the
 * text of the body. Its results are a few small objects, and texts that may be as long as the body. Both are quick to pass to the
 * main thread.
 */
import { parentPort } from 'node:worker_threads'
import { type Message, referenceId } from '@rollcall/core/model/exchange'
import { BodyUnreadable, parseDecryptedBody } from '@rollcall/keys/bodies'
import {
  type CanonicalFormName,
  canonicalJson,
  type IncomingHeader,
  isJsonObject,
  isPlaceholder,
  type JsonBounds,
  JsonError,
  type JsonObject,
  type JsonValue,
  operation,
  parseJson,
  RequestFault,
  receivedParts,
  SignatureProblem,
  type SourcedEnvelope,
} from '@rollcall/protocol'
import { decodeBody } from './body.ts'
import { readEnvelope, readMessage } from './envelope.ts'

/** The items of a batch as text, in pieces that take about a millisecond to parse. */
export interface ItemTexts {
  /** Each piece is a JSON array in canonical form; all pieces in order have all items. */
  readonly pieces: readonly string[]
  readonly count: number
  /** The reference_id of each item, in order. */
  readonly reference_ids: readonly string[]
}

/** A message without its items, and the items as text. `items` is null when the message has no array of items. */
export interface SplitMessage<Frame extends object> {
  readonly frame: Frame
  readonly items: ItemTexts | null
}

/** A message as a reading thread returns it. */
export interface MessageFromThread {
  /** The message as the participant sent it. */
  readonly sent: SplitMessage<JsonObject>
  /** The message in canonical spelling, or the rule that it breaks. `items` is null when they are those of `sent.items`. */
  readonly checked: SplitMessage<Message> | { readonly problem: string }
}

/**
 * The texts of header and message that the signature covers, or the reason why they cannot be found. They are needed only
 * to verify a signature with another canonical form than RFC 8785; otherwise null.
 */
export type SignedTexts = { readonly header: string; readonly message: string } | { readonly problem: string } | null

/** An envelope as a reading thread returns it. */
export interface EnvelopeFromThread {
  readonly header: IncomingHeader
  /** The signature and header members of the envelope, as received; undefined for one that is missing. */
  readonly source: { readonly signature: JsonValue | undefined; readonly header: JsonValue | undefined }
  /** The message as a thread has read it; null: it was not read, because the envelope will be refused. */
  readonly message: MessageFromThread | null
  readonly signed: SignedTexts
}

/** The task of reading the envelope of a request. */
export interface EnvelopeTask {
  readonly body: Uint8Array | string
  /** The name of the requested operation. */
  readonly operation: string
  readonly bounds: JsonBounds
  readonly sender_id: string
  readonly mustBeSigned: boolean
  /** The canonical form that the signature covers; null: signatures of the sender are not verified. */
  readonly form: CanonicalFormName | null
}

/** Reads an envelope. @throws RequestFault as `decodeBody` and `readEnvelope` do */
function readEnvelopeTask(task: EnvelopeTask): EnvelopeFromThread {
  const { body, bounds, sender_id, mustBeSigned, form } = task
  const text = typeof body === 'string' ? body : decodeBody(body)
  const { header, message, source } = readEnvelope(text, bounds)
  const signature = source.member('signature')
  const found = { header, source: { signature, header: source.member('header') } }
  const isSigned = typeof signature === 'string' && !isPlaceholder(signature)
  // The main thread will refuse the sender or the signature, so the message is not read.
  if (header.sender_id !== sender_id || (mustBeSigned && !isSigned)) {
    return { ...found, message: null, signed: null }
  }
  const signed = isSigned && form !== null && form !== 'rfc8785' ? signedTexts(source, form) : null
  return { ...found, message: separateItemsAndCheck(task.operation, message, header.is_msg_encrypted !== true), signed }
}

function signedTexts(source: SourcedEnvelope, form: CanonicalFormName): SignedTexts {
  try {
    return receivedParts(source, form)
  } catch (error) {
    if (error instanceof SignatureProblem) return { problem: error.message }
    throw error
  }
}

/** Separates a message's items, and checks the message. @param inClear false: the message is encrypted, and is not checked */
function separateItemsAndCheck(name: string, message: JsonObject, inClear = true): MessageFromThread {
  const sent = splitOffItems(name, message)
  return { sent, checked: inClear ? checkedMessageOrProblem(name, message) : { problem: 'message: is encrypted' } }
}

function checkedMessageOrProblem(name: string, message: JsonObject): MessageFromThread['checked'] {
  try {
    return splitOffItems(name, readMessage(operation(name).request, message), message)
  } catch (error) {
    if (error instanceof RequestFault) return { problem: error.message }
    throw error
  }
}

type MessageMembers = Readonly<Record<string, unknown>>

/**
 * Separates the items from the rest of a message.
 * @param same the message before it was checked: if its items are the same array, `items` is null
 */
function splitOffItems<Frame extends MessageMembers>(name: string, message: Frame, same?: MessageMembers): SplitMessage<Frame> {
  const member = operation(name).request.items
  const batch: unknown = member === null ? undefined : message[member]
  if (member === null || !Array.isArray(batch)) return { frame: message, items: null }
  // The member stays without a value, which keeps the order of members. `large.ts` puts the items back.
  const frame = { ...message, [member]: undefined }
  return { frame, items: same !== undefined && same[member] === batch ? null : toItemTexts(batch) }
}

/** The most items in one piece of the text. */
const MOST_ITEMS_IN_PIECE = 100

function toItemTexts(items: readonly unknown[]): ItemTexts {
  const pieces: string[] = []
  for (let from = 0; from < items.length; from += MOST_ITEMS_IN_PIECE) {
    pieces.push(canonicalJson(items.slice(from, from + MOST_ITEMS_IN_PIECE)))
  }
  const reference_ids = items.map((item) => referenceId(isJsonObject(item) ? item : {}))
  return { pieces, count: items.length, reference_ids }
}

/** The task of reading the text of a decrypted message, or of a stored request. */
export interface MessageTextTask {
  readonly text: string
  /** The name of the requested operation. */
  readonly operation: string
}

/** Reads a decrypted message; null when it is no JSON object within the bounds. */
function readMessageTask(task: MessageTextTask & { readonly bounds: JsonBounds }): MessageFromThread | null {
  try {
    const value = parseJson(task.text, task.bounds)
    return isJsonObject(value) ? separateItemsAndCheck(task.operation, value) : null
  } catch (error) {
    if (error instanceof JsonError) return null
    throw error
  }
}

interface PersistedRequest {
  readonly header: JsonValue
  readonly message: SplitMessage<Message>
  readonly traceparent: JsonValue
}

/** Reads the header and message of a stored request; null when this version cannot read them. */
function readPersistedTask(task: MessageTextTask): PersistedRequest | null {
  try {
    const { header, message, traceparent = null } = parseDecryptedBody(task.text)
    if (header === undefined || !isMessage(message)) return null
    return { header, message: splitOffItems(task.operation, message), traceparent }
  } catch (error) {
    if (error instanceof BodyUnreadable) return null
    throw error
  }
}

const isMessage = (value: unknown): value is Message => isJsonObject(value) && typeof value.transaction_id === 'string'

/** The functions that a reading thread runs, by the names of their tasks. */
const TASK_FUNCTIONS = { envelope: readEnvelopeTask, message: readMessageTask, persisted: readPersistedTask } as const
export type ReadingTasks = typeof TASK_FUNCTIONS
export type ReadingTaskName = keyof ReadingTasks

/** A task for a reading thread, with the name of the function that does it. */
export interface NamedReadingTask {
  readonly name: ReadingTaskName
  readonly task: object
}

/** The result of a task: what its function returned, the fault that it threw, or the class of another error. */
export type ReadingOutcome =
  | { readonly done: unknown }
  | { readonly refused: Pick<RequestFault, 'code' | 'message' | 'httpStatus'> }
  | { readonly failed: string }

function runReadingTask({ name, task }: NamedReadingTask): ReadingOutcome {
  try {
    return { done: (TASK_FUNCTIONS[name] as (task: unknown) => unknown)(task) }
  } catch (error) {
    if (error instanceof RequestFault) {
      const { code, message, httpStatus } = error
      return { refused: { code, message, httpStatus } }
    }
    // Only the class of the error is passed on: its message may quote the body.
    return { failed: error instanceof Error ? error.constructor.name : typeof error }
  }
}

parentPort?.on('message', (order: NamedReadingTask) => parentPort?.postMessage(runReadingTask(order)))
