/**
 * Parses a text into an envelope with a checked header (spec "Envelope", "Header"; N1), and later checks the message.
 * JSON values are counted while they are parsed, so a body with too many of them costs little time.
 */

import type { Limits } from '@rollcall/core/limits'
import type { Message } from '@rollcall/core/model/exchange'
import { oncePerObject } from '@rollcall/core/model/once-per'
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

type DepthLimit = Pick<Limits, 'body_depth'>

/** The most JSON values in a body (objects, arrays, texts, numbers, true, false, null): 40 for each of 10,000 items. */
const MOST_BODY_VALUES = 400_000
/** The most JSON values outside of the array of items, and in one item of an uploaded file. */
const MOST_FRAME_VALUES = 10_000
/** The most members of one JSON object: more than any object of the standard has. */
const MOST_OBJECT_MEMBERS = 1_000

/** The bounds for parsing an envelope. More items than `batch_items` are refused before the signature is verified. */
export function envelopeBounds(
  limits: DepthLimit & Pick<Limits, 'batch_items'>,
  { bulk, batch }: Pick<MessageRow, 'bulk' | 'batch'>,
): JsonBounds {
  const paths = bulk.map((path) => ['message', ...path])
  const maxItems = batch === null ? {} : { maxItems: limits.batch_items }
  return { ...envelopeAndMessageBounds(limits), bulk: { paths, ...maxItems, maxOutside: MOST_FRAME_VALUES } }
}

/** The bounds for parsing a decrypted message. The sender is known by then, and a later step refuses too many items. */
export function messageBounds(limits: DepthLimit, { bulk }: Pick<MessageRow, 'bulk'>): JsonBounds {
  return { ...envelopeAndMessageBounds(limits), bulk: { paths: bulk, maxOutside: MOST_FRAME_VALUES } }
}

/** Levels of JSON around each item of a message: the body, the message, the array. */
const LEVELS_AROUND_ITEM = 3

/** The bounds for parsing one item of an uploaded file. */
export function itemBounds({ body_depth }: DepthLimit): JsonBounds {
  return { maxDepth: Math.max(1, body_depth - LEVELS_AROUND_ITEM), maxValues: MOST_FRAME_VALUES, maxNames: MOST_OBJECT_MEMBERS }
}

const envelopeAndMessageBounds = ({ body_depth }: DepthLimit): JsonBounds => ({
  maxDepth: body_depth,
  maxValues: MOST_BODY_VALUES,
  maxNames: MOST_OBJECT_MEMBERS,
})

export interface Envelope {
  readonly header: IncomingHeader
  /** The message as a JSON object, which is not checked yet. */
  readonly message: JsonObject
  /** The signature, header and message as received, for verifying the signature. */
  readonly source: SignedEnvelope
}

/** The envelope with the text from which it was parsed. Only the thread that has parsed the text has it. */
interface HasReceivedText {
  readonly source: SourcedEnvelope
}

/** The envelope of a callback. A rejection may have no message. */
export interface CallbackEnvelope extends Omit<Envelope, 'message'> {
  readonly message: JsonObject | undefined
  /** The paths of the header's timestamps that had no time zone and were read as UTC. */
  readonly assumed_utc: InUtc['assumed_utc']
}

const incomingHeaderValidator = validator<IncomingHeader>(IncomingHeader)
const callbackHeaderValidator = validator(receivedSchema(CallbackHeader))

/**
 * Reads the envelope of a request: the header is checked and in canonical spelling, the message is an unchecked object.
 * @throws RequestFault 400 err.request.bad
 */
export function readEnvelope(text: string, bounds: JsonBounds): Envelope & HasReceivedText {
  const { header, message, source } = readHeaderAndMessage(text, bounds)
  if (message === undefined) throw badRequestFault('message: must be an object')
  return { header: incomingHeaderValidator.checked(header, 'header', badRequestFault), message, source }
}

/**
 * Reads the envelope of a callback. If its header does not name the sender, the owner of the token is the sender.
 * @param sender_id the owner of the token
 * @param callback if its `header` is `callback`, a header without `status` is refused; otherwise such a header is checked as that
 * of a request
 * @throws RequestFault 400 err.request.bad
 */
export function readCallbackEnvelope(
  callback: Callback,
  sender_id: string,
  text: string,
  bounds: JsonBounds,
): CallbackEnvelope & HasReceivedText {
  const frame = readHeaderAndMessage(text, bounds)
  const { value, assumed_utc } = inUtc(CallbackHeader, { sender_id, ...frame.header }, 'header')
  const header = value as JsonObject
  const asked = callback.header === 'callback' || header.status !== undefined ? callbackHeaderValidator : incomingHeaderValidator
  const checkedHeader = incomingHeaderValidator.checked(header, 'header', badRequestFault)
  const problem = asked.problem(header, 'header')
  if (problem !== null) throw badRequestFault(problem)
  if (frame.message === undefined && header.status !== 'rjct') {
    throw badRequestFault('message: is required unless header.status is rjct')
  }
  return { ...frame, header: checkedHeader, assumed_utc }
}

/** Reads header and message as objects; the message may be missing. The header is in canonical spelling. */
function readHeaderAndMessage(text: string, bounds: JsonBounds) {
  let source: SourcedEnvelope
  try {
    source = new SourcedEnvelope(text, bounds)
  } catch (error) {
    throw error instanceof JsonError ? faultOfJsonError(error) : error
  }
  const body = tolerateEnvelope(source.value)
  if (!isJsonObject(body)) throw badRequestFault('body: must be a JSON object with header and message')
  const { header, message } = body
  if (!isJsonObject(header)) throw badRequestFault('header: must be an object')
  const absent = message === undefined || message === null
  if (!absent && !isJsonObject(message)) throw badRequestFault('message: must be an object')
  return { header: tolerateHeader(header) as JsonObject, message: absent ? undefined : (message as JsonObject), source }
}

const requestValidators = oncePerObject((row: MessageRow): Validator<Message> => validator(row.incoming))
/** For each callback message, its validators by `Kind.relaxed`: the rules that registries of a kind do not check. */
const callbackValidators = oncePerObject((_row: MessageRow) => new Map<Kind['relaxed'], Validator<Message>>())

/**
 * Checks a message against the schema of its operation, and returns it in canonical spelling. Rules about single items
 * are checked when the item is answered.
 * @throws RequestFault 400 err.request.bad, with the member and the rule
 */
export function readMessage(row: MessageRow, message: JsonObject): Message {
  return requestValidators(row).checked(tolerateMessage({ request: row }, message), 'message', badRequestFault)
}

/**
 * Reads the message of a callback. Its schema is less strict than the documented one (`receivedSchema`).
 * @param kind the kind of the receiving registry: the rules in its `relaxed` are not checked
 * @returns the message, and the paths of the timestamps that had no time zone
 * @throws RequestFault 400 err.request.bad, with the member and the rule
 */
export function readCallbackMessage(
  row: MessageRow,
  kind: Pick<Kind, 'relaxed'>,
  message: JsonObject,
): { readonly message: Message; readonly assumed_utc: InUtc['assumed_utc'] } {
  const known = callbackValidators(row)
  const messages = known.get(kind.relaxed) ?? validator(receivedSchema(row.incoming, [kind]))
  known.set(kind.relaxed, messages)
  const { value, assumed_utc } = inUtc(row.incoming, tolerateMessage({ request: row }, message), 'message')
  return { message: messages.checked(value, 'message', badRequestFault), assumed_utc }
}

function faultOfJsonError(error: JsonError): RequestFault {
  // Too many items are a rejection, but before the sender is known only a fault is answered. Its text names the `rjct.` code.
  if (error instanceof TooManyItems) return badRequestFault(`rjct.total_count.limit_exceeded: ${error.message}`)
  return badRequestFault(error.message)
}

/**
 * Refuses a large body by its first bytes, before the rest is read.
 * @throws RequestFault err.request.bad, as `readEnvelope` would throw for the whole body
 */
export function checkBodyBeginning(bytes: Uint8Array, bounds: JsonBounds): void {
  // A character that is cut at the end is left out. Whether the rest is UTF-8 is checked with the whole body.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
  const problem = jsonBeginningProblem(text, bounds)
  if (problem !== null) throw faultOfJsonError(problem)
}

const badRequestFault = (message: string): RequestFault => new RequestFault('err.request.bad', message)
