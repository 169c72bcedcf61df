/** Reports of the running nodes about their journal files, once a minute. */
import type { Database } from './database.ts'

export interface JournalReport {
  /** The name of the machine on which the node runs. */
  readonly machine: string
  /** The path of the journal file on that machine. */
  readonly path: string
  /** The reason why the node cannot write its journal; null when it can. */
  readonly problem: string | null
}

/** Minutes for which a report is valid. */
export const MOST_REPORT_AGE_MINUTES = 3

/** Replaces the last report about this machine and path, and deletes reports that are older than a day. */
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

/** Lists the reports of the last `MOST_REPORT_AGE_MINUTES` minutes. */
export async function listJournalReports({ pool }: Pick<Database, 'pool'>): Promise<readonly JournalReport[]> {
  const { rows } = await pool.query<JournalReport>(
    `select machine, path, problem from journal_report
      where reported_at > now() - make_interval(mins => $1) order by machine, path`,
    [MOST_REPORT_AGE_MINUTES],
  )
  return rows
}
