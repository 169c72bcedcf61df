/** What PostgreSQL says of a search that it would run. */
import type { Database } from '../db/database.ts'

export interface ExplainedPlan {
  /** EXPLAIN (format json), and the same as lines. */
  readonly plan: { readonly json: unknown; readonly text: string }
  /** The planner's estimate of the whole, in its own unit: reading one page in order is 1. */
  readonly cost: number
}

/** @param analyze also runs it, and the plan says how long each part took */
export async function explainStatement(
  db: Database,
  { text, values }: { readonly text: string; readonly values: unknown[] },
  analyze: boolean,
): Promise<ExplainedPlan> {
  const options = analyze ? 'analyze, buffers' : 'costs'
  const lines = await db.searches.query<{ 'QUERY PLAN': string }>(`explain (${options}) ${text}`, values)
  // Not run a second time: the lines say already how long it took.
  const json = await db.searches.query<{ 'QUERY PLAN': unknown }>(`explain (format json) ${text}`, values)
  const [root] = json.rows.flatMap(
    (row) => row['QUERY PLAN'] as readonly { Plan: { 'Total Cost': number } }[],
  )
  return {
    plan: { json: root ?? null, text: lines.rows.map((row) => row['QUERY PLAN']).join('\n') },
    cost: root?.Plan['Total Cost'] ?? 0,
  }
}
