/** Decides which rows are written as records, which cannot become records, and which records are deleted. */

import type { PreparedRecord } from '@rollcall/records/records/prepare-record'
import type { PrimaryIdentifierChange } from '@rollcall/records/records/protect-person'
import type { RowReadResult } from '../source-record.ts'
import type { RowOutcome } from '../store/source-rows.ts'

/** A record that a row becomes, with the key of the row. */
export interface RecordWithRowKey {
  readonly key: string
  readonly record: PreparedRecord
}

/** The outcome of rows of a source: the records to write, and in `released` the primary identifiers of the records to delete. */
export interface SourceRowOutcomes {
  /** The rows that become records, each with a different primary identifier. */
  readonly records: readonly RecordWithRowKey[]
  /** The outcome of each row that the source has. */
  readonly rows: readonly RowOutcome[]
  /** The keys of rows that the source does not have. */
  readonly gone: readonly string[]
  /** The primary identifiers that rows had before, and that none of the rows has now. */
  readonly released: readonly string[]
  /** The records whose rows had other primary identifiers before. */
  readonly renamed: readonly PrimaryIdentifierChange[]
}

/**
 * Decides the outcomes. When several rows have the same primary identifier, only one becomes the record: the row that the record
 * comes from until now; without such a row, the first. The others are rejected. A row that cannot be read keeps its old record.
 * @param primary the name of the primary identifier type, for reasons
 * @param keys the keys of all rows to decide about
 * @param read the rows that the source has, by key
 * @param stored by key, the primary identifier of the row's record in the mirror until now; null: the row had no record
 */
export function decideSourceRowOutcomes(
  primary: string,
  keys: readonly string[],
  read: ReadonlyMap<string, RowReadResult>,
  stored: ReadonlyMap<string, string | null>,
): SourceRowOutcomes {
  const gone = keys.filter((key) => !read.has(key))
  const taken = new Set<string>()
  const rows: RowOutcome[] = []
  const readable: RecordWithRowKey[] = []
  for (const [key, { record, problems }] of read) {
    if (record !== null && problems.length === 0) {
      readable.push({ key, record })
      continue
    }
    const primary_identifier = stored.get(key) ?? null
    if (primary_identifier !== null) taken.add(primary_identifier)
    rows.push({ key, primary_identifier, wanted: null, reason: problems.join('; ') })
  }
  const isSame = ({ key, record }: RecordWithRowKey): boolean => stored.get(key) === record.primary_identifier
  const records: RecordWithRowKey[] = []
  for (const one of [...readable.filter(isSame), ...readable.filter((other) => !isSame(other))]) {
    const { primary_identifier } = one.record
    if (taken.has(primary_identifier)) {
      const reason = `another row has the same ${primary}`
      rows.push({ key: one.key, primary_identifier: null, wanted: primary_identifier, reason })
      continue
    }
    taken.add(primary_identifier)
    records.push(one)
    rows.push({ key: one.key, primary_identifier, wanted: null, reason: null })
  }
  const released = keys.flatMap((key) => stored.get(key) ?? []).filter((identifier) => !taken.has(identifier))
  const renamed = records.flatMap(({ key, record: { primary_identifier: is } }) => {
    const was = stored.get(key) ?? is
    return was === is ? [] : [{ was, is }]
  })
  return { records, rows, gone, released, renamed }
}
