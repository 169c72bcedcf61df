/**
 * Limits for operators at the admin API and the console, and for participants on their page: rows of the table in
 * `limits.ts`.
 */
export const LIMITS_OF_OPERATORS = {
  admin_body_bytes: {
    variable: 'ROLLCALL_MAX_ADMIN_BODY_BYTES',
    default: 1_048_576,
    min: 1_024,
    max: 268_435_456,
    unit: 'bytes',
    meaning: 'size of a request body of the admin API, and so of a published record; above it 413 err.request.bad',
  },
  session_idle: {
    variable: 'ROLLCALL_SESSION_IDLE',
    default: 1_800,
    min: 300,
    max: 28_800,
    unit: 'seconds',
    meaning: 'time without a call of the person after which a session of the console, or of the partner page, ends',
  },
  session_time: {
    variable: 'ROLLCALL_SESSION_TIME',
    default: 43_200,
    min: 300,
    max: 86_400,
    unit: 'seconds',
    meaning: 'time after which a session of the console, or of the partner page, ends, whatever the person does',
  },
  provided_session_time: {
    variable: 'ROLLCALL_OIDC_SESSION_TIME',
    default: 3_600,
    min: 300,
    max: 86_400,
    unit: 'seconds',
    meaning:
      'time after which a session ends that was begun at a provider of OpenID Connect, as its roles are read at the sign-in alone; ROLLCALL_SESSION_TIME at the latest',
  },
  operator_sessions: {
    variable: 'ROLLCALL_MAX_SESSIONS',
    default: 10,
    min: 1,
    max: 1_000,
    unit: 'sessions',
    meaning:
      'sessions of the console that one operator token, or one user of the provider, has at a time, and of the partner page that one participant has; above it the one that was not used for longest ends',
  },
  sign_in_failures: {
    variable: 'ROLLCALL_MAX_SIGN_IN_FAILURES',
    default: 10,
    min: 1,
    max: 10_000,
    unit: 'failures a minute',
    meaning:
      'failed sign-ins to the console from one address (an IPv6 /64) on one node, and as many to the partner page; above it 429 err.request.too_many_requests',
  },
  partner_calls: {
    variable: 'ROLLCALL_MAX_PARTNER_CALLS',
    default: 300,
    min: 30,
    max: 100_000,
    unit: 'calls a minute',
    meaning: 'calls of the partner page of one participant on one node; above it 429 err.request.too_many_requests',
  },
  partner_replays: {
    variable: 'ROLLCALL_MAX_PARTNER_REPLAYS',
    default: 100,
    min: 100,
    max: 10_000,
    unit: 'deliveries a minute',
    meaning:
      'deliveries that one participant asks for again on the partner page of one node; above it 429 err.request.too_many_requests',
  },
  changed_deliveries: {
    variable: 'ROLLCALL_MAX_CHANGED_DELIVERIES',
    default: 10_000,
    min: 1,
    max: 1_000_000,
    unit: 'deliveries',
    meaning:
      'deliveries that one call of the admin API retries, replays or cancels; above it 409 err.request.bad, and the call has to name a shorter time',
  },
  admin_reads: {
    variable: 'ROLLCALL_MAX_ADMIN_READS',
    default: 20,
    min: 1,
    max: 1_000,
    unit: 'calls',
    meaning:
      'GET calls of the admin API of one operator that are in work or wait on one node; above it 429 err.request.too_many_requests',
  },
  admin_reads_at_once: {
    variable: 'ROLLCALL_ADMIN_READS_AT_ONCE',
    default: 3,
    min: 1,
    max: 100,
    unit: 'calls',
    meaning: 'GET calls of the admin API of one operator in work at a time on one node; the others wait',
  },
  account_searches: {
    variable: 'ROLLCALL_MAX_ACCOUNT_SEARCHES',
    default: 3,
    min: 2,
    max: 100,
    unit: 'calls',
    meaning:
      'calls of the admin API that look through the accounts, in flight on one node, of one operator one less; above it 429 err.request.too_many_requests',
  },
  searched_accounts: {
    variable: 'ROLLCALL_MAX_SEARCHED_ACCOUNTS',
    default: 100_000,
    min: 1_000,
    max: 100_000_000,
    unit: 'entries',
    meaning:
      'entries of the accounts that one call of the admin API looks through for messages or entries; beyond it the caller asks for the next page',
  },
  proposal_time: {
    variable: 'ROLLCALL_PROPOSAL_TIME',
    default: 259_200,
    min: 300,
    max: 2_592_000,
    unit: 'seconds',
    meaning: 'time after which an act that waits for a second operator lapses',
  },
  replay_deliveries: {
    variable: 'ROLLCALL_MAX_REPLAY',
    default: 1_000,
    min: 0,
    max: 10_000_000,
    unit: 'deliveries',
    meaning:
      'deliveries that one operator replays at a time where acts need two (ROLLCALL_TWO_PERSON); above it the replay waits for a second operator',
  },
  operator_token_retention: {
    variable: 'ROLLCALL_OPERATOR_TOKEN_RETENTION',
    default: 90,
    min: 0,
    max: 3_650,
    unit: 'days',
    meaning: 'time for which an operator token is listed after it was revoked or has expired',
  },
} as const
