/**
 * Nodes that work on jobs. Each has a row, which names the workers that its jobs are locked by, and a lock that its
 * session holds for as long as it lives: a row whose lock can be had is that of a node that is gone.
 */
import type pg from 'pg'
import { inTransaction } from './transaction.ts'

export interface NodeEntry {
  /** A UUID. */
  readonly id: string
  /** Of the advisory lock. */
  readonly lock_key: number
  /** By whom graphile-worker says that the node's jobs are locked. */
  readonly workers: readonly string[]
}

/**
 * Takes the node's lock and then enters its row.
 * @param lease milliseconds for which the session may be silent before PostgreSQL ends it, and the lock with it: a
 *   process that stands still, or that cannot be reached, is gone like one that was killed
 */
export async function enterNode(session: pg.ClientBase, node: NodeEntry, lease: number): Promise<void> {
  const { id, lock_key, workers } = node
  for (const setting of ['idle_session_timeout', 'idle_in_transaction_session_timeout']) {
    await session.query('select set_config($1, $2, false)', [setting, `${lease}ms`])
  }
  await session.query('select pg_advisory_lock($1)', [lock_key])
  await session.query('insert into node (id, lock_key, workers) values ($1, $2, $3)', [id, lock_key, workers])
}

/** Frees the jobs of every node that is gone and forgets it; gives the ids of those nodes. */
export async function freeGoneNodes(session: pg.ClientBase, own: NodeEntry): Promise<readonly string[]> {
  // `case`, because the order in which conditions are tried is free, and the own lock could be had too.
  const { rows } = await session.query<NodeEntry>({
    name: 'nodes that are gone',
    text: `select id, lock_key, workers from node
      where case when id <> $1 then pg_try_advisory_lock(lock_key) else false end`,
    values: [own.id],
  })
  for (const gone of rows) {
    await leaveNode(session, gone)
    await session.query('select pg_advisory_unlock($1)', [gone.lock_key])
  }
  return rows.map(({ id }) => id)
}

/**
 * Frees the node's jobs and removes its row. A job whose last attempt was cut short gets one more: nobody has said
 * yet what became of it.
 */
export async function leaveNode(session: pg.ClientBase, { id, workers }: NodeEntry): Promise<void> {
  await inTransaction(session, async () => {
    await session.query(
      `update graphile_worker._private_jobs set max_attempts = attempts + 1
        where locked_by = any($1) and attempts >= max_attempts`,
      [workers],
    )
    await session.query('select graphile_worker.force_unlock_workers($1)', [workers])
    await session.query('delete from node where id = $1', [id])
  })
}
