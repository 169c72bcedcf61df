/** Counts the rows that a statement reads. */
import type { Pool } from 'pg'

interface Plan {
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

const rowsOf = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), 0)

/** Runs the statement, and counts the rows that all parts of its plan read. */
export async function countRowsRead(pool: Pool, text: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await pool.query(`explain (analyze, format json) ${text}`, [...values])
  return rowsOf(rows[0]['QUERY PLAN'][0].Plan)
}
