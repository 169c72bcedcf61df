/** Reports a failed command on standard error and by an exit code. */
import { type ProposedAct, proposedActText } from './approval-text.ts'
import { DATABASE_URL_FORM, databaseAdvice } from './database-failure.ts'

/** Exit codes; `rollcall import --help` explains 3 and 4. */
export const EXIT_CODES = { done: 0, failed: 1, usage: 2, some_rejected: 3, interrupted: 4, proposed: 5 } as const

/** A failure whose message is written for the person who gave the command. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/**
 * Thrown when standard output cannot be written. `main.ts` reports it, except when `code` is EPIPE: then the reader has closed
 * the output, which is no failure.
 */
export class OutputFailed extends Error {
  override readonly name = 'OutputFailed'
  readonly code: string | undefined

  constructor({ code }: NodeJS.ErrnoException) {
    super('standard output cannot be written')
    this.code = code
  }
}

/** Names of errors whose message is for the person who gave the command. Importing the classes would load the server. */
const EXPECTED_ERROR_NAMES: ReadonlySet<string> = new Set([
  'AdminRefusal',
  'CommandError',
  'DataDirectoryError',
  'EmbeddedPostgresError',
  'ImportError',
  'MasterKeyError',
  'RequestFailed',
  'StoreRefusal',
  'StoreUnavailable',
])

/** Prints a failure and returns the exit code. With LOG_LEVEL=debug or trace, the stack of an unexpected error is printed too. */
export async function reportFailure(error: unknown): Promise<number> {
  if (error instanceof Error && error.name === 'Proposed' && 'proposal' in error) {
    process.stderr.write(`rollcall: ${proposedActText(error.message, error.proposal as ProposedAct)}\n`)
    return EXIT_CODES.proposed
  }
  if (error instanceof OutputFailed) return error.code === 'EPIPE' ? EXIT_CODES.done : EXIT_CODES.failed
  process.stderr.write(`rollcall: ${await failureText(error)}\n`)
  const debugging = ['debug', 'trace'].includes(process.env.LOG_LEVEL ?? '')
  if (debugging && error instanceof Error && !isExpectedError(error)) process.stderr.write(`${error.stack}\n`)
  return EXIT_CODES.failed
}

/** Returns a failure in words: an expected one with its message and hint, an unexpected one without data. */
export async function failureText(error: unknown): Promise<string> {
  return error instanceof Error && isExpectedError(error) ? `${error.message}${refusalHint(error)}` : unexpectedErrorText(error)
}

/** The hint of a refusal, such as the nearest name for an unknown participant; empty when there is none. */
const refusalHint = (error: Error): string => ('hint' in error && typeof error.hint === 'string' ? error.hint : '')

function isExpectedError(error: unknown): boolean {
  return error instanceof Error && EXPECTED_ERROR_NAMES.has(error.name)
}

/** Returns words for an unexpected error, without its message, which may quote a record or a password. */
async function unexpectedErrorText(error: unknown): Promise<string> {
  const { isUnavailable, safeDatabaseError } = await import('@rollcall/database/database-errors')
  const { error: name, sqlstate, code } = safeDatabaseError(error)
  const what = sqlstate ?? code ?? name
  if (code === 'ERR_INVALID_URL') return `DATABASE_URL must be an address such as ${DATABASE_URL_FORM}`
  const message = error instanceof Error ? error.message : ''
  const place = await findDatabaseDescription()
  const advice = place && databaseAdvice({ sqlstate, code: findHostAddressErrorCode(error) ?? code, message }, place)
  if (advice) return advice
  if (isUnavailable(error)) return `the database does not answer (${what})`
  return `unexpected error (${what}); LOG_LEVEL=debug shows where`
}

/** The code of the first error, when a host has several addresses and none could be reached; undefined for other errors. */
function findHostAddressErrorCode(error: unknown): string | undefined {
  const [first] = error instanceof AggregateError ? error.errors : []
  return first instanceof Error && 'code' in first ? String(first.code) : undefined
}

/** The database in DATABASE_URL, without secrets; undefined for the embedded one, or when a setting is wrong. */
async function findDatabaseDescription(): Promise<string | undefined> {
  const [{ readConfig }, { describeDatabase }] = await Promise.all([
    import('@rollcall/settings/config'),
    import('@rollcall/settings/storage'),
  ])
  try {
    const config = readConfig(process.env)
    return config.databaseUrl === undefined ? undefined : describeDatabase(config)
  } catch {
    return undefined
  }
}
