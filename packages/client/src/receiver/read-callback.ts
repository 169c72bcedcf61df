/** Makes a checked callback from a path, a header and a decrypted message (spec "Endpoints"; N1, 3.1, 3.3). */
import {
  actionMeans,
  assumedUtc,
  CALLBACKS,
  type Callback,
  CallbackHeader,
  IncomingHeader,
  type IncomingNotifyEventRequest,
  inUtc,
  type JsonObject,
  KINDS,
  type Message,
  receivedSchema,
  tolerateMessage,
  type Validator,
  validator,
} from '@rollcall/protocol'
import { badRequest, type OpenedMessage, type ParsedEnvelope } from '../trust/open.ts'
import type { CallbackMessages, CallbackName, Received, ReceivedHeader, Rejected, ReplyName } from './callbacks.ts'

const callbackHeaderValidator = validator(receivedSchema(CallbackHeader))
const receivedHeaderValidator = validator<ReceivedHeader>(IncomingHeader)
/** The messages of callbacks as received: an event may have several records, which `splitEventsByRecord` splits into events. */
type IncomingCallbackMessage = CallbackMessages[ReplyName] | IncomingNotifyEventRequest
const messageValidators = new Map<string, Validator<IncomingCallbackMessage>>(
  CALLBACKS.map(({ name, message }) => [name, validator(receivedSchema(message.incoming, KINDS))]),
)

const CALLBACK_PATH_ROOT = 'registry'

/**
 * Finds the kind of callback by the request path. The request path must end like the callback's `path`; the first segment of
 * `path`, `registry`, is not compared. If no callback fits, `header.action` decides, because a sender_uri may be any address.
 * @throws RequestFault err.request.bad no callback fits path or action, or the action does not fit the callback of the path
 */
export function requireCallback(path: string, action: unknown): Callback {
  const text = typeof action === 'string' ? action : ''
  const byPath = CALLBACKS.find((row) => path.endsWith(row.path.slice(CALLBACK_PATH_ROOT.length)))
  const row = byPath ?? CALLBACKS.find((row) => row.action === text) ?? CALLBACKS.find((row) => row.action_aliases.includes(text))
  if (row === undefined) throw badRequest('header.action: is no callback of this protocol')
  if (!actionMeans(row, text)) throw badRequest(`header.action: must be ${row.action} on this path`)
  return row
}

/**
 * Checks a callback against the schema for received callbacks, which is less strict than the documented one.
 * @param opened the message, decrypted if it was encrypted; undefined when the callback has none, which is allowed only when
 * `header.status` is rjct
 * @throws RequestFault err.request.bad, with the member and the rule
 */
export function readCallback(
  row: Callback,
  frame: ParsedEnvelope,
  opened: OpenedMessage | undefined,
  signed: boolean,
): Received | Rejected {
  const { header } = frame
  // A header with `status` is checked as the header of a callback, although not all callbacks require a status.
  if (row.header === 'callback' || header.status !== undefined) {
    const problem = callbackHeaderValidator.problem(header, 'header')
    if (problem !== null) throw badRequest(problem)
  }
  const name = row.name as CallbackName
  const received = { name, header: receivedHeaderValidator.checked(header, 'header', badRequest), signed }
  if (opened === undefined) {
    if (header.status === 'rjct') return { ...received, ...assumedUtc(frame.assumed_utc) }
    throw badRequest('message: is required unless header.status is rjct')
  }
  const tolerated = tolerateMessage({ request: row.message }, opened.message) as JsonObject
  const { value, assumed_utc } = inUtc(row.message.incoming, tolerated, 'message')
  const message = messageValidators.get(row.name)?.checked(value, 'message', badRequest)
  if (message === undefined) throw new Error(`callback ${row.name} has no schema`)
  checkTotalCount(row.message, header, tolerated)
  const { encrypted } = opened
  return { ...received, message: splitEventsByRecord(message), encrypted, ...assumedUtc(frame.assumed_utc, assumed_utc) }
}

/** Checks that total_count is the number of items. A missing or zero total_count is accepted. */
export function checkTotalCount(message: Message, { total_count }: JsonObject, members: JsonObject): void {
  const items = message.items === null ? undefined : members[message.items]
  if (!message.counted || total_count === undefined || total_count === 0 || !Array.isArray(items)) return
  if (total_count !== items.length) {
    throw badRequest(`header.total_count: must be the number of items in message.${message.items}`)
  }
}

/** Splits an event with several records into one event for each record. */
function splitEventsByRecord(message: IncomingCallbackMessage): Received['message'] {
  if (!('notify_event' in message)) return message
  const notify_event = message.notify_event.flatMap((event) =>
    [event.data.reg_records].flat().map((reg_records) => ({ ...event, data: { ...event.data, reg_records } })),
  )
  return { ...message, notify_event }
}
