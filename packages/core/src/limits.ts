/** Limits that several modules read: those that an operator sets, and constants. */

interface LimitDefinition {
  /** The environment variable that sets the limit. */
  readonly variable: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly unit: string
  readonly meaning: string
}

/** Limits that an operator sets, because they depend on country, law or network. A test compares them with `docs/limits.md`. */
export const LIMITS = {
  upload_bytes: {
    variable: 'ROLLCALL_MAX_UPLOAD_BYTES',
    default: 67_108_864,
    min: 1_024,
    max: 1_073_741_824,
    unit: 'bytes',
    meaning: 'size of a request body that brings a file; above it 413 err.request.bad',
  },
  page_size: {
    variable: 'ROLLCALL_MAX_PAGE_SIZE',
    default: 100,
    min: 1,
    max: 10_000,
    unit: 'records',
    meaning: 'page_size that a participant may ask for; above it rjct.pagination.invalid',
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
  search_timeout: {
    variable: 'ROLLCALL_SEARCH_TIMEOUT',
    default: 10,
    min: 1,
    max: 3_600,
    unit: 'seconds',
    meaning: 'time for the statement of one search; above it rjct.search_criteria.invalid',
  },
  request_timeout: {
    variable: 'ROLLCALL_REQUEST_TIMEOUT',
    default: 30,
    min: 1,
    max: 600,
    unit: 'seconds',
    meaning:
      'time to receive a whole request, and for a peer to receive its answer, with a second more for each 64 KiB of it; above it 408 err.request.timeout, or the connection is closed',
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
    meaning: 'distance of the message_ts of a request from now, 0 for no limit; outside it rjct.message_ts.invalid',
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
  inbox_retention: {
    variable: 'ROLLCALL_INBOX_RETENTION',
    default: 2_592_000,
    min: 349_200,
    max: 315_360_000,
    unit: 'seconds',
    meaning: 'time for which received callbacks are stored, longer than any message stays fresh',
  },
  account_retention: {
    variable: 'ROLLCALL_ACCOUNT_RETENTION',
    default: 1_826,
    min: 1,
    max: 36_525,
    unit: 'days',
    meaning: 'time for which audit entries are stored; rollcall prune then deletes whole months',
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
  birth_span: {
    variable: 'ROLLCALL_BIRTH_SPAN',
    default: 365,
    min: 0,
    max: 36_500,
    unit: 'days',
    meaning: 'time from a birth to its registration; a person who is registered later is a REGISTER and no LiveBirth',
  },
  session_idle: {
    variable: 'ROLLCALL_SESSION_IDLE',
    default: 1_800,
    min: 300,
    max: 28_800,
    unit: 'seconds',
    meaning: 'time without a call of the person after which a session of the console, or of the partner page, ends',
  },
  drain_time: {
    variable: 'ROLLCALL_DRAIN_TIME',
    default: 5,
    min: 0,
    max: 300,
    unit: 'seconds',
    meaning: 'time from a signal to stop, when /ready begins to answer 503, until no more connections are accepted',
  },
} as const satisfies Record<string, LimitDefinition>

/** Constant limits that several modules read, or that tests change. `docs/limits.md` says what happens above each. */
export const FIXED_LIMITS = {
  /** The most bytes of a request body that is not a file: the whole body is in memory. */
  body_bytes: 8_388_608,
  /** The most nesting levels of a request body: far more than any message of the standard has. */
  body_depth: 64,
  /** The most items of one request. 8 MiB are enough for this number of items of 800 bytes. */
  batch_items: 10_000,
  /** The most items of a chunk. A longer asynchronous batch or file is cut into chunks, each with an answer of its own. */
  chunk_items: 10_000,
  /** The most items of an uploaded file. 64 MiB are enough for this number of items of 670 bytes. */
  upload_items: 100_000,
  /** The most nesting levels (`query_depth`), conditions (`query_terms`) and values of one query: far more than anybody needs. */
  query_depth: 20,
  query_terms: 200,
  query_values: 1_000,
  /**
   * The most identifiers that the queries of one request, or of a chunk, may name together: its audit entry has all of them, and
   * one SQL statement writes it.
   */
  asked_identifiers: 100_000,
  /** Seconds after which no new search of a synchronous request with several items begins: peers rarely wait longer. */
  batch_search_time: 60,
  /**
   * Seconds after which no new search of an asynchronous request with several items begins: it reads one snapshot, and
   * PostgreSQL keeps old rows until the snapshot ends.
   */
  snapshot_search_time: 3_600,
  /** The most bytes of all records in one answer, which are in memory together. */
  reply_bytes: 67_108_864,
  /** The most records that one asynchronous request may find: their ids are stored with the request. */
  reply_records: 1_000_000,
  /** Seconds that one SQL statement may take. Longer statements, such as those of a backup, set their own limit. */
  statement_timeout: 30,
  /** The most failed token requests in a minute on one node, of one client from one address: too few to guess a secret. */
  token_failures: 20,
  /** The most failed requests in a minute on one node from one address. Several systems may share an address. */
  address_failures: 600,
  /** The most requests in a second, and the most at the same time, for a participant that has no limits of its own. */
  participant_rate: 200,
  participant_concurrency: 200,
  /** The most requests in a second of all participants together: one database cannot answer as many. */
  total_rate: 20_000,
  /** The most requests at the same time on one node: the message of each is in memory. */
  total_concurrency: 2_000,
  /** The most bytes of request bodies and unsent answers in a node's memory: a sixth of the memory in docs/production.md. */
  total_bytes: 268_435_456,
  /** The most asynchronous requests of one participant in a day: on average 23 in each second. */
  accepted_requests: 2_000_000,
  /** The most callbacks, and the most bytes of all of them, that one participant may send to us in a day. */
  inbox_messages: 100_000,
  inbox_bytes: 1_073_741_824,
  /** A checkpoint signs the new audit entries after 10 seconds or 1,000 entries, so that nobody can change them unseen. */
  checkpoint_interval: 10,
  checkpoint_entries: 1_000,
  /** The most accepted requests in work on one node. Most of them only wait, for example for the database or a peer. */
  worker_concurrency: 192,
  /**
   * Seconds in which a node that is stopped ends its work. Together with the default `drain_time`, this is less than the 30 s
   * that container platforms wait.
   */
  stop_time: 20,
  /**
   * Seconds for which a node claims an accepted request, or the work of copying a source. After this time, other nodes
   * take over the work of a dead node.
   */
  node_lease: 4,
  /** Days after an event. Its receivers are notified of a correction that is made within these days. */
  correction_time: 30,
  /** The most subscriptions of a participant for which no other limit was set. */
  subscriptions: 100_000,
  /** The most bytes of a request body of the admin API, so also of a published record. */
  admin_body_bytes: 1_048_576,
  /** The most sessions of one operator or participant: one for each browser that a person uses. */
  operator_sessions: 10,
  /** The most deliveries that one call may change. For more, an operator makes several calls, each for a shorter period. */
  changed_deliveries: 10_000,
  /**
   * One call to search the audit log stops after this number of entries; its last SQL statement may read some more. Further calls
   * continue with older entries.
   */
  searched_entries: 100_000,
  /** Seconds for which an act waits for a second operator: three days, more than a weekend. */
  proposal_time: 259_200,
  /** The most deliveries that one operator may send again without a second operator, where acts need two operators. */
  replay_deliveries: 1_000,
} as const

export type LimitName = keyof typeof LIMITS
export type Limits = { readonly [name in LimitName | keyof typeof FIXED_LIMITS]: number }

/**
 * Reads the limits that the environment sets.
 * @returns these limits and the constants
 * @throws Error that names the variable and its range when a value is not a whole number in this range
 */
export function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  const set = Object.entries(LIMITS).map(([name, row]: [string, LimitDefinition]) => [name, readLimit(row, env)])
  return { ...FIXED_LIMITS, ...(Object.fromEntries(set) as { readonly [name in LimitName]: number }) }
}

/** The constants, and the defaults of the limits that the environment can set. */
export const DEFAULT_LIMITS: Limits = readLimits({})

function readLimit(row: LimitDefinition, env: Readonly<Record<string, string | undefined>>): number {
  const text = env[row.variable]
  if (text === undefined || text === '') return row.default
  const value = Number(text)
  if (!Number.isInteger(value) || value < row.min || value > row.max) {
    throw new Error(`${row.variable} must be a whole number from ${row.min} to ${row.max} (${row.unit})`)
  }
  return value
}
