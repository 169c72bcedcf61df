/** The order of records, slow and obvious. */

import type { SortKey } from '@rollcall/core/model/records'
import type { AttributeValue } from '@rollcall/protocol'
import type { HeldRecord } from './population.ts'

/** Below 0 where `one` stands before `other`: missing values last in either direction, then in the order of ids. */
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

/** A date stands by the first day that it may mean. */
function bytesOf(value: AttributeValue): Buffer {
  return Buffer.from(typeof value === 'object' && 'from' in value ? value.from : String(value))
}
