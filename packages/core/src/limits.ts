/** Every limit that is read from more than one place: those that an operator sets, and those that are constants. */

interface LimitRow {
  /** The environment variable that sets it. */
  readonly variable: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly unit: string
  readonly meaning: string
}

/** The limits that an operator sets, because country, law or network differ. `docs/limits.md` lists them; a test compares the two. */
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
      'time to receive a whole request, and for a peer to receive its answer; above it 408 err.request.timeout, or the connection is closed',
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
} as const satisfies Record<string, LimitRow>

/**
 * Limits that no variable sets. They are here, and not beside their use, because several parts read them, or tests need others.
 * `docs/limits.md` says what happens above each.
 */
export const FIXED_LIMITS = {
  /** Bytes of a body that is no file: it is in memory as a whole. */
  body_bytes: 8_388_608,
  /** Levels of a body: far more than any message of the standard has. */
  body_depth: 64,
  /** Items of one request: 8 MiB hold so many of 800 bytes. */
  batch_items: 10_000,
  /** Items of a file: 64 MiB hold so many of 670 bytes. */
  upload_items: 100_000,
  /** Levels, conditions and values of a query: far more than a person or a portal asks for. */
  query_depth: 20,
  query_terms: 200,
  query_values: 1_000,
  /** Seconds within which searches of a synchronous request begin: a peer rarely waits for longer. */
  batch_search_time: 60,
  /** Seconds within which searches of an asynchronous request begin: PostgreSQL can remove no old rows meanwhile. */
  snapshot_search_time: 3_600,
  /** Bytes of the records of one answer: they are in memory together. */
  reply_bytes: 67_108_864,
  /** Records that one asynchronous request finds: their ids are stored with it. */
  reply_records: 1_000_000,
  /** Seconds for one statement. The few that may take longer, such as those of a backup, say so themselves. */
  statement_timeout: 30,
  /** Failed token requests a minute of one client from one address: nobody guesses a secret at this rate. */
  token_failures: 20,
  /** Failed requests a minute of one address: several systems may be behind one. */
  address_failures: 600,
  /** Requests a second, and at a time, of a participant that has no limits of its own. */
  participant_rate: 200,
  participant_concurrency: 200,
  /** Requests a second of all participants: more than one database answers. */
  total_rate: 20_000,
  /** Requests at a time on one node: each holds its message in memory. */
  total_concurrency: 2_000,
  /** Bytes of bodies at a time on one node: a sixth of the memory that docs/production.md gives it. */
  total_bytes: 268_435_456,
  /** Asynchronous requests of one participant in a day: 23 a second all day long. */
  accepted_requests: 2_000_000,
  /** Callbacks of one participant in a day, and their bytes: more than one a second all day long. */
  inbox_messages: 100_000,
  inbox_bytes: 1_073_741_824,
  /** Seconds, and entries, after which a checkpoint signs audit entries: what is not signed can be changed unseen. */
  checkpoint_interval: 10,
  checkpoint_entries: 1_000,
  /** Accepted requests that one worker node answers at a time: most of them wait for the database or for a peer. */
  worker_concurrency: 96,
  /** Seconds for the work of a node to end when it is stopped: with `drain_time` shorter than the 30 s of container platforms. */
  stop_time: 20,
  /** Seconds for which a node claims an accepted request: so long the work of a dead node waits. */
  node_lease: 4,
  /** Days after an event at which its receivers are still notified of a correction. */
  correction_time: 30,
  /** Subscriptions of a participant that has no number of its own. */
  subscriptions: 100_000,
  /** Bytes of a body of the admin API, and so of a published record. */
  admin_body_bytes: 1_048_576,
  /** Sessions of one operator or participant: a browser on each of the machines of a person. */
  operator_sessions: 10,
  /** The most deliveries that one call changes. An operator who changes more names one span of time after another. */
  changed_deliveries: 10_000,
  /** Audit entries that one call looks through. The next page goes on where the call ended. */
  searched_entries: 100_000,
  /** Seconds for which an act waits for a second operator: a weekend and a day. */
  proposal_time: 259_200,
  /** Deliveries that one operator replays alone where acts need two. */
  replay_deliveries: 1_000,
} as const

export type LimitName = keyof typeof LIMITS
export type Limits = { readonly [name in LimitName | keyof typeof FIXED_LIMITS]: number }

/**
 * Reads the limits that an operator sets from the environment.
 * @returns them, and those that are constants
 * @throws Error that names the variable and its range when a value is not a whole number within it
 */
export function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  const set = Object.entries(LIMITS).map(([name, row]: [string, LimitRow]) => [name, readLimit(row, env)])
  return { ...FIXED_LIMITS, ...(Object.fromEntries(set) as { readonly [name in LimitName]: number }) }
}

/** The limits where nothing is set. */
export const DEFAULT_LIMITS: Limits = readLimits({})

function readLimit(row: LimitRow, env: Readonly<Record<string, string | undefined>>): number {
  const text = env[row.variable]
  if (text === undefined || text === '') return row.default
  const value = Number(text)
  if (!Number.isInteger(value) || value < row.min || value > row.max) {
    throw new Error(`${row.variable} must be a whole number from ${row.min} to ${row.max} (${row.unit})`)
  }
  return value
}
