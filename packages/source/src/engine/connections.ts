/** Connections to a source's database: a few, with transactions that only read. */

import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { Breaker } from './breaker.ts'
import type { SourceFile } from './mapped-records.ts'

/** Milliseconds that we wait for a statement after the database itself should have stopped it. */
export const STATEMENT_TIMEOUT_GRACE_MS = 500
/** Milliseconds for making a connection, or for waiting until one is free. */
export const CONNECT_TIMEOUT_MS = 5_000

export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}

export interface StatementResult<Type> {
  /** The rows as arrays of texts. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** The types of the columns in the words of the driver, in order. */
  readonly types: readonly Type[]
  readonly names: readonly string[]
}

/** The time that a statement may take, and whether it is the last of its snapshot. */
export interface StatementRunOptions {
  /**
   * The time limit in milliseconds; statement_timeout of the source file applies too when it is shorter. Ignored where
   * `Transaction.isLimited` is false.
   */
  readonly within?: number | undefined
  /** True when the snapshot may end with the statement. A statement after it may have another snapshot. */
  readonly isLast?: boolean | undefined
}

/** A snapshot of the database on one connection. */
export interface DatabaseSnapshot<Type> {
  /** Runs a statement. @throws SearchTimeout, RecordsUnavailable; or another error of the statement */
  run(statement: Statement, options?: StatementRunOptions): Promise<StatementResult<Type>>
  end(): Promise<void>
}

/** The connections to the database of a source. */
export interface Connections<Type> {
  /** Begins a transaction that only reads one snapshot. @throws RecordsUnavailable */
  begin(): Promise<DatabaseSnapshot<Type>>
  /** True from a failure that means that the database is away, until it has answered a statement again. */
  isAway(): boolean
  close(): Promise<void>
}

/** Runs work in a snapshot of its own. */
export type RunInSnapshot<Type> = <Result>(work: (state: DatabaseSnapshot<Type>) => Promise<Result>) => Promise<Result>

/** Runs work in a snapshot that `begin` begins, and ends the snapshot. */
export async function withSnapshot<Snapshot extends { end(): Promise<void> }, Result>(
  begin: () => Promise<Snapshot>,
  work: (state: Snapshot) => Promise<Result>,
): Promise<Result> {
  const state = await begin()
  try {
    return await work(state)
  } finally {
    await state.end()
  }
}

/**
 * The meaning of a failure. `timeout`: the statement took too long. `away`: the database does not answer, or refuses
 * everything. `declined`: it refuses this statement now. `changed`: it does not allow the statement, for example
 * because a table, a column or a right is missing, or the statement would write. `value`: a value has the wrong type or
 * size. `statement`: any other error of the statement.
 */
export type DatabaseFailureKind = 'timeout' | 'away' | 'declined' | 'changed' | 'value' | 'statement'

/** The meaning of an error that a database or a connection has caused. */
export interface DatabaseFailure {
  readonly is: DatabaseFailureKind
  /** The code that the database or the system has for the error. */
  readonly code: string | undefined
}

/** The transaction could not begin, or not get its settings, so the wanted statement has not run. */
export class TransactionNotBegun extends Error {
  override readonly name = 'TransactionNotBegun'

  constructor(cause: unknown) {
    super('a transaction could not be begun', { cause })
  }
}

/** A transaction that only reads, on one connection. It may begin together with its first statement. */
export interface Transaction<Type> {
  /** True when a single statement can get less time than the source file allows. */
  readonly isLimited: boolean
  /** Runs a statement. @param time milliseconds that it may take @throws TransactionNotBegun, or any error of the database */
  run(statement: Statement, running: { readonly time: number; readonly isLast: boolean }): Promise<StatementResult<Type>>
  /**
   * Makes the connection usable again after a statement that took too long. What it resolves to is not used. Absent: such a
   * connection is broken.
   * @param error the error of the statement @throws any error: the connection is broken
   */
  goOn?(error: unknown): Promise<unknown>
  /** Gives the connection back to the pool; a broken one is closed. */
  end(isBroken: boolean): Promise<void>
}

/** The functions of one engine's driver. `connectionsOf` adds the circuit breaker, time limits and the errors for searches. */
export interface Driver<Type> {
  begin(): Promise<Transaction<Type>>
  /** Finds the meaning of an error; null: it does not come from the database. */
  failureOf(error: unknown): DatabaseFailure | null
  close(): Promise<void>
}

/**
 * Makes the connections of a driver. A transaction that cannot begin causes RecordsUnavailable. An error of a statement becomes a
 * SearchTimeout if its kind is `timeout`, and is thrown as it is if its kind is `statement` or it has no kind. All others become
 * RecordsUnavailable. While the database is away, callers are refused.
 */
export function connectionsOf<Type>(
  { pool, statementTimeout }: Pick<SourceFile, 'pool' | 'statementTimeout'>,
  driver: Driver<Type>,
): Connections<Type> {
  const breaker = new Breaker()
  let held = 0
  const begin = async (): Promise<DatabaseSnapshot<Type>> => {
    let isBroken = false
    // Beginning runs no SQL of the source file, so any failure means that nothing can be read now.
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
            // If `goOn` fails too, the connection stays broken, and the database is taken to be away.
            isBroken = await transaction.goOn(error).then(
              () => false,
              () => true,
            )
            if (isBroken) breaker.failed()
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
    if (error instanceof TransactionNotBegun) {
      breaker.failed()
      return new RecordsUnavailable(error.cause)
    }
    const is = driver.failureOf(error)?.is ?? 'statement'
    if (is === 'timeout') return new SearchTimeout(new RecordsUnavailable(error), limit / 1_000)
    if (is === 'away') breaker.failed()
    return is === 'statement' ? error : new RecordsUnavailable(error)
  }
  return {
    // If we use all connections, waiting too long for one does not mean that the database is away.
    begin: () =>
      breaker.run(
        async (isProbe) => (isProbe ? requireDatabaseAnswer(await begin()) : begin()),
        (error) => error instanceof RecordsUnavailable && held < pool,
      ),
    isAway: () => breaker.isOpen,
    close: () => driver.close(),
  }
}

/**
 * Returns a snapshot when the database has answered on its connection: a connection that waited in the pool may be lost.
 * @throws RecordsUnavailable there is no answer; the snapshot has ended
 */
async function requireDatabaseAnswer<Type>(state: DatabaseSnapshot<Type>): Promise<DatabaseSnapshot<Type>> {
  try {
    await state.run({ text: 'select 1', values: [] }, { isLast: true })
    return state
  } catch (error) {
    await state.end()
    throw error instanceof SearchTimeout ? error.cause : error
  }
}
