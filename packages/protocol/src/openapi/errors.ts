/** The error answers that every operation may have (spec "Errors", D2). */
import type { AckCode } from '../codes.ts'
import { ErrorAnswer } from '../envelope.ts'
import type { ComponentCollector, JsonObject } from './components.ts'
import { exampleError } from './examples.ts'

interface ErrorAnswerRow {
  readonly status: number
  /** The name of the error answer among the document's components, such as `BadRequest`. */
  readonly name: string
  readonly description: string
  readonly code: AckCode
  /** The `message` of the error in the example. */
  readonly message: string
}

export const ERROR_ANSWER_ROWS: readonly ErrorAnswerRow[] = [
  {
    status: 400,
    name: 'BadRequest',
    description: 'The body cannot be read, breaks the format of the message, or is meant for another receiver.',
    code: 'err.request.bad',
    message: 'message.search_request[0].timestamp: must be a date-time with a time zone',
  },
  {
    status: 401,
    name: 'Unauthorized',
    description: 'The bearer token is missing, expired or not valid.',
    code: 'err.request.unauthorized',
    message: 'a bearer token is needed',
  },
  {
    status: 403,
    name: 'Forbidden',
    description: 'The token is valid, but not for this sender or this operation.',
    code: 'err.sender_id.invalid',
    message: 'header.sender_id: is not the sender that the token was given to',
  },
  {
    status: 404,
    name: 'NotFound',
    description: 'No such registry or path.',
    code: 'err.request.not_found',
    message: 'there is nothing at this path',
  },
  {
    status: 405,
    name: 'MethodNotAllowed',
    description: 'All operations use POST.',
    code: 'err.request.bad',
    message: 'the method must be POST',
  },
  {
    status: 413,
    name: 'TooLarge',
    description: 'The body is larger than the limit.',
    code: 'err.request.bad',
    message: 'the body is too large',
  },
  {
    status: 415,
    name: 'UnsupportedType',
    description: 'The Content-Type of the body is not accepted.',
    code: 'err.request.bad',
    message: 'the content type must be application/json',
  },
  {
    status: 429,
    name: 'TooManyRequests',
    description: 'The quota of the sender is used up.',
    code: 'err.request.too_many_requests',
    message: 'too many requests',
  },
  {
    status: 500,
    name: 'InternalError',
    description: 'Something failed here; the sender did nothing wrong.',
    code: 'err.service.unavailable',
    message: 'the request could not be answered',
  },
  {
    status: 503,
    name: 'Unavailable',
    description: 'The service cannot answer now; the same request may be sent again later.',
    code: 'err.service.unavailable',
    message: 'the service is not available',
  },
]

/** The error answers for `components.responses`. */
export function errorResponses(components: ComponentCollector): JsonObject {
  const schema = components.refer(ErrorAnswer)
  return Object.fromEntries(
    ERROR_ANSWER_ROWS.map(({ name, description, code, message }) => [
      name,
      { description, content: { 'application/json': { schema, example: exampleError(code, message) } } },
    ]),
  )
}

/** References to the error answers, by HTTP status. */
export function errorReferences(): JsonObject {
  return Object.fromEntries(
    ERROR_ANSWER_ROWS.map(({ status, name }) => [String(status), { $ref: `#/components/responses/${name}` }]),
  )
}
