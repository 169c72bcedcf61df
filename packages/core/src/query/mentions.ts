/** The names of a predicate's attributes: for statistics, and to refuse attributes that cannot be searched yet. */

import { type Attribute, ItemRejection, type RecordType, UNLISTED } from '@rollcall/protocol'
import type { AccountedPerson } from '../model/account.ts'
import { type Leaf, leavesOf, mentionedIn, type Predicate } from '../model/predicate.ts'
import type { SortKey } from '../model/records.ts'
import { IDENTIFIERS, sortGroup } from '../model/registry.ts'

/**
 * The names of the columns that a predicate asks about, each once, in order: of an attribute its name, of a compound's
 * members the compound's, of an age its date's. Identifiers have a table of their own and no name here.
 */
export function mentions(predicate: Predicate): readonly string[] {
  return [...new Set(leavesOf(predicate).flatMap(columnAsked))].sort()
}

function columnAsked(leaf: Leaf): readonly string[] {
  if (leaf.is === 'identifier' || leaf.is === 'identifier_type') return []
  if (leaf.is === 'some') return [leaf.list.name]
  return [leaf.is === 'exists' && leaf.list !== undefined ? leaf.list.name : columnOf(leaf.attribute)]
}

const columnOf = ({ name, since }: Attribute): string => since ?? name

/** What a query asks, for its account: the names of its attributes, and the persons whom it names. */
export function askedBy({ predicate, sort = [] }: Pick<Asked, 'predicate'> & Partial<Asked>): {
  readonly attributes: readonly string[]
  readonly persons: readonly AccountedPerson[]
} {
  const leaves = leavesOf(predicate)
  const named = leaves.flatMap((leaf) => (leaf.is === 'identifier' ? leaf.identifiers : []))
  const attributes = [...leaves.flatMap(namesIn), ...sort.map(({ attribute }) => attribute)]
  return {
    attributes: [...new Set(attributes)],
    persons: named.length === 0 ? [] : [{ role: 'asked', identifiers: named }],
  }
}

function namesIn(leaf: Leaf): readonly string[] {
  if (leaf.is === 'some') return mentionedIn(leaf.of).map(({ name }) => name)
  return 'attribute' in leaf ? [leaf.attribute.name] : []
}

/** The parts of a search that name attributes; `SearchCriteria` is one. */
interface Asked {
  readonly recordType: RecordType
  readonly predicate: Predicate
  readonly sort: readonly SortKey[]
}

/**
 * @param unfilled by record type, the attributes and compounds that are being backfilled
 * @param name of the criteria
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.sort.invalid
 */
export function checkBackfilled(
  unfilled: ReadonlyMap<string, ReadonlySet<string>>,
  { recordType, predicate, sort }: Asked,
  name = 'search_criteria',
): void {
  const names = unfilled.get(recordType.name)
  if (names === undefined) return
  const asked = columnsOf(predicate).find((name) => names.has(name))
  if (asked !== undefined) {
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      `${name}.query: ${asked} is being backfilled and cannot be searched yet`,
    )
  }
  const columnOf = (sorted: string) => recordType.attributes.find(({ name }) => name === sorted)?.since ?? sorted
  const sorted = sort.find(({ attribute }) =>
    [columnOf(attribute), sortGroup(attribute)].some((column) => names.has(column)),
  )
  if (sorted === undefined) return
  throw new ItemRejection(
    'rjct.sort.invalid',
    `${name}.sort: ${sorted.attribute} is being backfilled and cannot be sorted by yet`,
  )
}

const columnsOf = (predicate: Predicate): readonly string[] => {
  const types = identifierTypesIn(predicate)
  return [...mentions(predicate), ...types, ...(types.includes(UNLISTED.name) ? [IDENTIFIERS] : [])]
}

/** Whether it asks about something that is being backfilled. */
export const mentionsUnfilled = (
  unfilled: ReadonlyMap<string, ReadonlySet<string>>,
  { name }: RecordType,
  predicate: Predicate,
): boolean => columnsOf(predicate).some((column) => unfilled.get(name)?.has(column))

/**
 * The names of the identifier types that it asks for. One that names its types is not refused while identifiers are read anew,
 * but for types that the operator added: those of the kind were read before as they are now.
 */
function identifierTypesIn(predicate: Predicate): readonly string[] {
  return leavesOf(predicate).flatMap((leaf) => {
    if (leaf.is === 'identifier') return leaf.identifiers.map(({ type }) => type)
    return leaf.is === 'identifier_type' ? leaf.types : []
  })
}
