/** In how many records each attribute was read: what an import tells of names that it did not understand. */
import { type Kind, type RecordType, UNLISTED } from '@rollcall/protocol'
import { heldOf } from '../store/records/held-columns.ts'
import type { ReadCounts } from '../store/records/import-progress.ts'
import type { PreparedRecord } from '../store/records/prepare-record.ts'

/** How identifiers of all types together are called that the kind does not list. */
const OTHER_TYPES = 'identifiers of other types'

/** Counts of one record type. A list counts where it has an element. */
export function countRead(
  kind: Kind,
  recordType: RecordType,
  records: Iterable<PreparedRecord>,
): Readonly<Record<string, number>> {
  const types = [...kind.identifier_types, UNLISTED].map(({ name }) => name)
  const held = heldOf(recordType).filter(({ columns }) => columns.length > 0)
  const inTypes = new Map(types.map((name) => [name, 0]))
  const inColumns = held.map(() => 0)
  for (const { identifiers, columns } of records) {
    for (const type of new Set(identifiers.map((one) => one.type))) {
      inTypes.set(type, (inTypes.get(type) ?? 0) + 1)
    }
    let at = 0
    for (const [index, one] of held.entries()) {
      if (columns[at] !== null) inColumns[index] = (inColumns[index] ?? 0) + 1
      at += one.columns.length
    }
  }
  return Object.fromEntries([
    ...[...inTypes].map(([name, count]) => [name === UNLISTED.name ? OTHER_TYPES : name, count]),
    ...held.map(({ name }, index) => [name, inColumns[index] ?? 0]),
  ])
}

/** Both together. */
export function addCounts(one: ReadCounts, other: ReadCounts): ReadCounts {
  const types = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...types].map((type) => [type, sums(one[type] ?? {}, other[type] ?? {})]))
}

function sums(one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>) {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return Object.fromEntries([...names].map((name) => [name, (one[name] ?? 0) + (other[name] ?? 0)]))
}
