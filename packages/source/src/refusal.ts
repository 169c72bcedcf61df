/**
 * Decides whether a source can answer a query. A query is refused if the source file does not say how one of its attributes is
 * compared, or if the database would have to read all rows for the query.
 */

import { leavesOf, type Predicate } from '@rollcall/core/model/predicate'
import type { OpenEngine } from './engine/engine.ts'
import type { RecordMapping } from './engine/mapped-records.ts'
import { neededConditionOf, withoutFoldedTests } from './needed.ts'

/**
 * Decides whether a query is refused.
 * @param predicate with ages replaced by dates (`replaceAgesByDates`)
 * @param records undefined: the source has no records of the type, and every query finds nothing
 * @param askable the names that the participant may ask about: no other name is in the advice
 * @returns why the query is refused; null: it is answered
 * @throws SearchTimeout, RecordsUnavailable, SourceRefusal as `OpenEngine.bounds`
 */
export async function findSearchRefusal(
  records: RecordMapping | undefined,
  predicate: Predicate,
  engine: OpenEngine,
  askable: readonly string[],
): Promise<string | null> {
  if (records === undefined) return null
  const unasked = attributeNamesIn(predicate).find((name) => !records.compare.has(name))
  if (unasked !== undefined) {
    return `${unasked} can be seen here and not asked about: its registry does not say how it compares`
  }
  const needed = withoutFoldedTests(neededConditionOf(records, predicate))
  if (needed.is === 'nothing') return null
  if (needed.is !== 'anything' && (await engine.bounds(records, needed))) return null
  return unboundedQueryMessage(records, predicate, askable)
}

/** The names of the attributes in the conditions of a query. */
const attributeNamesIn = (predicate: Predicate): readonly string[] =>
  leavesOf(predicate).flatMap((leaf): readonly string[] => {
    if (leaf.is === 'some') return attributeNamesIn(leaf.of)
    return 'attribute' in leaf ? [leaf.attribute.name] : []
  })

/** The message for a query that would read all rows. It says what would narrow the query. */
function unboundedQueryMessage({ recordType, compare }: RecordMapping, predicate: Predicate, askable: readonly string[]): string {
  const folded = attributeNamesIn(predicate).find((name) => compare.get(name) === 'folded')
  const about = folded === undefined ? 'it' : `${folded} compares without case and accents, which its database cannot do, and`
  const others = [...compare].flatMap(([name, way]) => (way === 'folded' ? [] : [name]))
  const names = [recordType.primary_identifier, ...others.filter((name) => name !== recordType.primary_identifier)]
  const allowed = names.filter((name) => askable.includes(name))
  return `${about} needs a further condition that must hold${allowed.length === 0 ? '' : `, on ${allowed.join(', ')}`}`
}
