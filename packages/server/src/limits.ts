/** Every limit of the server, as rows: one place to read them, to set them and to document them. */

interface LimitRow {
  /** The environment variable that sets it. */
  readonly variable: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly unit: string
  readonly meaning: string
}

/** The limits in `docs/limits.md`; a test compares the two. */
export const LIMITS = {
  body_bytes: {
    variable: 'ROLLCALL_MAX_BODY_BYTES',
    default: 8_388_608,
    min: 1_024,
    max: 268_435_456,
    unit: 'bytes',
    meaning: 'size of a request body; above it 413 err.request.bad',
  },
  body_depth: {
    variable: 'ROLLCALL_MAX_BODY_DEPTH',
    default: 64,
    min: 8,
    max: 512,
    unit: 'levels',
    meaning: 'nesting of objects and arrays in a request body; above it 400 err.request.bad',
  },
  body_values: {
    variable: 'ROLLCALL_MAX_BODY_VALUES',
    default: 400_000,
    min: 1_000,
    max: 10_000_000,
    unit: 'values',
    meaning:
      'objects, arrays, texts, numbers and words in a request body, all together; above it 400 err.request.bad',
  },
  frame_values: {
    variable: 'ROLLCALL_MAX_FRAME_VALUES',
    default: 10_000,
    min: 1_000,
    max: 10_000_000,
    unit: 'values',
    meaning:
      'values of a request body outside its array of items, and of one item in a file; above it 400 err.request.bad',
  },
  object_names: {
    variable: 'ROLLCALL_MAX_OBJECT_NAMES',
    default: 1_000,
    min: 100,
    max: 100_000,
    unit: 'names',
    meaning: 'names of members in any one object of a request body; above it 400 err.request.bad',
  },
  batch_items: {
    variable: 'ROLLCALL_MAX_BATCH_ITEMS',
    default: 10_000,
    min: 1,
    max: 100_000,
    unit: 'items',
    meaning: 'items in one request; above it 400 err.request.bad',
  },
  upload_bytes: {
    variable: 'ROLLCALL_MAX_UPLOAD_BYTES',
    default: 67_108_864,
    min: 1_024,
    max: 1_073_741_824,
    unit: 'bytes',
    meaning: 'size of a request body that brings a file; above it 413 err.request.bad',
  },
  upload_items: {
    variable: 'ROLLCALL_MAX_UPLOAD_ITEMS',
    default: 100_000,
    min: 1,
    max: 1_000_000,
    unit: 'items',
    meaning: 'items in a file of NDJSON or CSV; above it rjct.total_count.limit_exceeded',
  },
  page_size: {
    variable: 'ROLLCALL_MAX_PAGE_SIZE',
    default: 100,
    min: 1,
    max: 10_000,
    unit: 'records',
    meaning: 'page_size that a participant may ask for; above it rjct.pagination.invalid',
  },
  default_page_size: {
    variable: 'ROLLCALL_DEFAULT_PAGE_SIZE',
    default: 10,
    min: 1,
    max: 1_000,
    unit: 'records',
    meaning: 'page size when a request names none',
  },
  search_results: {
    variable: 'ROLLCALL_MAX_RESULTS',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    unit: 'records',
    meaning:
      'records that a search may match; above it rjct.search.too_many_records_found, and a page that begins beyond it rjct.pagination.invalid',
  },
  query_depth: {
    variable: 'ROLLCALL_MAX_QUERY_DEPTH',
    default: 20,
    min: 4,
    max: 200,
    unit: 'levels',
    meaning: 'nesting of objects in a query; above it rjct.search_criteria.invalid',
  },
  query_terms: {
    variable: 'ROLLCALL_MAX_QUERY_TERMS',
    default: 200,
    min: 1,
    max: 10_000,
    unit: 'conditions',
    meaning: 'conditions in a query; above it rjct.search_criteria.invalid',
  },
  query_values: {
    variable: 'ROLLCALL_MAX_QUERY_VALUES',
    default: 1_000,
    min: 1,
    max: 30_000,
    unit: 'values',
    meaning: 'values that the lists of a query name, all together; above it rjct.search_criteria.invalid',
  },
  search_timeout: {
    variable: 'ROLLCALL_SEARCH_TIMEOUT',
    default: 10,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    meaning: 'time for the statement of one search; above it rjct.search_criteria.invalid',
  },
  batch_search_time: {
    variable: 'ROLLCALL_BATCH_SEARCH_TIME',
    default: 60,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    meaning:
      'time within which the searches of one request may start; later ones rjct.search_criteria.invalid, except look-ups of one identifier',
  },
  snapshot_search_time: {
    variable: 'ROLLCALL_SNAPSHOT_SEARCH_TIME',
    default: 3_600,
    min: 1,
    max: 86_400,
    unit: 'seconds',
    meaning:
      'time within which the searches of one asynchronous request of several items, or of a chunk of 10,000, may start; later ones rjct.search_criteria.invalid, except look-ups of one identifier',
  },
  slow_search: {
    variable: 'ROLLCALL_SLOW_SEARCH',
    default: 250,
    min: 1,
    max: 3_600_000,
    unit: 'milliseconds',
    meaning: 'time from which a search counts as slow and its attributes are remembered for rollcall index',
  },
  reply_bytes: {
    variable: 'ROLLCALL_MAX_REPLY_BYTES',
    default: 67_108_864,
    min: 1_048_576,
    max: 268_435_456,
    unit: 'bytes',
    meaning: 'records in one answer, all items together; items above it rjct.search.too_many_records_found',
  },
  reply_records: {
    variable: 'ROLLCALL_MAX_REPLY_RECORDS',
    default: 1_000_000,
    min: 1_000,
    max: 10_000_000,
    unit: 'records',
    meaning:
      'records that the items of one asynchronous request, or of a chunk of 10,000, may find together, on all pages; items above it rjct.search.too_many_records_found',
  },
  timestamp_window: {
    variable: 'ROLLCALL_TIMESTAMP_WINDOW',
    default: 0,
    min: 0,
    max: 31_536_000,
    unit: 'seconds',
    meaning:
      'distance of an item timestamp from the time at which its request was received, 0 for no limit; outside it rjct.timestamp.invalid',
  },
  message_ts_window: {
    variable: 'ROLLCALL_MESSAGE_TS_WINDOW',
    default: 0,
    min: 0,
    max: 31_536_000,
    unit: 'seconds',
    meaning:
      'distance of the message_ts of a request from now, 0 for no limit; outside it rjct.message_ts.invalid',
  },
  request_timeout: {
    variable: 'ROLLCALL_REQUEST_TIMEOUT',
    default: 30,
    min: 1,
    max: 600,
    unit: 'seconds',
    meaning:
      'time to receive a whole request, and for a peer to receive its answer; above it 408 err.request.timeout, or the connection is closed',
  },
  statement_timeout: {
    variable: 'ROLLCALL_STATEMENT_TIMEOUT',
    default: 30,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    meaning: 'time for one database statement; above it 503 err.service.unavailable',
  },
  token_lifetime: {
    variable: 'ROLLCALL_TOKEN_LIFETIME',
    default: 900,
    min: 30,
    max: 900,
    unit: 'seconds',
    meaning: 'lifetime of an access token',
  },
  token_failures: {
    variable: 'ROLLCALL_MAX_TOKEN_FAILURES',
    default: 20,
    min: 1,
    max: 10_000,
    unit: 'failures a minute',
    meaning: 'failed token requests of one client from one address; above it 429',
  },
  address_failures: {
    variable: 'ROLLCALL_MAX_ADDRESS_FAILURES',
    default: 600,
    min: 1,
    max: 1_000_000,
    unit: 'failures a minute',
    meaning:
      'requests of one address (an IPv6 /64) on one node without a valid token or client secret; above it 429',
  },
  participant_rate: {
    variable: 'ROLLCALL_RATE_LIMIT',
    default: 200,
    min: 1,
    max: 1_000_000,
    unit: 'requests a second',
    meaning: 'requests of one participant on all nodes together; above it 429 err.request.too_many_requests',
  },
  participant_concurrency: {
    variable: 'ROLLCALL_CONCURRENCY_LIMIT',
    default: 200,
    min: 1,
    max: 100_000,
    unit: 'requests',
    meaning: 'requests of one participant in flight on one node; above it 429 err.request.too_many_requests',
  },
  total_rate: {
    variable: 'ROLLCALL_TOTAL_RATE_LIMIT',
    default: 20_000,
    min: 1,
    max: 10_000_000,
    unit: 'requests a second',
    meaning: 'requests of all participants on all nodes together; above it 429 err.request.too_many_requests',
  },
  total_concurrency: {
    variable: 'ROLLCALL_TOTAL_CONCURRENCY_LIMIT',
    default: 2_000,
    min: 1,
    max: 100_000,
    unit: 'requests',
    meaning: 'requests of all participants in flight on one node; above it 429 err.request.too_many_requests',
  },
  total_bytes: {
    variable: 'ROLLCALL_TOTAL_BODY_BYTES',
    default: 268_435_456,
    min: 1_048_576,
    max: 17_179_869_184,
    unit: 'bytes',
    meaning:
      'memory budget for request bodies in flight on one node, half of it for one participant at most; above it 429 err.request.too_many_requests, except for a body that is alone',
  },
  large_requests: {
    variable: 'ROLLCALL_LARGE_REQUESTS',
    default: 2,
    min: 1,
    max: 1_000,
    unit: 'requests',
    meaning:
      'accepted requests above 262144 bytes that one worker node answers at a time, one of each participant; the others wait',
  },
  exchange_retention: {
    variable: 'ROLLCALL_EXCHANGE_RETENTION',
    default: 432_000,
    min: 349_200,
    max: 31_536_000,
    unit: 'seconds',
    meaning: 'time for which a message_id is remembered, longer than any message stays fresh',
  },
  notification_retention: {
    variable: 'ROLLCALL_NOTIFICATION_RETENTION',
    default: 1_209_600,
    min: 3_600,
    max: 31_536_000,
    unit: 'seconds',
    meaning:
      'time for which a notification is attempted; then its mailbox is closed and the subscriptions behind it are suspended. Events are kept for as long',
  },
  accepted_requests: {
    variable: 'ROLLCALL_MAX_ACCEPTED_REQUESTS',
    default: 2_000_000,
    min: 1,
    max: 1_000_000_000,
    unit: 'requests a day',
    meaning:
      'asynchronous requests of one participant that are accepted in a day (UTC); above it 429 err.request.too_many_requests',
  },
  accepted_bytes: {
    variable: 'ROLLCALL_MAX_ACCEPTED_BYTES',
    default: 4_294_967_296,
    min: 1_024,
    max: 1_099_511_627_776,
    unit: 'bytes a day',
    meaning:
      'size of the asynchronous requests of one participant that are accepted in a day (UTC), as they are stored; above it 429 err.request.too_many_requests',
  },
  inbox_retention: {
    variable: 'ROLLCALL_INBOX_RETENTION',
    default: 2_592_000,
    min: 349_200,
    max: 315_360_000,
    unit: 'seconds',
    meaning: 'time for which received callbacks are stored, longer than any message stays fresh',
  },
  inbox_messages: {
    variable: 'ROLLCALL_MAX_INBOX_MESSAGES',
    default: 100_000,
    min: 1,
    max: 100_000_000,
    unit: 'messages a day',
    meaning:
      'callbacks of one participant that are stored in a day (UTC); above it 429 err.request.too_many_requests',
  },
  inbox_bytes: {
    variable: 'ROLLCALL_MAX_INBOX_BYTES',
    default: 1_073_741_824,
    min: 1_024,
    max: 1_099_511_627_776,
    unit: 'bytes a day',
    meaning:
      'size of the callbacks of one participant that are accepted in a day (UTC), as they are stored; above it 429 err.request.too_many_requests',
  },
  admin_body_bytes: {
    variable: 'ROLLCALL_MAX_ADMIN_BODY_BYTES',
    default: 1_048_576,
    min: 1_024,
    max: 268_435_456,
    unit: 'bytes',
    meaning:
      'size of a request body of the admin API, and so of a published record; above it 413 err.request.bad',
  },
  clock_skew: {
    variable: 'ROLLCALL_CLOCK_SKEW',
    default: 60,
    min: 0,
    max: 60,
    unit: 'seconds',
    meaning: "difference between our clock and a signer's; beyond it err.signature.invalid",
  },
  exchanges_waiting: {
    variable: 'ROLLCALL_MAX_EXCHANGES_WAITING',
    default: 10_000,
    min: 100,
    max: 1_000_000,
    unit: 'messages',
    meaning: 'messages that wait on one node to be remembered; above it 503 err.service.unavailable',
  },
  worker_concurrency: {
    variable: 'ROLLCALL_WORKER_CONCURRENCY',
    default: 96,
    min: 1,
    max: 1_000,
    unit: 'exchanges',
    meaning:
      'accepted requests that one worker node answers at a time, a quarter of them of one participant at most',
  },
  stop_time: {
    variable: 'ROLLCALL_STOP_TIME',
    default: 20,
    min: 0,
    max: 3_600,
    unit: 'seconds',
    meaning: 'time for the work of a node to end when it is stopped; other nodes do the rest',
  },
  drain_time: {
    variable: 'ROLLCALL_DRAIN_TIME',
    default: 5,
    min: 0,
    max: 300,
    unit: 'seconds',
    meaning:
      'time from a signal to stop, when /ready begins to answer 503, until no more connections are accepted',
  },
  node_lease: {
    variable: 'ROLLCALL_NODE_LEASE',
    default: 4,
    min: 2,
    max: 600,
    unit: 'seconds',
    meaning:
      'lease of an accepted request: when a node has not renewed it for this time, other nodes claim the request',
  },
  notify_interval: {
    variable: 'ROLLCALL_MIN_NOTIFY_INTERVAL',
    default: 5,
    min: 1,
    max: 86_400,
    unit: 'seconds',
    meaning: 'time between two runs of the frequency of a subscription; below it rjct.notify_details.invalid',
  },
  birth_span: {
    variable: 'ROLLCALL_BIRTH_SPAN',
    default: 365,
    min: 0,
    max: 36_500,
    unit: 'days',
    meaning:
      'time from a birth to its registration; a person who is registered later is a REGISTER and no LiveBirth',
  },
  consent_age: {
    variable: 'ROLLCALL_CONSENT_AGE',
    default: 31_536_000,
    min: 60,
    max: 3_153_600_000,
    unit: 'seconds',
    meaning:
      'age of a consent or an authorization that a search item names, where a grant demands one; above it the item is rejected',
  },
  correction_time: {
    variable: 'ROLLCALL_CORRECTION_TIME',
    default: 30,
    min: 0,
    max: 3_650,
    unit: 'days',
    meaning:
      'age of an event at which its receivers are notified that it was taken back or corrected; above it nobody is. Events are kept for as long',
  },
  subscriptions: {
    variable: 'ROLLCALL_MAX_SUBSCRIPTIONS',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    unit: 'subscriptions',
    meaning:
      'subscriptions of one participant that have not ended, in all registries; above it rjct.notify_details.invalid',
  },
  operator_token_retention: {
    variable: 'ROLLCALL_OPERATOR_TOKEN_RETENTION',
    default: 90,
    min: 0,
    max: 3_650,
    unit: 'days',
    meaning: 'time for which an operator token is listed after it was revoked or has expired',
  },
} as const satisfies Record<string, LimitRow>

export type LimitName = keyof typeof LIMITS
export type Limits = { readonly [name in LimitName]: number }

/** Limits of earlier versions, and what is set in their place. */
const REPLACED: Readonly<Record<string, string>> = {
  ROLLCALL_OPEN_REQUEST_BYTES: 'ROLLCALL_LARGE_REQUESTS, a number of requests',
}

/**
 * Reads the limits from the environment.
 * @throws Error that names the replacement of a limit that there is no more
 * @throws Error that names the variable and its range when a value is not a whole number within it
 */
export function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  for (const [variable, replacement] of Object.entries(REPLACED)) {
    if (env[variable]) throw new Error(`${variable} is no limit any more; set ${replacement}`)
  }
  const entries = Object.entries(LIMITS).map(([name, row]: [string, LimitRow]) => [name, readLimit(row, env)])
  return Object.fromEntries(entries) as Limits
}

function readLimit(row: LimitRow, env: Readonly<Record<string, string | undefined>>): number {
  const text = env[row.variable]
  if (text === undefined || text === '') return row.default
  const value = Number(text)
  if (!Number.isInteger(value) || value < row.min || value > row.max) {
    throw new Error(`${row.variable} must be a whole number from ${row.min} to ${row.max} (${row.unit})`)
  }
  return value
}
