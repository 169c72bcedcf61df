/** Tells errors of the database apart: which facts may be logged, and whether a retry may help. */
import { DatabaseError } from 'pg'

/** Facts about an error that are safe to log: no message, detail, parameter or SQL, which may quote a record. */
export interface SafeDatabaseError {
  /** The name of the error's class, such as DatabaseError. */
  readonly error: string
  /** PostgreSQL's five-character code, such as 23505. */
  readonly sqlstate?: string
  readonly severity?: string
  /** The function in PostgreSQL's source that reported the error. */
  readonly routine?: string
  /** The code of an error of the system or network, such as ECONNREFUSED. */
  readonly code?: string
}

export function safeDatabaseError(error: unknown): SafeDatabaseError {
  if (error instanceof DatabaseError) {
    const { code, severity, routine } = error
    return {
      error: 'DatabaseError',
      ...(code !== undefined && { sqlstate: code }),
      ...(severity !== undefined && { severity }),
      ...(routine !== undefined && { routine }),
    }
  }
  if (!(error instanceof Error)) return { error: typeof error }
  const code = findSystemCode(error)
  return { error: error.constructor.name, ...(code !== undefined && { code }) }
}

/** SQLSTATEs, or their first two characters, of failures that the statement did not cause and that may pass. */
const UNAVAILABLE_SQLSTATES: readonly string[] = [
  '08', // connection exception
  '25006', // read-only transaction: we are connected to a standby
  '26000', // a statement before it on its connection failed to prepare it (`pipeline.ts`)
  '28', // login refused: credentials are being changed
  '3D000', // the database does not exist: it is being restored
  '40P01', // ended because it and another one waited for each other: a migration of the next version, say
  '53', // insufficient resources: connections, memory, disk
  '57', // operator intervention: shutdown, crash, starting up, statement timeout
  '58', // error of the system below PostgreSQL
]

const UNAVAILABLE_SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Matches messages of the driver pg for errors without a code that mean an unavailable database. */
const UNAVAILABLE_TEXT_PATTERN =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/

/** Thrown before anything is done: too many entries wait for a group commit, or this process has ended its audit log. */
export class StoreBusy extends Error {
  constructor() {
    super('too many calls are waiting for the database')
    this.name = 'StoreBusy'
  }
}

/**
 * True when the database failed and may recover: it refuses, shuts down, is full, busy or too slow. The caller answers
 * 503, and the call may be repeated. False for an error in the statement itself.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseError) {
    return UNAVAILABLE_SQLSTATES.some((state) => error.code?.startsWith(state) === true)
  }
  if (error instanceof StoreBusy) return true
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isUnavailable)
  const code = findSystemCode(error)
  // A unix socket may be missing for a while. Any other missing file is an error of the program.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect'
  if (code !== undefined) return UNAVAILABLE_SYSTEM_CODES.has(code)
  return UNAVAILABLE_TEXT_PATTERN.test(error.message)
}

/** The SQLSTATEs of errors with which a readable database refuses all writes. */
const WRITE_REFUSAL_SQLSTATES: ReadonlySet<string> = new Set([
  '25006', // read-only transaction: a standby, or default_transaction_read_only
  '53100', // disk full
])

/** True when the database refuses all writes at present. */
export function isWriteRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && error.code !== undefined && WRITE_REFUSAL_SQLSTATES.has(error.code)
}

/** True when all connections of the role, the database or the server are in use. */
export function isTooManyConnections(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '53300'
}

/** True when we gave a statement up, because no answer came. pg's error has no code. */
export const isReadTimeout = (error: unknown): boolean => error instanceof Error && error.message === 'Query read timeout'

/** True when a statement was cancelled: it took too long, or somebody cancelled it. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '57014'
}

/** True for a deadlock, a serialisation failure or a lock that was not free: the same transaction may succeed later. */
export const isTransactionConflict = (error: unknown): boolean =>
  error instanceof DatabaseError && (error.code?.startsWith('40') === true || error.code === '55P03')

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.code === '23505' && error.constraint === constraint
}

/** True when a row breaks a foreign key whose name matches: it refers to a row that does not exist, or other rows refer to it. */
export function isForeignKeyViolation(error: unknown, constraint: RegExp): boolean {
  return error instanceof DatabaseError && error.code === '23503' && constraint.test(error.constraint ?? '')
}

export function isCheckViolation(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.code === '23514' && error.constraint === constraint
}

function findSystemCode(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** The SQLSTATE classes of errors that the values in a statement cause: data exceptions and violated constraints. */
const VALUE_REFUSAL_SQLSTATE_CLASSES = ['22', '23']

/** True when the database refuses a value: the same statement would fail again. */
export const isValueRefusal = (error: unknown): boolean =>
  error instanceof DatabaseError && VALUE_REFUSAL_SQLSTATE_CLASSES.some((state) => error.code?.startsWith(state) === true)

/** The SQLSTATE or system code of an error; empty when it has none. */
export function sqlStateOrSystemCode(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return typeof code === 'string' ? code : ''
}

/** 23505 unique_violation: another writer inserted the same key. 40001 serialization_failure, 40P01 deadlock. */
const CONCURRENT_WRITE_SQLSTATES = new Set(['23505', '40001', '40P01'])

/** True when a transaction failed because others write the same records: the caller may try again. */
export const isWriteConflict = (error: unknown): boolean => CONCURRENT_WRITE_SQLSTATES.has(sqlStateOrSystemCode(error))
