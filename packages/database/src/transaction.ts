/** Transactions on one connection, for work without Kysely, such as COPY and prepared statements. */
import type { ClientBase, Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'
import type { StatementNames } from './statement-names.ts'

/**
 * Runs work in a transaction: commits when it is done, rolls back and rethrows when it fails.
 * @param begin the statement that begins the transaction
 */
export async function inTransaction<Result>(client: ClientBase, work: () => Promise<Result>, begin = 'begin'): Promise<Result> {
  await client.query(begin)
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    // If the rollback fails too, the connection is lost. The first error says why.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Runs work in a transaction on a connection of the pool. When the work throws, rolls back, closes the connection and rethrows.
 * @param isFull says whether to close the connection after success too, because it has prepared too many statements
 */
export async function withTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  begin?: string,
  isFull: (client: PoolClient) => boolean = () => false,
): Promise<Result> {
  const client = await pool.connect()
  let failed = true
  try {
    const result = await inTransaction(client, () => work(client), begin)
    failed = false
    return result
  } finally {
    // After a failure the state of the connection is unknown, so it is closed.
    client.release(failed || isFull(client))
  }
}

/** Runs a statement without a time limit: one act of an operator may change any number of rows. */
export const queryWithoutTimeLimit = <Row extends QueryResultRow>(
  pool: Pool,
  statement: QueryConfig,
): Promise<QueryResult<Row>> =>
  withTransaction(pool, async (client) => {
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    return client.query<Row>(statement)
  })

/** Lifts the time limit of the statements that follow in the transaction. */
export const NO_STATEMENT_TIMEOUT_SQL = "select set_config('statement_timeout', '0', true)"

/**
 * Writes what an operation has decided: for an async answer, in the transaction that stores the answer; for a sync answer, in a
 * transaction of its own. When the effect throws, the transaction is rolled back. When it throws `OutcomeOutdated`, because data
 * have changed, the operation decides again at once.
 */
export type ReplyEffect = (transaction: ClientBase) => Promise<void>

/** A connection that sees the database as it was at its first statement. It runs one statement at a time. */
export type SnapshotConnection = Pick<PoolClient, 'query'>

/** Runs work on a snapshot of the database, with a connection of `asyncSearches`. Throws what the work throws. */
export const withSnapshot = <Result>(
  { asyncSearches, statementNames }: SnapshotDeps,
  work: (snapshot: SnapshotConnection) => Promise<Result>,
): Promise<Result> =>
  withTransaction(asyncSearches, work, 'begin isolation level repeatable read, read only', (client) =>
    statementNames.isFull(client),
  )

interface SnapshotDeps {
  readonly asyncSearches: Pool
  readonly statementNames: StatementNames
}

/** Runs a statement in a savepoint, and throws its error, such as a timeout. The snapshot can be used after the error. */
export async function runInSavepoint<Result>(snapshot: SnapshotConnection, statement: () => Promise<Result>): Promise<Result> {
  await snapshot.query('savepoint tried')
  try {
    const result = await statement()
    await snapshot.query('release savepoint tried')
    return result
  } catch (error) {
    // If the rollback fails too, the connection is lost. The first error says why.
    await snapshot.query('rollback to savepoint tried').catch(() => undefined)
    throw error
  }
}
