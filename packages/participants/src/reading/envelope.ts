/**
 * Turns a text into a checked frame of header and message (spec "Envelope", "Header"; N1), and then checks the message.
 * Values are counted during reading, so little time is spent on a body beyond the bounds.
 */

import type { Limits } from '@rollcall/core/limits'
import type { Message } from '@rollcall/core/model/exchange'
import {
  type Callback,
  CallbackHeader,
  IncomingHeader,
  type InUtc,
  inUtc,
  isJsonObject,
  type JsonBounds,
  JsonError,
  type JsonObject,
  jsonBeginningProblem,
  type Kind,
  type Message as MessageRow,
  RequestFault,
  receivedSchema,
  type SignedEnvelope,
  SourcedEnvelope,
  TooManyItems,
  tolerateEnvelope,
  tolerateHeader,
  tolerateMessage,
  type Validator,
  validator,
} from '@rollcall/protocol'

type Counted = Pick<Limits, 'body_depth'>

/** Objects, arrays, texts, numbers and words in a body, all together: 40 for each of 10,000 items. */
const BODY_VALUES = 400_000
/** Values outside the array of items, and in one item of a file: they are parsed before the sender is known. */
const FRAME_VALUES = 10_000
/** Names of members in one object: more than any object of the standard has. */
const OBJECT_NAMES = 1_000

/** The bounds of an envelope. More items than `batch_items` are refused before the signature is verified. */
export function envelopeBounds(
  limits: Counted & Pick<Limits, 'batch_items'>,
  { bulk, batch }: Pick<MessageRow, 'bulk' | 'batch'>,
): JsonBounds {
  const paths = bulk.map((path) => ['message', ...path])
  const maxItems = batch === null ? {} : { maxItems: limits.batch_items }
  return { ...allOf(limits), bulk: { paths, ...maxItems, maxOutside: FRAME_VALUES } }
}

/** The bounds of a decrypted message. Its sender is known, and too many items are refused in a later step. */
export function messageBounds(limits: Counted, { bulk }: Pick<MessageRow, 'bulk'>): JsonBounds {
  return { ...allOf(limits), bulk: { paths: bulk, maxOutside: FRAME_VALUES } }
}

/** Levels around each item of a message: the body, the message, the array. */
const AROUND = 3

/** The bounds of one item of a file. */
export function itemBounds({ body_depth }: Counted): JsonBounds {
  return { maxDepth: Math.max(1, body_depth - AROUND), maxValues: FRAME_VALUES, maxNames: OBJECT_NAMES }
}

const allOf = ({ body_depth }: Counted): JsonBounds => ({
  maxDepth: body_depth,
  maxValues: BODY_VALUES,
  maxNames: OBJECT_NAMES,
})

export interface Envelope {
  readonly header: IncomingHeader
  /** A JSON object, not checked yet. */
  readonly message: JsonObject
  /** The signed parts as received. */
  readonly source: SignedEnvelope
}

/** Read on this thread: the text is still at hand. */
interface Sourced {
  readonly source: SourcedEnvelope
}

/** An envelope on a callback path; a rejection may come without a message. */
export interface CallbackEnvelope extends Omit<Envelope, 'message'> {
  readonly message: JsonObject | undefined
  /** Timestamps of the header that had no zone. */
  readonly assumed_utc: InUtc['assumed_utc']
}

const headers = validator<IncomingHeader>(IncomingHeader)
const callbackHeaders = validator(receivedSchema(CallbackHeader))

/**
 * Reads the frame of a request: its checked header in canonical spelling, and its message as an object.
 * @throws RequestFault 400 err.request.bad
 */
export function readEnvelope(text: string, bounds: JsonBounds): Envelope & Sourced {
  const { header, message, source } = readFrame(text, bounds)
  if (message === undefined) throw bad('message: must be an object')
  return { header: headers.checked(header, 'header', bad), message, source }
}

/**
 * Reads the frame of a callback. Its header need not name the sender (N1): then the sender is the owner of the token.
 * @param callback decides which header is required; the members of a status are checked wherever they are
 * @throws RequestFault 400 err.request.bad
 */
export function readCallbackEnvelope(
  callback: Callback,
  sender_id: string,
  text: string,
  bounds: JsonBounds,
): CallbackEnvelope & Sourced {
  const frame = readFrame(text, bounds)
  const { value, assumed_utc } = inUtc(CallbackHeader, { sender_id, ...frame.header }, 'header')
  const header = value as JsonObject
  const asked = callback.header === 'callback' || header.status !== undefined ? callbackHeaders : headers
  const checkedHeader = headers.checked(header, 'header', bad)
  const problem = asked.problem(header, 'header')
  if (problem !== null) throw bad(problem)
  if (frame.message === undefined && header.status !== 'rjct') {
    throw bad('message: is required unless header.status is rjct')
  }
  return { ...frame, header: checkedHeader, assumed_utc }
}

/** Header, in canonical spelling, and message as objects; the message may be missing. */
function readFrame(text: string, bounds: JsonBounds) {
  const source = parse(text, bounds)
  const body = tolerateEnvelope(source.value)
  if (!isJsonObject(body)) throw bad('body: must be a JSON object with header and message')
  const { header, message } = body
  if (!isJsonObject(header)) throw bad('header: must be an object')
  const absent = message === undefined || message === null
  if (!absent && !isJsonObject(message)) throw bad('message: must be an object')
  return { header: tolerateHeader(header) as JsonObject, message: absent ? undefined : (message as JsonObject), source }
}

/**
 * The message in canonical spelling, checked against the schema of the whole message. Rules about single items are
 * checked when the item is answered.
 * @throws RequestFault 400 err.request.bad, with the member and the rule
 */
export function readMessage(row: MessageRow, message: JsonObject): Message {
  const messages = validatorIn(requests, row, () => validator(row.incoming))
  return messages.checked(tolerateMessage({ request: row }, message), 'message', bad)
}

/**
 * Reads the message of a callback. It is accepted when its shape can be read.
 * @param kind the kind of the receiving registry, which may leave more members open
 * @returns the message, and which timestamps had no zone
 * @throws RequestFault 400 err.request.bad, with the member and the rule
 */
export function readResult(
  row: MessageRow,
  kind: Pick<Kind, 'relaxed'>,
  message: JsonObject,
): { readonly message: Message; readonly assumed_utc: InUtc['assumed_utc'] } {
  const known = results.get(kind.relaxed) ?? new Map<MessageRow, Validator<Message>>()
  results.set(kind.relaxed, known)
  const messages = validatorIn(known, row, () => validator(receivedSchema(row.incoming, [kind])))
  const { value, assumed_utc } = inUtc(row.incoming, tolerateMessage({ request: row }, message), 'message')
  return { message: messages.checked(value, 'message', bad), assumed_utc }
}

const requests = new Map<MessageRow, Validator<Message>>()
/** Validators by the open members of kinds; few kinds have any. */
const results = new Map<Kind['relaxed'], Map<MessageRow, Validator<Message>>>()

function validatorIn(
  known: Map<MessageRow, Validator<Message>>,
  row: MessageRow,
  make: () => Validator<Message>,
): Validator<Message> {
  const made = known.get(row) ?? make()
  known.set(row, made)
  return made
}

function parse(text: string, bounds: JsonBounds): SourcedEnvelope {
  try {
    return new SourcedEnvelope(text, bounds)
  } catch (error) {
    if (error instanceof JsonError) throw faultOf(error)
    throw error
  }
}

function faultOf(error: JsonError): RequestFault {
  // The code belongs to a rejected header. Before the sender is known, it is in the text of a fault.
  if (error instanceof TooManyItems) return bad(`rjct.total_count.limit_exceeded: ${error.message}`)
  return bad(error.message)
}

/**
 * Refuses a large body by its first bytes, before the rest is read.
 * @throws RequestFault err.request.bad, as `readEnvelope` would for the whole body
 */
export function checkBeginning(bytes: Uint8Array, bounds: JsonBounds): void {
  // A character that is cut at the end is left out, and whether the rest is UTF-8 is checked with the whole body.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
  const problem = jsonBeginningProblem(text, bounds)
  if (problem !== null) throw faultOf(problem)
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
