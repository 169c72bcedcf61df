/**
 * Nodes that work on jobs. Each has a row, which names the workers that its jobs are locked by, and a lock that its
 * session holds for as long as it lives: a row whose lock can be had is that of a node that is gone.
 */
import pg from 'pg'
import type { Database } from './database.ts'
import { isUnavailable } from './database-errors.ts'
import { inTransaction } from './transaction.ts'

export interface NodeEntry {
  /** A UUID. */
  readonly id: string
  /** Of the advisory lock: a bigint of PostgreSQL in its digits, because a number does not hold each of them. */
  readonly lock_key: string
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

/** A node whose row or jobs could not be handled, and why. */
export interface FailedNode {
  readonly id: string
  readonly error: unknown
}

export interface GoneNodes {
  /** The ids of the nodes whose jobs are free now. */
  readonly freed: readonly string[]
  readonly failed: readonly FailedNode[]
}

/**
 * Frees the jobs of every node that is gone and forgets it. What PostgreSQL refuses about one node does not stop the
 * others: that node is tried again at the next call.
 * @throws what says that the session, or the database, cannot be used
 */
export async function freeGoneNodes(session: pg.ClientBase, own: NodeEntry): Promise<GoneNodes> {
  // `case`, because the order in which conditions are tried is free, and the own lock could be had too.
  const { rows } = await session.query<NodeEntry>({
    name: 'nodes that are gone',
    text: `select id, lock_key::text, workers from node
      where case when id <> $1 then pg_try_advisory_lock(lock_key) else false end`,
    values: [own.id],
  })
  const freed: string[] = []
  const failed: FailedNode[] = []
  for (const gone of rows) {
    try {
      await leaveNode(session, gone)
      freed.push(gone.id)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || isUnavailable(error)) throw error
      failed.push({ id: gone.id, error })
    }
    await session.query('select pg_advisory_unlock($1)', [gone.lock_key])
  }
  return { freed, failed }
}

/** Nodes whose lock nobody holds, and how many jobs wait for being freed; nothing is changed. */
export async function listGoneNodes({
  pool,
}: Pick<Database, 'pool'>): Promise<readonly { readonly id: string; readonly jobs: number }[]> {
  const { rows } = await pool.query<{ id: string; jobs: number }>(
    `select id, (select count(*) from graphile_worker._private_jobs where locked_by = any(workers)) as jobs
      from node where not exists (
        select from pg_locks where locktype = 'advisory' and objsubid = 1
          and database = (select oid from pg_database where datname = current_database())
          and classid::bigint = lock_key >> 32 & 4294967295 and objid::bigint = lock_key & 4294967295)
      order by started_at`,
  )
  return rows
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
