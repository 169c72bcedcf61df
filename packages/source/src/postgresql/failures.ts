/** Gives errors of PostgreSQL their meaning for a source. */

import { isUnavailable, safeDatabaseError } from '@rollcall/database/database-errors'
import type { DatabaseFailure, DatabaseFailureKind } from '../engine/connections.ts'

/** The meanings of errors, by SQLSTATE or its first characters. The first row that fits applies. */
const KINDS_BY_SQLSTATE: readonly (readonly [string, DatabaseFailureKind])[] = [
  ['57014', 'timeout'],
  ['40', 'declined'], // a deadlock, or a conflict with what a standby replays
  ['55P03', 'declined'], // a lock is not free
  ['53400', 'declined'], // a limit of the configuration, such as of temporary files
  ['25006', 'changed'], // it would write
  ['55000', 'changed'], // a standby has no log of its own; a materialized view has no rows
  ['42', 'changed'],
  ['0A', 'changed'],
  ['22', 'value'],
  ['23', 'value'],
]

export function failureOf(error: unknown): DatabaseFailure | null {
  const { sqlstate, code } = safeDatabaseError(error)
  if (sqlstate !== undefined) {
    const is =
      KINDS_BY_SQLSTATE.find(([state]) => sqlstate.startsWith(state))?.[1] ?? (isUnavailable(error) ? 'away' : 'statement')
    return { is, code: sqlstate }
  }
  // We have stopped waiting: the statement is slow, which does not mean that the database is away.
  if (error instanceof Error && error.message === 'Query read timeout') return { is: 'timeout', code }
  return isUnavailable(error) ? { is: 'away', code } : null
}
