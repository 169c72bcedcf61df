/** Explains failures of a source's database to its operator. */

import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { encryptionProblem } from './engine/encryption.ts'
import type { OpenEngine } from './engine/engine.ts'
import type { SourceFile } from './engine/mapped-records.ts'
import { SourceRefusal } from './engine/source-refusal.ts'

/**
 * Advice for a PostgreSQL table with row-level policies, which may hide rows from our account. A copy needs every row, so we ask
 * PostgreSQL to fail instead. An account that no policy binds would have too many rights, so we do not advise one.
 */
const ROW_POLICY_ADVICE =
  '; a copy must have every row: name a view that belongs to the owner of the table in from, with follow: poll, or read the records live'

/**
 * Makes the refusal for a failure of a source's database. The refusal quotes the message of the database only for a failure of
 * the kind `changed`, such as a missing column, whose message has no values. A refusal, or a cause that is no error, is returned
 * as it is.
 */
export function makeDatabaseFailureRefusal(
  error: unknown,
  { url }: Pick<SourceFile, 'url'>,
  engine: Pick<OpenEngine, 'failureOf'>,
): unknown {
  if (error instanceof SearchTimeout) {
    return new SourceRefusal(
      `the database took longer than ${error.seconds} seconds: it needs indexes, or statement_timeout a larger number`,
    )
  }
  const place = 'env' in url ? `at the address in ${url.env}` : `at the address in ${url.file}`
  const cause = error instanceof RecordsUnavailable ? error.cause : error
  if (cause === null) {
    return new SourceRefusal(`the database ${place} did not answer a moment ago, and is not asked again for some seconds`)
  }
  if (cause instanceof SourceRefusal || !(cause instanceof Error)) return cause
  const { is, code } = engine.failureOf(cause) ?? {}
  switch (is) {
    case 'changed':
      return new SourceRefusal(
        `the database cannot be read as the file says: ${cause.message} (${code})${/row-level security/.test(cause.message) ? ROW_POLICY_ADVICE : ''}`,
      )
    case 'value':
    case 'statement':
      // The message of the database is left out, because it may quote a value.
      return new SourceRefusal(`the database cannot be read as the file says: a value does not fit (${code})`)
    case 'declined':
      return new SourceRefusal(
        `the database declined a statement, because of a lock, a deadlock or a limit of its own (${code}); it may succeed later`,
      )
    default:
      return new SourceRefusal(
        encryptionProblem(cause, place) ?? `there is no answer from a database ${place} (${code ?? cause.name})`,
      )
  }
}
