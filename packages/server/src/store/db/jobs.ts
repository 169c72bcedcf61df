/**
 * Jobs, which graphile-worker keeps in its own schema: what has to be done is written in the transaction that makes
 * it necessary. A job's payload holds ids and nothing else.
 */
import { runMigrations } from 'graphile-worker'
import type pg from 'pg'

/** Every kind of job: its name here, in the database and in the log. */
export type Task = 'process' | 'drain'

/** Brings the schema of jobs to what this version of graphile-worker expects. Several nodes may do so at once. */
export async function migrateJobs(pgPool: pg.Pool): Promise<void> {
  await runMigrations({ pgPool })
}

/**
 * Clears away `drain` jobs that were followed by another one while they ran, and then failed: they are not run again.
 * @returns how many
 */
export async function clearFollowedJobs(pool: pg.Pool): Promise<number> {
  const { rowCount } = await pool.query(
    `delete from graphile_worker._private_jobs as job using graphile_worker._private_tasks as task
      where task.id = job.task_id and task.identifier = 'drain' and job.key is null and job.locked_at is null
        and job.attempts >= job.max_attempts`,
  )
  return rowCount ?? 0
}
