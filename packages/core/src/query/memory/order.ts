/** Reads the sort values of records and compares them in memory, in the same order as `search-statement` in the database. */
import {
  type AttributeValue,
  compareCodePoints,
  type JsonValue,
  type Kind,
  type RecordType,
  readIdentifiers,
  sortedIdentifiers,
} from '@rollcall/protocol'
import type { SortKey } from '../../model/records.ts'
import type { SearchableValues } from './extract-record.ts'

/** The value of a record for each sort key: of several identifiers the first by code points; undefined for no value. */
export function sortValuesOf(
  kind: Kind,
  recordType: RecordType,
  sort: readonly SortKey[],
  document: JsonValue,
  { values }: SearchableValues,
): readonly (AttributeValue | undefined)[] {
  return sort.map(({ attribute, until }) => {
    if (attribute === recordType.primary_identifier || sortedIdentifiers(recordType).includes(attribute)) {
      const own = readIdentifiers(kind, recordType, document).filter(
        ({ type, names }) => type === attribute && names === 'record',
      )
      return own.map(({ value }) => value).sort(compareCodePoints)[0]
    }
    const value = values.get(attribute)
    return until !== undefined && value !== undefined && sortTextOf(value) > until ? undefined : value
  })
}

/**
 * Compares two records by their values from `sortValuesOf`: negative when `one` comes before `other`, positive when after, 0
 * when equal. A record without a value comes last, ascending or descending.
 */
export function compareBySortKeys(
  sort: readonly SortKey[],
  one: readonly (AttributeValue | undefined)[],
  other: readonly (AttributeValue | undefined)[],
): number {
  for (const [at, { descending }] of sort.entries()) {
    const [left, right] = [one[at], other[at]]
    if (left === undefined && right === undefined) continue
    if (left === undefined) return 1
    if (right === undefined) return -1
    const order = compareSortValues(left, right)
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

function compareSortValues(left: AttributeValue, right: AttributeValue): number {
  if (typeof left === 'number' || typeof left === 'boolean') return Number(left) - Number(right)
  return compareCodePoints(sortTextOf(left), sortTextOf(right))
}

/** The text by which a value is ordered: of a date, its first day. */
const sortTextOf = (value: AttributeValue): string => (typeof value === 'object' && 'from' in value ? value.from : String(value))
