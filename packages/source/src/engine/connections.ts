/** Connections to a database that belongs to another system: few, short, and never able to write. */

import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { Breaker } from './breaker.ts'
import type { SourceFile } from './mapped-records.ts'

/** Milliseconds that this side gives a statement beyond the time that the database gives it. */
export const GRACE = 500
/** Milliseconds that a connection may take to be made, or to be free. */
export const CONNECTING = 5_000

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface Answer<Type> {
  /** Rows as arrays of texts. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** The types of the columns as the driver tells them, in order. */
  readonly types: readonly Type[]
  readonly names: readonly string[]
}

/** One state of the database, on one connection. */
export interface State<Type> {
  /**
   * @param within milliseconds that it may take, where they are fewer than those of the file
   * @throws SearchTimeout, RecordsUnavailable
   */
  run(statement: Statement, within?: number): Promise<Answer<Type>>
  end(): Promise<void>
}

export interface Connections<Type> {
  /** Begins a transaction that only reads, in one state. @throws RecordsUnavailable */
  begin(): Promise<State<Type>>
  /** Whether the database did not answer lately. */
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
  /** The code that the database or the system has for it. */
  readonly code: string | undefined
}

/** A transaction that only reads, on a connection. */
export interface Transaction<Type> {
  run(statement: Statement): Promise<Answer<Type>>
  /** Gives statements less time than the file does, or as much, in milliseconds; absent: they have that of the file. */
  limit?(time: number): Promise<unknown>
  /** Goes on after a statement that took too long, which has the time of the file again; absent: the connection is broken. */
  goOn?(): Promise<unknown>
  /** Gives the connection back; a broken one is closed. */
  end(isBroken: boolean): Promise<void>
}

export interface Driver<Type> {
  begin(): Promise<Transaction<Type>>
  /** Null: the error is not one of the database. */
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
    // Whatever the reason of a failure is: nothing of the file is in these statements.
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
            // One that cannot go on stays broken.
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
    // Where all connections are in use, the database is busy with us and not away.
    begin: () => breaker.run(begin, (error) => error instanceof RecordsUnavailable && held < pool),
    isAway: () => breaker.isOpen,
    close: () => driver.close(),
  }
}
