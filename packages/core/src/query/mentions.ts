/**
 * Finds the attributes that a query uses: for statistics, for audit entries, and to refuse those that cannot be searched yet.
 */

import { ItemRejection, type RecordType, UNLISTED } from '@rollcall/protocol'
import type { AuditedPerson } from '../model/audit-entry.ts'
import { attributesMentionedIn, type Leaf, leavesOf, type Predicate } from '../model/predicate.ts'
import type { Identifier, SortKey } from '../model/records.ts'
import { IDENTIFIER_ROWS_GROUP_NAME, identifierSortGroupName } from '../model/registry.ts'

/**
 * The names of the columns that a predicate uses, sorted, each once. A member of a compound uses the column of the compound. An
 * age uses the column of the date from which it is counted. Identifiers have a table of their own and are left out.
 */
export function columnsUsedIn(predicate: Predicate): readonly string[] {
  return [...new Set(leavesOf(predicate).flatMap(columnsOfLeaf))].sort()
}

function columnsOfLeaf(leaf: Leaf): readonly string[] {
  if (leaf.is === 'identifier' || leaf.is === 'identifier_type') return []
  if (leaf.is === 'some') return [leaf.list.name]
  return [leaf.is === 'exists' && leaf.list !== undefined ? leaf.list.name : (leaf.attribute.since ?? leaf.attribute.name)]
}

/** For the audit entry of a query: the attributes and sort keys that it names, and one person with all identifiers it names. */
export function askedAttributesAndPersons({ predicate, sort = [] }: Pick<SearchParts, 'predicate'> & Partial<SearchParts>): {
  readonly attributes: readonly string[]
  readonly persons: readonly AuditedPerson[]
} {
  const identifiers: Identifier[] = []
  const attributes = new Set<string>()
  for (const leaf of leavesOf(predicate)) {
    if (leaf.is === 'identifier') identifiers.push(...leaf.identifiers)
    else if (leaf.is === 'some') for (const { name } of attributesMentionedIn(leaf.of)) attributes.add(name)
    else if ('attribute' in leaf) attributes.add(leaf.attribute.name)
  }
  for (const { attribute } of sort) attributes.add(attribute)
  return { attributes: [...attributes], persons: identifiers.length === 0 ? [] : [{ role: 'asked', identifiers }] }
}

/** The parts of a search that name attributes. */
interface SearchParts {
  readonly recordType: RecordType
  readonly predicate: Predicate
  readonly sort: readonly SortKey[]
}

/**
 * Checks that a search uses no column and no identifier type that is being backfilled.
 * @param unfilled the names of the columns and identifier types that are being backfilled, by record type
 * @param name the member with the criteria, for messages
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.sort.invalid
 */
export function checkColumnsBackfilled(
  unfilled: ReadonlyMap<string, ReadonlySet<string>>,
  { recordType, predicate, sort }: SearchParts,
  name = 'search_criteria',
): void {
  const names = unfilled.get(recordType.name)
  if (names === undefined) return
  const asked = columnsAndIdentifierTypesIn(predicate).find((name) => names.has(name))
  if (asked !== undefined) {
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      `${name}.query: ${asked} is being backfilled and cannot be searched yet`,
    )
  }
  const columnOf = (sorted: string) => recordType.attributes.find(({ name }) => name === sorted)?.since ?? sorted
  const sorted = sort.find(({ attribute }) =>
    [columnOf(attribute), identifierSortGroupName(attribute)].some((column) => names.has(column)),
  )
  if (sorted === undefined) return
  throw new ItemRejection(
    'rjct.sort.invalid',
    `${name}.sort: ${sorted.attribute} is being backfilled and cannot be sorted by yet`,
  )
}

const columnsAndIdentifierTypesIn = (predicate: Predicate): readonly string[] => {
  const types = identifierTypesIn(predicate)
  return [...columnsUsedIn(predicate), ...types, ...(types.includes(UNLISTED.name) ? [IDENTIFIER_ROWS_GROUP_NAME] : [])]
}

/** True when the predicate uses a column or an identifier type that is being backfilled. */
export const usesColumnInBackfill = (
  unfilled: ReadonlyMap<string, ReadonlySet<string>>,
  { name }: RecordType,
  predicate: Predicate,
): boolean => columnsAndIdentifierTypesIn(predicate).some((column) => unfilled.get(name)?.has(column))

/**
 * The identifier types that a predicate names; `UNLISTED.name` stands for all types that the kind does not list. While
 * identifiers are backfilled, queries for unlisted types, and for types that an operator added, are refused.
 */
function identifierTypesIn(predicate: Predicate): readonly string[] {
  return leavesOf(predicate).flatMap((leaf) => {
    if (leaf.is === 'identifier') return leaf.identifiers.map(({ type }) => type)
    return leaf.is === 'identifier_type' ? leaf.types : []
  })
}
