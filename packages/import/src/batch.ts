/** A batch: entries of a source that are prepared together, and written in one transaction. */

import type { RecordChange } from '@rollcall/core/model/event'
import { recordChanges } from '@rollcall/delivery/events/publish'
import type { Recording } from '@rollcall/delivery/events/recording'
import { type JsonValue, type Kind, type RecordType, recordTypesOf } from '@rollcall/protocol'
import { InvalidRecord, type PreparedRecord, prepareGiven } from '@rollcall/records/records/prepare-record'
import type { WrittenRecord } from '@rollcall/records/records/record-writer'
import { documentOf } from './entry-document.ts'
import { RecordNotes } from './record-notes.ts'
import type { Reject } from './rejects.ts'
import { BatchCounts } from './report-counts.ts'
import type { RowCells } from './row-documents.ts'
import type { Entry } from './source.ts'
import { type Line, type LinesWritten, type Writing, writeLines } from './write-lines.ts'

interface BatchWritten {
  /** Records that are new. */
  readonly inserted: number
  /** The number of lines whose records were stored already in this form. */
  readonly unchanged: number
}

/** How entries become records. */
export interface Preparing {
  readonly kind: Kind
  /** Null: the document's `@type` decides. */
  readonly recordType: RecordType | null
  /** Whether a record with a value that is not understood is stored. */
  readonly lenient: boolean
  /** The day of the import in UTC, such as 2026-11-24; later birth dates are reported. */
  readonly today: string
}

export class Batch {
  entries = 0
  /** The position in the source after this batch. */
  size = 0
  last: { readonly line: number; readonly end: number } | null = null
  readonly lines = new Map<RecordType, Line[]>()
  readonly rejects: Reject[] = []
  /** Primary identifiers of records whose lines were rejected when they were read. */
  readonly rejectedPersons = new Map<RecordType, string[]>()
  /** Rejected lines that do not say whose record they are. */
  readonly unnamedLines: number[] = []
  readonly counts = new BatchCounts()
  readonly #notes = new RecordNotes()

  /** Prepares one entry. */
  add(preparing: Preparing, entry: Entry): void {
    const { line, end } = entry
    this.entries += 1
    this.last = { line, end }
    const cells = 'cells' in entry ? entry.cells : undefined
    const reasons = this.#prepare(preparing, entry, cells)
    if (reasons.length > 0) this.rejects.push({ line, reason: reasons.join('; ') })
    if (cells !== undefined) this.counts.row(line, cells)
  }

  /** The reasons for which an entry is rejected; none when it was prepared. */
  #prepare(preparing: Preparing, entry: Entry, cells: RowCells | undefined): readonly string[] {
    const { lenient } = preparing
    const { line } = entry
    this.#notes.clear()
    const read = this.#read(preparing, entry)
    if (cells !== undefined) this.#notes.compare(cells)
    const problems = this.#notes.problems(cells)
    if (typeof read === 'string') {
      this.unnamedLines.push(line)
      this.counts.rejected(line, read)
      return lenient ? [read] : [...problems, read]
    }
    const { type, record } = read
    this.counts.record(preparing, type, line, record, this.#notes)
    if (problems.length > 0) {
      if (!lenient) {
        addTo(this.rejectedPersons, type, record.primary_identifier)
        return problems
      }
      this.counts.kept += 1
    }
    this.size += record.document.length
    addTo(this.lines, type, { line, record })
    return []
  }

  /** The record of the entry, or the reason why it has none. */
  #read({ kind, recordType }: Preparing, entry: Entry) {
    try {
      const document = documentOf(entry)
      const type = recordType ?? recordTypeOf(kind, document)
      return { type, record: prepareGiven(kind, type, document, this.#notes) }
    } catch (error) {
      if (error instanceof InvalidRecord) return error.reason
      throw error
    }
  }

  /**
   * Writes the prepared records in the caller's transaction. Records that the database refuses are added to the
   * rejects.
   * @param recording records the changes as events; null: changes are no events, and replaced documents are not read
   */
  async write(writing: Omit<Writing, 'before'>, recording: Recording | null = null): Promise<BatchWritten> {
    let inserted = 0
    let unchanged = 0
    for (const [recordType, lines] of this.lines) {
      const written = await writeLines({ ...writing, before: recording !== null }, recordType, lines)
      const refused = this.#refuse(writing, recordType, written)
      inserted += written.inserted
      unchanged += lines.filter(
        (one) => !refused.has(one) && written.unchanged.has(one.record.primary_identifier),
      ).length
      const records = lines.flatMap((one) => (refused.has(one) ? [] : [one.record]))
      if (recording !== null) {
        const changes = [...changesOf(recordType, records, written.records), ...written.merged]
        await recordChanges(writing.client, recording, changes)
      }
    }
    this.rejects.sort((one, other) => one.line - other.line)
    return { inserted, unchanged }
  }

  /** Counts lines that were refused or repeated. @returns the lines that were not written */
  #refuse(
    { duplicates }: Pick<Writing, 'duplicates'>,
    { primary_identifier }: RecordType,
    { rejects, repeated }: LinesWritten,
  ): ReadonlySet<Line> {
    const refuse = ({ line }: Line, reason: string, reported = reason): void => {
      this.rejects.push({ line, reason })
      this.counts.rejected(line, reported)
    }
    for (const { of, reason } of rejects) refuse(of, reason)
    if (duplicates === 'last') {
      for (const { of } of repeated) this.counts.repeated(of.line)
      return new Set(rejects.map(({ of }) => of))
    }
    for (const { of, earlier } of repeated) {
      const rule = `has the same ${primary_identifier}, and its record stands`
      refuse(of, `line ${earlier} ${rule}`, `an earlier line ${rule}`)
    }
    return new Set([...rejects, ...repeated].map(({ of }) => of))
  }
}

function addTo<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/**
 * The change of each record, in the order of the lines: from its document before all lines to that of the last line.
 */
function changesOf(
  { name: record_type }: RecordType,
  records: readonly PreparedRecord[],
  written: readonly WrittenRecord[],
): readonly RecordChange[] {
  const documents = new Map(records.map(({ primary_identifier, document }) => [primary_identifier, document]))
  const first = new Map(written.toReversed().map((one) => [one.primary_identifier, one]))
  return [...documents].flatMap(([primary_identifier, after]) => {
    const one = first.get(primary_identifier)
    if (one === undefined) return []
    const { id, before = null, aliases = [] } = one
    return [{ record_type, record: id, before, after, aliases }]
  })
}

/**
 * The record type named by the document's `@type`; without it, the default of the kind.
 * @throws InvalidRecord `@type` names no record type of the kind, or several
 */
export function recordTypeOf(kind: Kind, document: JsonValue): RecordType {
  const found = recordTypesOf(kind, document)
  const [first, second] = found
  if (first === undefined) {
    const names = kind.record_types.map(({ name }) => name).join(', ')
    throw new InvalidRecord(`@type must be one of the registry's record types: ${names}`)
  }
  if (second !== undefined) {
    const names = found.map(({ name }) => name).join(' or ')
    throw new InvalidRecord(`@type can mean ${names}; say which with --record-type`)
  }
  return first
}
