/** From text to a checked frame: header and message (spec "Envelope", "Header"; N1), and then the message. */
import {
  IncomingHeader,
  isJsonObject,
  JsonError,
  type JsonObject,
  type Operation,
  RequestFault,
  SourcedEnvelope,
  tolerateEnvelope,
  tolerateHeader,
  tolerateMessage,
  validator,
} from '@rollcall/protocol'
import type { Message } from '../exchange.ts'

export interface Envelope {
  readonly header: IncomingHeader
  /** A JSON object, not checked yet. */
  readonly message: JsonObject
  /** As it came: what a signature covers. */
  readonly source: SourcedEnvelope
}

const headers = validator(IncomingHeader)

/**
 * The frame of a request: its header in canonical spelling, checked, and its message as an object.
 * @throws RequestFault 400 err.request.bad
 */
export function readEnvelope(text: string, maxDepth: number): Envelope {
  const source = parse(text, maxDepth)
  const body = tolerateEnvelope(source.value)
  if (!isJsonObject(body)) throw bad('body: must be a JSON object with header and message')
  const { header, message } = body
  if (!isJsonObject(header)) throw bad('header: must be an object')
  if (!isJsonObject(message)) throw bad('message: must be an object')
  const tolerated = tolerateHeader(header)
  const problem = headers.problem(tolerated, 'header')
  if (problem !== null) throw bad(problem)
  return { header: tolerated as unknown as IncomingHeader, message, source }
}

/**
 * The message of an operation in canonical spelling, checked against what the operation asks of a whole
 * message; what concerns one item only is left to that item.
 * @throws RequestFault 400 err.request.bad, naming the member and the rule
 */
export function readMessage(operation: Operation, message: JsonObject): Message {
  const tolerated = tolerateMessage(operation, message)
  const problem = messagesOf(operation).problem(tolerated, 'message')
  if (problem !== null) throw bad(problem)
  return tolerated as unknown as Message
}

const compiled = new Map<Operation, ReturnType<typeof validator>>()

function messagesOf(operation: Operation): ReturnType<typeof validator> {
  const known = compiled.get(operation)
  if (known !== undefined) return known
  const made = validator(operation.request.incoming)
  compiled.set(operation, made)
  return made
}

function parse(text: string, maxDepth: number): SourcedEnvelope {
  try {
    return new SourcedEnvelope(text, { maxDepth })
  } catch (error) {
    if (error instanceof JsonError) throw bad(error.message)
    throw error
  }
}

const bad = (message: string): RequestFault => new RequestFault('err.request.bad', message)
