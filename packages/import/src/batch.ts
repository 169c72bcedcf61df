/** A batch: some entries of a source, prepared on the one hand and written in one transaction on the other. */

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
  /** Records that were not there before. */
  readonly inserted: number
}

/** How entries become records. */
export interface Preparing {
  readonly kind: Kind
  /** Null: what the document's own `@type` says. */
  readonly recordType: RecordType | null
  /** A record is kept of which a value is not understood. */
  readonly lenient: boolean
  /** The day of the import in UTC, such as 2026-11-24; a birth date after it is remarked. */
  readonly today: string
}

export class Batch {
  entries = 0
  /** Of the source, sums of what this batch consumes. */
  size = 0
  last: { readonly line: number; readonly end: number } | null = null
  readonly lines = new Map<RecordType, Line[]>()
  readonly rejects: Reject[] = []
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

  /** Why the entry is rejected; nothing where it is prepared. */
  #prepare(preparing: Preparing, entry: Entry, cells: RowCells | undefined): readonly string[] {
    const { lenient } = preparing
    const { line } = entry
    this.#notes.clear()
    const read = this.#read(preparing, entry)
    if (cells !== undefined) this.#notes.compare(cells)
    const problems = this.#notes.problems(cells)
    if (typeof read === 'string') {
      this.counts.rejected(line, read)
      return lenient ? [read] : [...problems, read]
    }
    const { type, record } = read
    this.counts.record(preparing, type, line, record, this.#notes)
    if (problems.length > 0) {
      if (!lenient) return problems
      this.counts.kept += 1
    }
    this.size += record.document.length
    const lines = this.lines.get(type)
    if (lines) lines.push({ line, record })
    else this.lines.set(type, [{ line, record }])
    return []
  }

  /** The record of the entry, or why it is none. */
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
   * Writes what was prepared, in the caller's transaction. Records that the database refuses are added to the rejects.
   * @param recording of changes that are events; null: none is, and documents that are replaced are not read
   */
  async write(writing: Omit<Writing, 'before'>, recording: Recording | null = null): Promise<BatchWritten> {
    let inserted = 0
    for (const [recordType, lines] of this.lines) {
      const written = await writeLines({ ...writing, before: recording !== null }, recordType, lines)
      const refused = this.#refuse(writing, recordType, written)
      inserted += written.inserted
      const records = lines.flatMap((one) => (refused.has(one) ? [] : [one.record]))
      if (recording !== null) {
        const changes = [...changesOf(recordType, records, written.records), ...written.merged]
        await recordChanges(writing.client, recording, changes)
      }
    }
    this.rejects.sort((one, other) => one.line - other.line)
    return { inserted }
  }

  /** Counts lines that were refused or repeated. @returns those that were not written */
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

/** The changes of records, each once and in the order of the lines: from its document before all lines to that of the last one. */
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
 * By the document's own `@type`; a document without one is of the kind's default record type.
 * @throws InvalidRecord when `@type` names no record type of the kind, or several
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
