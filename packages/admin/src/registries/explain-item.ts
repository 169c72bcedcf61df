/** Explains to an operator how a search item is answered. Nothing is sent, and the search runs only if asked for. */

import type { Limits } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { checkColumnsBackfilled, columnsUsedIn } from '@rollcall/core/query/mentions'
import { makeRecordQuery } from '@rollcall/core/query/resolve-ages'
import { readSearchCriteria, type SearchCriteria } from '@rollcall/core/query/search-criteria'
import type { Database } from '@rollcall/database/database'
import { dayIn } from '@rollcall/protocol'
import { planIndexes } from '@rollcall/records/records/index-plan'
import { explainSearch, type SearchExplanation } from '@rollcall/records/records/sql/explain'

export interface ExplainedItem extends Omit<SearchExplanation, 'missing'> {
  readonly record_type: string
  /** Advice that would make the search faster. */
  readonly advice: readonly IndexAdvice[]
}

export interface IndexAdvice {
  /** The name of the attribute or compound that needs an index. */
  readonly attribute: string
  /** `undeclared`: no index is declared. `missing`: it was not built. `invalid`: its build was interrupted. */
  readonly index: 'undeclared' | 'missing' | 'invalid'
  /** The words of a `rollcall` command that helps; null: no command does. */
  readonly command: readonly string[] | null
}

/**
 * Reads one item of a search as a server does, and explains it.
 * @param options.analyze also runs the search
 * @param options.values shows the values of the query
 * @throws ItemRejection as a server would answer
 */
export async function explainItem(
  db: Database,
  registry: Registry,
  item: { readonly [member: string]: unknown },
  options: { readonly limits: Limits; readonly analyze?: boolean; readonly values?: boolean },
  now = Date.now(),
): Promise<ExplainedItem> {
  const { limits, ...how } = options
  const criteria = readSearchCriteria(registry.kind, item, limits)
  checkColumnsBackfilled(registry.unfilled, criteria)
  const day = dayIn(registry.time_zone, now)
  const query = makeRecordQuery(criteria, day, { cap: limits.search_results })
  const { missing, ...explained } = await explainSearch(db, registry, query, how)
  return {
    record_type: criteria.recordType.name,
    ...explained,
    advice: [
      ...(await listUnbuiltIndexes(db, registry, criteria)),
      ...missing.map((name) => undeclaredIndexAdvice(registry, criteria, name)),
    ],
  }
}

async function listUnbuiltIndexes(
  db: Database,
  registry: Registry,
  { recordType, predicate }: SearchCriteria,
): Promise<readonly IndexAdvice[]> {
  const asked = columnsUsedIn(predicate)
  const plan = (await planIndexes(db, registry)).find(({ record_type }) => record_type === recordType.name)
  return (plan?.missing ?? [])
    .filter(({ of }) => asked.includes(of))
    .map(({ of, state }) => ({ attribute: of, index: state, command: ['index', 'apply', registry.namespace] }))
}

function undeclaredIndexAdvice({ namespace }: Registry, { recordType }: SearchCriteria, attribute: string): IndexAdvice {
  const declarable = recordType.attributes.some(({ name }) => name === attribute)
  const command = declarable ? ['attribute', 'index', namespace, recordType.name, attribute] : null
  return { attribute, index: 'undeclared', command }
}
