/** A transaction on one connection, for work without Kysely: COPY and prepared statements. */
import type { ClientBase, Pool, PoolClient } from 'pg'
import type { StatementNames } from './statement-names.ts'

/**
 * Commits when the work is done; rolls back and rethrows when it fails.
 * @param begin the statement that begins the transaction
 */
export async function inTransaction<Result>(
  client: ClientBase,
  work: () => Promise<Result>,
  begin = 'begin',
): Promise<Result> {
  await client.query(begin)
  try {
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    // When this fails too the connection is gone, and the first error says why.
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Does the work in a transaction on a connection of the pool. Throws what the work throws.
 * @param isFull whether the connection is closed afterwards
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
    // A failure leaves the connection in an unknown state.
    client.release(failed || isFull(client))
  }
}

/**
 * Writes in the transaction that commits a reply. If it throws, the transaction is rolled back, and the work is tried
 * again; at once after `OutcomeOutdated`.
 */
export type Effect = (transaction: ClientBase) => Promise<void>

/** Reads the state as of the first statement; one statement at a time. */
export type Snapshot = Pick<PoolClient, 'query'>

/** Holds a connection of asynchronous searches while the work lasts. Throws what the work throws. */
export const withSnapshot = <Result>(
  { asyncSearches, statementNames }: SnapshotConnections,
  work: (snapshot: Snapshot) => Promise<Result>,
): Promise<Result> =>
  withTransaction(asyncSearches, work, 'begin isolation level repeatable read, read only', (client) =>
    statementNames.isFull(client),
  )

interface SnapshotConnections {
  readonly asyncSearches: Pool
  readonly statementNames: StatementNames
}

/** Runs a statement whose failure, such as a timeout, does not end the snapshot. */
export async function tryInSnapshot<Result>(snapshot: Snapshot, statement: () => Promise<Result>): Promise<Result> {
  await snapshot.query('savepoint tried')
  try {
    const result = await statement()
    await snapshot.query('release savepoint tried')
    return result
  } catch (error) {
    // When this fails too the connection is lost, and the first error says why.
    await snapshot.query('rollback to savepoint tried').catch(() => undefined)
    throw error
  }
}
