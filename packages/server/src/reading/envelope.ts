/** From text to a checked frame: header and message (spec "Envelope", "Header"; N1), and then the message. */
import {
  type Callback,
  CallbackHeader,
  IncomingHeader,
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
import type { Message } from '../model/exchange.ts'

export interface Envelope {
  readonly header: IncomingHeader
  /** A JSON object, not checked yet. */
  readonly message: JsonObject
  /** As it came: what a signature covers. */
  readonly source: SignedEnvelope
}

/** Read here, from the text that is there still. */
interface Sourced {
  readonly source: SourcedEnvelope
}

/** What other systems send to callback paths; a rejection may come without a message. */
export interface CallbackEnvelope extends Omit<Envelope, 'message'> {
  readonly message: JsonObject | undefined
}

const headers = validator<IncomingHeader>(IncomingHeader)
const callbackHeaders = validator(receivedSchema(CallbackHeader))

/**
 * The frame of a request: its header in canonical spelling, checked, and its message as an object.
 * @throws RequestFault 400 err.request.bad
 */
export function readEnvelope(text: string, bounds: JsonBounds): Envelope & Sourced {
  const { header, message, source } = readFrame(text, bounds)
  if (message === undefined) throw withoutMessage()
  return { header: headers.checked(header, 'header', bad), message, source }
}

/**
 * The frame of a callback. A callback's header need not name its sender (N1): it is then the one who holds the token.
 * @param callback decides which header it must be; the members of a status are checked wherever they are
 * @throws RequestFault 400 err.request.bad
 */
export function readCallbackEnvelope(
  callback: Callback,
  sender_id: string,
  text: string,
  bounds: JsonBounds,
): CallbackEnvelope & Sourced {
  const frame = readFrame(text, bounds)
  const header: JsonObject = { sender_id, ...frame.header }
  const asked = callback.header === 'callback' || header.status !== undefined ? callbackHeaders : headers
  const checkedHeader = headers.checked(header, 'header', bad)
  const problem = asked.problem(header, 'header')
  if (problem !== null) throw bad(problem)
  if (frame.message === undefined && header.status !== 'rjct') {
    throw bad('message: is required unless header.status is rjct')
  }
  return { ...frame, header: checkedHeader }
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
  return {
    header: tolerateHeader(header) as JsonObject,
    message: absent ? undefined : (message as JsonObject),
    source,
  }
}

/**
 * A message in canonical spelling, checked against what is asked of a whole message of its row; what concerns one
 * item only is left to that item.
 * @throws RequestFault 400 err.request.bad, naming the member and the rule
 */
export function readMessage(row: MessageRow, message: JsonObject): Message {
  return checked(
    row,
    message,
    validatorIn(requests, row, () => validator(row.incoming)),
  )
}

/**
 * The message of a callback, which is taken when its shape can be read.
 * @param kind of the registry that it comes to; its description may leave more of it open
 * @throws RequestFault 400 err.request.bad, naming the member and the rule
 */
export function readResult(row: MessageRow, kind: Pick<Kind, 'relaxed'>, message: JsonObject): Message {
  const known = results.get(kind.relaxed) ?? new Map<MessageRow, Validator<Message>>()
  results.set(kind.relaxed, known)
  return checked(
    row,
    message,
    validatorIn(known, row, () => validator(receivedSchema(row.incoming, [kind]))),
  )
}

function checked(row: MessageRow, message: JsonObject, messages: Validator<Message>): Message {
  const tolerated = tolerateMessage({ request: row }, message)
  return messages.checked(tolerated, 'message', bad)
}

const requests = new Map<MessageRow, Validator<Message>>()
/** By what kinds leave open, which few of them do. */
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
  // The code of a rejected header, which nobody is told of before it is known who asks.
  if (error instanceof TooManyItems) return bad(`rjct.total_count.limit_exceeded: ${error.message}`)
  return bad(error.message)
}

/**
 * Refuses a large body by its first bytes, before the rest is read.
 * @throws RequestFault err.request.bad, as `readEnvelope` would for the whole body
 */
export function checkBeginning(bytes: Uint8Array, bounds: JsonBounds): void {
  // A character that is cut at the end is left out, and whether the rest is UTF-8 is checked with the whole body.
  const text = new TextDecoder('utf-8').decode(bytes, { stream: true })
  const problem = jsonBeginningProblem(text, bounds)
  if (problem !== null) throw faultOf(problem)
}

/** An envelope that has a message. @throws RequestFault 400 err.request.bad */
export function withMessage({ message, ...rest }: CallbackEnvelope): Envelope {
  if (message === undefined) throw withoutMessage()
  return { message, ...rest }
}

const withoutMessage = (): RequestFault => bad('message: must be an object')

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
