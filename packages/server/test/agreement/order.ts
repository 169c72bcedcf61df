/** The order of records, slow and obvious. */

import type { SortKey } from '@rollcall/core/model/records'
import type { AttributeValue } from '@rollcall/protocol'
import type { HeldRecord } from './population.ts'

/**
 * Makes the comparison of two records for a sort: below 0 when `one` comes first. Missing values come last in either
 * direction; records that are otherwise equal come in the order of their ids.
 */
export function compareRecords(sort: readonly SortKey[]): (one: HeldRecord, other: HeldRecord) => number {
  return (one, other) => {
    for (const { attribute, descending } of sort) {
      const [left, right] = [one.extracted.values.get(attribute), other.extracted.values.get(attribute)]
      if (left === undefined && right === undefined) continue
      if (left === undefined) return 1
      if (right === undefined) return -1
      const order = compare(left, right)
      if (order !== 0) return descending ? -order : order
    }
    return Number(one.id) - Number(other.id)
  }
}

function compare(left: AttributeValue, right: AttributeValue): number {
  if (typeof left === 'number' || typeof left === 'boolean') return Number(left) - Number(right)
  return Buffer.compare(bytesOf(left), bytesOf(right))
}

/** The bytes by which a value is sorted: for a date those of the first day that it may mean. */
function bytesOf(value: AttributeValue): Buffer {
  return Buffer.from(typeof value === 'object' && 'from' in value ? value.from : String(value))
}
