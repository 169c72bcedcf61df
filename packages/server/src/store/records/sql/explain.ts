/** How a search is answered, for an operator who asks why it is slow. */
import type { RecordQuery } from '../../../model/record-source.ts'
import type { RegistryShape } from '../../../model/registry.ts'
import type { Database } from '../../db/database.ts'
import { recordTable } from '../record-tables.ts'
import { searchStatement } from '../search-statement.ts'
import { missingIndexes, predicateText } from './index-use.ts'
import { toSql } from './to-sql.ts'

interface Plan {
  /** EXPLAIN (format json), and the same as lines. */
  readonly plan: { readonly json: unknown; readonly text: string }
  /** The planner's estimate of the whole, in its own unit: reading one page in order is 1. */
  readonly cost: number
}

export interface Explained extends Plan {
  /** The predicate, one part a line. */
  readonly tree: string
  readonly sql: string
  /** What goes with the statement as $1 and so on; null where it is not to be shown. */
  readonly values: readonly unknown[] | null
  /** Attributes and compounds without an index, where one would spare the search reading every record. */
  readonly missing: readonly string[]
}

/**
 * Explains the statement of a search. A search for one identifier is explained like any other, though it is
 * answered by a shorter one.
 * @param options.analyze also runs it, within the time that a search has
 * @param options.values whether to show what is looked for: in the tree, in the plan and as `values`
 * @throws pg's DatabaseError when it takes longer
 */
export async function explainSearch(
  db: Database,
  registry: RegistryShape,
  { recordType, predicate, page }: RecordQuery,
  options: { readonly analyze?: boolean; readonly values?: boolean },
): Promise<Explained> {
  const table = recordTable(registry, recordType)
  const statement = searchStatement(table, toSql(predicate, table), page)
  const { cost, plan } = await planOf(db, statement, options.analyze === true)
  const shown = options.values === true
  return {
    tree: shown ? predicateText(predicate) : predicateText(predicate, () => '?'),
    sql: statement.text,
    values: shown ? statement.values : null,
    missing: missingIndexes(predicate),
    cost,
    plan: shown ? plan : { text: withoutValues(plan.text), json: maskedPlan(plan.json) },
  }
}

async function planOf(
  db: Database,
  { text, values }: { readonly text: string; readonly values: unknown[] },
  analyze: boolean,
): Promise<Plan> {
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

/** PostgreSQL writes the values of our columns' types as literals in quotes; true and false it says by the column. */
const withoutValues = (text: string): string => text.replace(/'(?:[^']|'')*'/g, "'?'")

function maskedPlan(plan: unknown): unknown {
  if (typeof plan === 'string') return withoutValues(plan)
  if (Array.isArray(plan)) return plan.map(maskedPlan)
  if (typeof plan !== 'object' || plan === null) return plan
  return Object.fromEntries(Object.entries(plan).map(([name, value]) => [name, maskedPlan(value)]))
}
