/** How a search is answered, for an operator who asks why it is slow. */
import type { Database } from '../store/database.ts'
import { type ExplainedPlan, explainStatement } from '../store/explain-statement.ts'
import { recordTable } from '../store/record-tables.ts'
import { searchStatement } from '../store/search-statement.ts'
import { type Asked, type FoundIn, pageOf, today } from './find.ts'
import { missingIndexes, predicateText } from './index-use.ts'
import { toSql } from './to-sql.ts'

export interface Explained extends ExplainedPlan {
  /** The predicate as it stands on this day, one part a line; it shows what is looked for. */
  readonly tree: string
  readonly sql: string
  /** How many values go with the statement. */
  readonly values: number
  /** Attributes and compounds without an index, where one would spare the search reading every record. */
  readonly missing: readonly string[]
}

/**
 * Explains the statement of a search. A search for one identifier is explained like any other, though it is
 * answered by a shorter one.
 * @param options.cap where counting stops
 * @param options.analyze also runs it, within the time that a search has
 * @throws pg's DatabaseError when it takes longer
 */
export async function explainSearch(
  db: Database,
  registry: FoundIn,
  asked: Asked,
  options: { readonly cap: number; readonly analyze?: boolean },
): Promise<Explained> {
  const predicate = today(registry, asked)
  const table = recordTable(registry, asked.recordType)
  const statement = searchStatement(table, toSql(predicate, table), pageOf(asked, options.cap))
  return {
    tree: predicateText(predicate),
    sql: statement.text,
    values: statement.values.length,
    ...(await explainStatement(db, statement, options.analyze === true)),
    missing: missingIndexes(predicate),
  }
}
