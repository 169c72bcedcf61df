/** How a search is answered, for an operator who asks why it is slow. */
import type { Database } from '../../store/db/database.ts'
import { type ExplainedPlan, explainStatement } from '../../store/records/explain-statement.ts'
import { recordTable } from '../../store/records/record-tables.ts'
import { searchStatement } from '../../store/records/search-statement.ts'
import { type Asked, type FoundIn, pageOf, today } from '../find.ts'
import { missingIndexes, predicateText } from './index-use.ts'
import { toSql } from './to-sql.ts'

export interface Explained extends ExplainedPlan {
  /** The predicate as it stands on this day, one part a line. */
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
 * @param options.cap where counting stops
 * @param options.analyze also runs it, within the time that a search has
 * @param options.values whether to show what is looked for: in the tree, in the plan and as `values`
 * @throws pg's DatabaseError when it takes longer
 */
export async function explainSearch(
  db: Database,
  registry: FoundIn,
  asked: Asked,
  options: { readonly cap: number; readonly analyze?: boolean; readonly values?: boolean },
): Promise<Explained> {
  const predicate = today(registry, asked)
  const table = recordTable(registry, asked.recordType)
  const statement = searchStatement(table, toSql(predicate, table), pageOf(registry, asked, options.cap))
  const plan = await explainStatement(db, statement, options.analyze === true)
  const missing = missingIndexes(predicate)
  const shown = options.values === true
  return {
    tree: shown ? predicateText(predicate) : predicateText(predicate, () => '?'),
    sql: statement.text,
    values: shown ? statement.values : null,
    missing,
    cost: plan.cost,
    plan: shown ? plan.plan : { text: withoutValues(plan.plan.text), json: maskedPlan(plan.plan.json) },
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
