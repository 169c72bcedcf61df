/** Reports of the running nodes about their journals, once a minute. */
import type { Database } from './database.ts'

export interface JournalReport {
  /** The name of the node's machine. */
  readonly machine: string
  /** The file on that machine. */
  readonly path: string
  /** Why the journal cannot be written; null when it can. */
  readonly problem: string | null
}

/** Minutes for which a report is valid. */
export const REPORT_AGE = 3

/** Replaces the node's last report, and deletes reports of a day ago. */
export async function storeJournalReport(
  { pool }: Pick<Database, 'pool'>,
  { machine, path, problem }: JournalReport,
): Promise<void> {
  await pool.query(
    `with forgotten as (delete from journal_report where reported_at < now() - interval '1 day')
      insert into journal_report (machine, path, problem) values ($1, $2, $3)
      on conflict (machine, path) do update set problem = $3, reported_at = now()`,
    [machine, path, problem],
  )
}

/** Reports of the last `REPORT_AGE` minutes. */
export async function listJournalReports({ pool }: Pick<Database, 'pool'>): Promise<readonly JournalReport[]> {
  const { rows } = await pool.query<JournalReport>(
    `select machine, path, problem from journal_report
      where reported_at > now() - make_interval(mins => $1) order by machine, path`,
    [REPORT_AGE],
  )
  return rows
}
