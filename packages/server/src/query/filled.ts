/** Refusing what asks about a column that is being filled: records without their value yet would seem to have none. */

import { ItemRejection, type RecordType, UNLISTED } from '@rollcall/protocol'
import type { Predicate } from '../model/predicate.ts'
import type { SortKey } from '../model/records.ts'
import { IDENTIFIERS } from '../model/registry.ts'
import { mentions } from './mentions.ts'

/** What a search asks about; `SearchCriteria` is one. */
interface Asked {
  readonly recordType: RecordType
  readonly predicate: Predicate
  readonly sort: readonly SortKey[]
}

/**
 * @param unfilled by record type, the attributes and compounds that are being filled
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.sort.invalid
 */
export function checkFilled(
  unfilled: ReadonlyMap<string, ReadonlySet<string>>,
  { recordType, predicate, sort }: Asked,
): void {
  const names = unfilled.get(recordType.name)
  if (names === undefined) return
  const asked = [...mentions(predicate), ...(asksForAnyType(predicate) ? [IDENTIFIERS] : [])].find((name) =>
    names.has(name),
  )
  if (asked !== undefined) {
    throw new ItemRejection(
      'rjct.search_criteria.invalid',
      `search_criteria.query: ${asked} is being filled and cannot be searched yet`,
    )
  }
  const sorted = recordType.attributes.find(
    ({ name, since }) => names.has(since ?? name) && sort.some(({ attribute }) => attribute === name),
  )
  if (sorted === undefined) return
  throw new ItemRejection(
    'rjct.sort.invalid',
    `search_criteria.sort: ${sorted.name} is being filled and cannot be sorted by yet`,
  )
}

/**
 * Whether it asks for identifiers of any type. One that names its types is not refused while identifiers are read anew:
 * those of listed types were read before as they are now.
 */
function asksForAnyType(predicate: Predicate): boolean {
  switch (predicate.is) {
    case 'and':
    case 'or':
      return predicate.of.some(asksForAnyType)
    case 'not':
      return asksForAnyType(predicate.of)
    case 'identifier':
      return predicate.identifiers.some(({ type }) => type === UNLISTED.name)
    case 'identifier_type':
      return predicate.types.includes(UNLISTED.name)
    default:
      return false
  }
}
