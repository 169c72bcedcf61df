/** How a command that failed says so: one line on standard error, and an exit code. */

/** What the process ends with; `rollcall import --help` explains the last two. */
export const EXIT = { done: 0, failed: 1, usage: 2, some_rejected: 3, interrupted: 4 } as const

/** A failure in words for the person who gave the command. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** Errors whose message is written for that person, by name: to ask for their classes would load the server. */
const IN_PLAIN_WORDS: ReadonlySet<string> = new Set([
  'AdminRefusal',
  'CommandError',
  'DataDirectoryError',
  'EmbeddedPostgresError',
  'ImportError',
  'MasterKeyError',
  'RequestFailed',
  'StoreRefusal',
])

/** Prints the failure and returns the exit code. With LOG_LEVEL=debug or trace an unexpected error has its stack. */
export async function reportFailure(error: unknown): Promise<number> {
  process.stderr.write(`rollcall: ${await failureText(error)}\n`)
  const debugging = ['debug', 'trace'].includes(process.env.LOG_LEVEL ?? '')
  if (debugging && error instanceof Error && !isExpected(error)) process.stderr.write(`${error.stack}\n`)
  return EXIT.failed
}

/** What went wrong, in one line that quotes no data. */
export async function failureText(error: unknown): Promise<string> {
  return error instanceof Error && isExpected(error) ? error.message : unexpectedText(error)
}

function isExpected(error: unknown): boolean {
  return error instanceof Error && IN_PLAIN_WORDS.has(error.name)
}

/** Names only what is known to hold no data: a database error's own message may quote a record, an address a password. */
async function unexpectedText(error: unknown): Promise<string> {
  const { isUnavailable, safeDatabaseError } = await import('@rollcall/server')
  const { error: name, sqlstate, code } = safeDatabaseError(error)
  const what = sqlstate ?? code ?? name
  if (code === 'ERR_INVALID_URL')
    return 'DATABASE_URL must be an address such as postgres://user@host/database'
  if (isRefusedLogin(sqlstate)) return `the database does not accept the login of DATABASE_URL (${what})`
  if (isUnavailable(error)) return `the database does not answer (${what})`
  return `unexpected error (${what}); LOG_LEVEL=debug shows where`
}

const isRefusedLogin = (sqlstate: string | undefined): boolean => sqlstate?.startsWith('28') === true
