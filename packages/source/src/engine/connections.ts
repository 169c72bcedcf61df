/** Connections to a database of another system: few, short, and unable to write. */

import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { Breaker } from './breaker.ts'
import type { SourceFile } from './mapped-records.ts'

/** Milliseconds that we wait longer for a statement than the database does. */
export const GRACE = 500
/** Milliseconds for making a connection, or for waiting until one is free. */
export const CONNECTING = 5_000

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Answer<Type> {
  /** Rows as arrays of texts. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** The types of the columns in the words of the driver, in order. */
  readonly types: readonly Type[]
  readonly names: readonly string[]
}

/** One state of the database, read on one connection. */
export interface State<Type> {
  /**
   * Runs a statement.
   * @param within the most milliseconds, if fewer than those of the file
   * @throws SearchTimeout, RecordsUnavailable
   */
  run(statement: Statement, within?: number): Promise<Answer<Type>>
  end(): Promise<void>
}

export interface Connections<Type> {
  /** Begins a transaction that only reads one state. @throws RecordsUnavailable */
  begin(): Promise<State<Type>>
  /** Whether the last use of the database failed. */
  isAway(): boolean
  close(): Promise<void>
}

/**
 * The meaning of a failure. `timeout`: the statement took too long; `away`: the database as a whole declines or is not there;
 * `declined`: it declines this statement; `changed`: a table, a column or a right is missing, or the statement would write; `value`: a
 * value does not fit; `statement`: any other error of a statement.
 */
export type FailureKind = 'timeout' | 'away' | 'declined' | 'changed' | 'value' | 'statement'

export interface Failure {
  readonly is: FailureKind
  /** The code of the database or the system for the error. */
  readonly code: string | undefined
}

/** A transaction that only reads, on a connection. */
export interface Transaction<Type> {
  run(statement: Statement): Promise<Answer<Type>>
  /** Sets a shorter time for statements, in milliseconds; absent: statements have the time of the file. */
  limit?(time: number): Promise<unknown>
  /**
   * Makes the connection usable after a statement that took too long, with the time of the file again; absent: the
   * connection is broken.
   */
  goOn?(): Promise<unknown>
  /** Gives the connection back; a broken one is closed. */
  end(isBroken: boolean): Promise<void>
}

export interface Driver<Type> {
  begin(): Promise<Transaction<Type>>
  /** The meaning of an error; null: it does not come from the database. */
  failureOf(error: unknown): Failure | null
  close(): Promise<void>
}

export function connectionsOf<Type>(
  { pool, statementTimeout }: Pick<SourceFile, 'pool' | 'statementTimeout'>,
  driver: Driver<Type>,
): Connections<Type> {
  const breaker = new Breaker()
  let held = 0
  const begin = async (): Promise<State<Type>> => {
    let isBroken = false
    let limit = statementTimeout
    // These statements have nothing from the file, so any failure means that the database is away.
    const transaction = await driver.begin().catch((error) => Promise.reject(new RecordsUnavailable(error)))
    held += 1
    return {
      async run(statement, within = statementTimeout) {
        const wanted = transaction.limit === undefined ? limit : Math.min(within, statementTimeout)
        try {
          if (wanted !== limit) await transaction.limit?.(wanted)
          limit = wanted
          return await transaction.run(statement)
        } catch (error) {
          isBroken = true
          const meant = meaning(error, wanted)
          if (meant instanceof SearchTimeout && transaction.goOn !== undefined) {
            // A connection that cannot be made usable stays broken.
            isBroken = await transaction.goOn().then(
              () => false,
              () => true,
            )
            limit = statementTimeout
          }
          throw meant
        }
      },
      end() {
        held -= 1
        return transaction.end(isBroken)
      },
    }
  }
  const meaning = (error: unknown, limit: number): unknown => {
    const is = driver.failureOf(error)?.is ?? 'statement'
    if (is === 'timeout') return new SearchTimeout(new RecordsUnavailable(error), limit / 1_000)
    if (is === 'away') breaker.failed()
    return is === 'statement' ? error : new RecordsUnavailable(error)
  }
  return {
    // If all connections are in use, the database is busy with us, and not away.
    begin: () => breaker.run(begin, (error) => error instanceof RecordsUnavailable && held < pool),
    isAway: () => breaker.isOpen,
    close: () => driver.close(),
  }
}
