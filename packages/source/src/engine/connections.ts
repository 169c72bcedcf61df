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

/** How a statement runs. */
export interface Running {
  /** The most milliseconds, if fewer than those of the file. */
  readonly within?: number | undefined
  /** Whether the state ends with the statement. A statement that is run after it has another state. */
  readonly isLast?: boolean | undefined
}

/** One state of the database, read on one connection. */
export interface State<Type> {
  /** @throws SearchTimeout, RecordsUnavailable */
  run(statement: Statement, running?: Running): Promise<Answer<Type>>
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

/** The transaction could not be begun: nothing of the file has run. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun'

  constructor(cause: unknown) {
    super('a transaction could not be begun', { cause })
  }
}

/** A transaction that only reads, on a connection. It may begin with its first statement. */
export interface Transaction<Type> {
  /** Whether a statement can have less time than the file gives. */
  readonly isLimited: boolean
  /**
   * Runs a statement.
   * @param time milliseconds that it may take
   * @throws NotBegun, or any error of the database
   */
  run(statement: Statement, running: { readonly time: number; readonly isLast: boolean }): Promise<Answer<Type>>
  /** Makes the connection usable after a statement that took too long; absent: the connection is broken. */
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
    // These statements have nothing from the file, so any failure means that the database is away.
    const transaction = await driver.begin().catch((error) => Promise.reject(new RecordsUnavailable(error)))
    held += 1
    return {
      async run(statement, { within = statementTimeout, isLast = false } = {}) {
        const time = transaction.isLimited ? Math.min(within, statementTimeout) : statementTimeout
        try {
          return await transaction.run(statement, { time, isLast })
        } catch (error) {
          isBroken = true
          const meant = meaning(error, time)
          if (meant instanceof SearchTimeout && transaction.goOn !== undefined) {
            // A connection that cannot be made usable stays broken.
            isBroken = await transaction.goOn().then(
              () => false,
              () => true,
            )
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
    if (error instanceof NotBegun) {
      breaker.failed()
      return new RecordsUnavailable(error.cause)
    }
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
