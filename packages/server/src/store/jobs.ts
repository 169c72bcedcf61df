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
