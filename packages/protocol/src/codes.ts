/**
 * All reason codes of the protocol. A code has one row for each place where it may occur, because its meaning differs:
 * `rjct.reference_id.invalid` is in replies to search, subscribe and unsubscribe. Sources: spec "Errors" 3 (search) and
 * 4 (unsubscribe), N17 (subscribe), N18 (header), N19 (ack). When each is sent: N20 and `docs/troubleshooting.md`,
 * which is made from this table.
 */

/**
 * The place of a code: the `error` of an acknowledgement, the header of a callback, an item of a reply, or the reply to
 * unsubscribe.
 */
export type CodePlace = 'ack' | 'header' | 'search' | 'subscribe' | 'unsubscribe'

interface CodeDefinition {
  readonly code: `err.${string}` | `rjct.${string}`
  readonly where: CodePlace
  /** The usual HTTP status of an acknowledgement with this code. Codes outside of acknowledgements have none. */
  readonly http_status?: number
  /** One plain sentence that says what the code means. */
  readonly meaning: string
}

export const CODES = [
  {
    where: 'ack',
    code: 'err.request.bad',
    http_status: 400,
    meaning: 'The request cannot be read or breaks the format of the message.',
  },
  {
    where: 'ack',
    code: 'err.request.unauthorized',
    http_status: 401,
    meaning: 'The bearer token is missing, expired or not valid.',
  },
  { where: 'ack', code: 'err.request.forbidden', http_status: 403, meaning: 'The sender is known but may not do this here.' },
  { where: 'ack', code: 'err.request.not_found', http_status: 404, meaning: 'There is no such registry, path or operation.' },
  {
    where: 'ack',
    code: 'err.request.timeout',
    http_status: 408,
    meaning: 'The request did not arrive or could not be answered in time.',
  },
  {
    where: 'ack',
    code: 'err.version.not_supported',
    http_status: 400,
    meaning: 'The protocol version in the header is not supported.',
  },
  {
    where: 'ack',
    code: 'err.request.too_many_requests',
    http_status: 429,
    meaning: 'The sender has used up its quota of requests.',
  },
  {
    where: 'ack',
    code: 'err.sender_id.invalid',
    http_status: 403,
    meaning: 'The sender_id is not that of the participant who holds the token.',
  },
  {
    where: 'ack',
    code: 'err.sender_uri.invalid',
    http_status: 400,
    meaning: 'The sender_uri is not an address to which a callback may be sent.',
  },
  {
    where: 'ack',
    code: 'err.receiver_id.invalid',
    http_status: 400,
    meaning: 'The receiver_id names neither this registry nor one of its aliases.',
  },
  { where: 'ack', code: 'err.signature.missing', http_status: 401, meaning: 'The message must be signed and is not.' },
  {
    where: 'ack',
    code: 'err.signature.invalid',
    http_status: 401,
    meaning: 'The signature does not belong to this header and message, or is out of date.',
  },
  { where: 'ack', code: 'err.encryption.invalid', http_status: 400, meaning: 'The encrypted message cannot be decrypted.' },
  {
    where: 'ack',
    code: 'err.service.unavailable',
    http_status: 503,
    meaning: 'The service cannot answer at the moment; the same request may be sent again later.',
  },

  { where: 'header', code: 'rjct.version.invalid', meaning: 'The protocol version in the header is not supported.' },
  {
    where: 'header',
    code: 'rjct.message_id.duplicate',
    meaning: 'The sender has used this message_id before for another message.',
  },
  {
    where: 'header',
    code: 'rjct.message_ts.invalid',
    meaning: 'The message_ts cannot be read or lies outside the accepted window of time.',
  },
  { where: 'header', code: 'rjct.action.invalid', meaning: 'The action belongs to another operation than the path.' },
  { where: 'header', code: 'rjct.action.not_supported', meaning: 'The action is none that this registry knows.' },
  {
    where: 'header',
    code: 'rjct.total_count.invalid',
    meaning: 'The total_count differs from the number of items in the message.',
  },
  {
    where: 'header',
    code: 'rjct.total_count.limit_exceeded',
    meaning: 'The message holds more items than are accepted in one batch.',
  },
  { where: 'header', code: 'rjct.errors.too_many', meaning: 'Every item of the batch was rejected.' },

  {
    where: 'search',
    code: 'rjct.reference_id.invalid',
    meaning: 'The reference_id of the item is missing, empty or longer than 99 characters.',
  },
  { where: 'search', code: 'rjct.reference_id.duplicate', meaning: 'An earlier item of the same batch has this reference_id.' },
  {
    where: 'search',
    code: 'rjct.timestamp.invalid',
    meaning: 'The timestamp of the item lies outside the accepted window of time.',
  },
  {
    where: 'search',
    code: 'rjct.search_criteria.invalid',
    meaning: 'The search criteria are missing, not understood, or ask for what this registry does not hold.',
  },
  { where: 'search', code: 'rjct.filter.invalid', meaning: 'The text of the filter or expression cannot be parsed.' },
  {
    where: 'search',
    code: 'rjct.sort.invalid',
    meaning: 'The sort names an unknown or unsortable attribute or an unknown order.',
  },
  { where: 'search', code: 'rjct.pagination.invalid', meaning: 'The page asked for is larger than the limit or cannot be read.' },
  { where: 'search', code: 'rjct.search.too_many_records_found', meaning: 'The search finds more records than are given out.' },

  {
    where: 'subscribe',
    code: 'rjct.reference_id.invalid',
    meaning: 'The reference_id of the item is missing, empty or longer than 99 characters.',
  },
  {
    where: 'subscribe',
    code: 'rjct.reference_id.duplicate',
    meaning: 'An earlier item of the same batch has this reference_id.',
  },
  {
    where: 'subscribe',
    code: 'rjct.timestamp.invalid',
    meaning: 'The timestamp of the item lies outside the accepted window of time.',
  },
  {
    where: 'subscribe',
    code: 'rjct.notify_types.invalid',
    meaning: 'The event type or the record type to notify is none that this registry publishes.',
  },
  {
    where: 'subscribe',
    code: 'rjct.notify_details.invalid',
    meaning: 'The subscribe criteria, their filter or their frequency are missing, not understood or not allowed.',
  },
  {
    where: 'subscribe',
    code: 'rjct.person_id.invalid',
    meaning: 'The identifier in the filter is malformed or of an unknown type.',
  },
  {
    where: 'subscribe',
    code: 'rjct.event.already_subscribed',
    meaning: 'The sender has a subscription to the same events with the same filter.',
  },

  { where: 'unsubscribe', code: 'rjct.reference_id.invalid', meaning: 'The reference_id of the request is not valid.' },
  { where: 'unsubscribe', code: 'rjct.reference_id.duplicate', meaning: 'The reference_id of the request has been used before.' },
  {
    where: 'unsubscribe',
    code: 'rjct.timestamp.invalid',
    meaning: 'The timestamp of the request lies outside the accepted window of time.',
  },
  { where: 'unsubscribe', code: 'rjct.subscription_code.invalid', meaning: 'None of the subscription codes is known.' },
  { where: 'unsubscribe', code: 'rjct.requester.invalid', meaning: 'The sender has lost the right to the subscription.' },
  { where: 'unsubscribe', code: 'rjct.event.already_unsubscribed', meaning: 'The subscription has been ended before.' },
] as const satisfies readonly CodeDefinition[]

/** One row of `CODES`: a code, where it may occur, and what it means. */
export type CodeRow = (typeof CODES)[number]

/** The codes that may occur in one place, such as 'ack', 'search' or 'subscribe'. */
export type CodeIn<Place extends CodePlace> = Extract<CodeRow, { where: Place }>['code']

/** A code in `error.code` of an acknowledgement (N19). */
export type AckCode = CodeIn<'ack'>
/** A code in `status_reason_code` of a callback's header (N18). */
export type HeaderCode = CodeIn<'header'>
/** A code in `status_reason_code` of an item of search_response (spec "Errors" 3). */
export type SearchCode = CodeIn<'search'>
/** A code in `status_reason_code` of an item of subscribe_response (N17). */
export type SubscribeCode = CodeIn<'subscribe'>
/** A code in `status_reason_code` of an unsubscribe response (spec "Errors" 4). */
export type UnsubscribeCode = CodeIn<'unsubscribe'>
/** A code that rejects one item of a batch, or an unsubscribe request. */
export type ItemCode = SearchCode | SubscribeCode | UnsubscribeCode

/** The codes that may occur in one place, such as 'search', in the order of `CODES`. */
export function codesOf<Place extends CodePlace>(place: Place): CodeIn<Place>[] {
  return CODES.filter((row) => row.where === place).map((row) => row.code) as CodeIn<Place>[]
}

const HTTP_STATUS_BY_CODE = new Map<string, number>(
  CODES.flatMap((row) => ('http_status' in row ? [[row.code, row.http_status]] : [])),
)

/** The HTTP status for the code of an acknowledgement. Some faults have a more precise one, such as 405, 413 or 415. */
export function httpStatusOf(code: AckCode): number {
  return HTTP_STATUS_BY_CODE.get(code) ?? 400
}
