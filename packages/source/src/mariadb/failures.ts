/** Gives errors of MariaDB and MySQL their meaning for a source. */

import { isUnavailable } from '@rollcall/database/database-errors'
import type { DatabaseFailure, DatabaseFailureKind } from '../engine/connections.ts'

/** The meanings of errors, by the error number of the server. */
const KINDS_BY_ERROR_NUMBER: ReadonlyMap<number, DatabaseFailureKind> = new Map([
  ...[1969, 3024].map((number) => [number, 'timeout'] as const),
  // The database is away: connections, memory, disk, shutdown, login.
  ...[1021, 1037, 1040, 1041, 1045, 1049, 1053, 1114, 1129, 1130, 1152, 1158, 1159, 1160, 1161].map(
    (number) => [number, 'away'] as const,
  ),
  ...[1203, 1226, 1290, 1317, 1698, 1927, 4031].map((number) => [number, 'away'] as const),
  // The database declines the statement: the statement waits for a lock, is in a deadlock, needs too much memory or is too
  // large, or statistics were being updated.
  ...[1205, 1213, 1412, 1615, 3, 1028, 1038, 1153, 1390, 3170].map((number) => [number, 'declined'] as const),
  // Something has changed: the account has lost its right to the database, the statement would write, collations do not
  // fit together, or the tables of a view have changed.
  ...[1044, 1792, 1267, 1270, 1271, 1356].map((number) => [number, 'changed'] as const),
])

/** The meanings of errors, by SQLSTATE or its first characters. */
const KINDS_BY_SQLSTATE: readonly (readonly [string, DatabaseFailureKind])[] = [
  ['08', 'away'],
  ['28', 'away'],
  ['42', 'changed'],
  ['0A', 'changed'],
  ['22', 'value'],
  ['21', 'value'],
  ['23', 'value'],
]

export function failureOf(error: unknown): DatabaseFailure | null {
  if (!(error instanceof Error)) return null
  const { code, errno, sqlState, fatal } = error as Partial<Record<'code' | 'sqlState', string>> & {
    readonly errno?: number
    readonly fatal?: boolean
  }
  if (code === 'PROTOCOL_SEQUENCE_TIMEOUT') return { is: 'timeout', code }
  if (sqlState !== undefined && errno !== undefined) {
    const is =
      KINDS_BY_ERROR_NUMBER.get(errno) ?? KINDS_BY_SQLSTATE.find(([state]) => sqlState.startsWith(state))?.[1] ?? 'statement'
    return { is, code: String(errno) }
  }
  return fatal === true || isUnavailable(error) ? { is: 'away', code } : null
}
