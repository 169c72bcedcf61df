/** Imports a portion of a file: makes records from its entries, and writes them in one transaction. */

import type { RecordChange } from '@rollcall/core/model/event'
import { recordChanges } from '@rollcall/delivery/events/record-changes'
import type { RecordingDeps } from '@rollcall/delivery/events/recording'
import { type JsonValue, type Kind, type RecordType, recordTypesOf } from '@rollcall/protocol'
import { InvalidRecord, type PreparedRecord, prepareExternalRecord } from '@rollcall/records/records/prepare-record'
import type { WrittenRecord } from '@rollcall/records/records/record-writer'
import { entryDocument } from './entry-document.ts'
import { RecordReadingNotes } from './record-notes.ts'
import type { RejectedLine } from './rejects.ts'
import { BatchCounts } from './report-counts.ts'
import type { RowCells } from './row-documents.ts'
import type { SourceEntry } from './source.ts'
import { type RecordLine, type WriteLinesOptions, type WriteLinesResult, writeLines } from './write-lines.ts'

interface LineBatchWriteResult {
  /** The number of written records that are new. */
  readonly inserted: number
  /** The number of lines whose records were stored already as the lines have them. */
  readonly unchanged: number
}

/** The options for making records from entries. */
export interface BatchOptions {
  readonly kind: Kind
  /** The type of all records; null: the `@type` of each document decides. */
  readonly recordType: RecordType | null
  /** True when a record is stored although one of its values was not understood. */
  readonly lenient: boolean
  /** The day of the import in UTC, such as 2026-11-24; birth dates after it are reported. */
  readonly today: string
}

/** A portion of an imported file: the records to write in one transaction, and the lines that were rejected. */
export class Batch {
  entries = 0
  /** The total length of the documents in the batch, in characters. */
  size = 0
  last: { readonly line: number; readonly end: number } | null = null
  readonly lines = new Map<RecordType, RecordLine[]>()
  readonly rejects: RejectedLine[] = []
  /** By record type, the primary identifiers in lines that `add` rejected. The records may be persons or groups. */
  readonly rejectedPersons = new Map<RecordType, string[]>()
  /** The numbers of rejected lines from which no record, and so no primary identifier, could be read. */
  readonly unnamedLines: number[] = []
  readonly counts = new BatchCounts()
  readonly #notes = new RecordReadingNotes()

  /** Adds the record of an entry to the batch, or rejects the entry. */
  add(preparing: BatchOptions, entry: SourceEntry): void {
    const { line, end } = entry
    this.entries += 1
    this.last = { line, end }
    const cells = 'cells' in entry ? entry.cells : undefined
    const reasons = this.#prepare(preparing, entry, cells)
    if (reasons.length > 0) this.rejects.push({ line, reason: reasons.join('; ') })
    if (cells !== undefined) this.counts.row(line, cells)
  }

  /** Makes a record. @returns the reasons why the entry is rejected; none: its record is in the batch */
  #prepare(preparing: BatchOptions, entry: SourceEntry, cells: RowCells | undefined): readonly string[] {
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
    const hasProblems = problems.length > 0
    if (hasProblems && !lenient) {
      appendToList(this.rejectedPersons, type, record.primary_identifier)
      return problems
    }
    this.size += record.document.length
    appendToList(this.lines, type, { line, record, hasProblems })
    return []
  }

  /** Reads the record of an entry, or returns the reason why it has none. */
  #read({ kind, recordType }: BatchOptions, entry: SourceEntry) {
    try {
      const document = entryDocument(entry, [kind])
      const type = recordType ?? requireRecordTypeOf(kind, document)
      return { type, record: prepareExternalRecord(kind, type, document, this.#notes) }
    } catch (error) {
      if (error instanceof InvalidRecord) return error.reason
      throw error
    }
  }

  /**
   * Writes the records in the caller's transaction. Lines whose records cannot be written are added to `rejects`.
   * @param recording records the changes as events; null: changes are no events
   */
  async write(writing: Omit<WriteLinesOptions, 'before'>, recording: RecordingDeps | null = null): Promise<LineBatchWriteResult> {
    let inserted = 0
    let unchanged = 0
    for (const [recordType, lines] of this.lines) {
      const written = await writeLines({ ...writing, before: recording !== null }, recordType, lines)
      const refused = this.#refuse(writing, recordType, written)
      inserted += written.inserted
      this.counts.kept += lines.filter((one) => one.hasProblems && !refused.has(one)).length
      unchanged += lines.filter((one) => !refused.has(one) && written.unchanged.has(one.record.primary_identifier)).length
      const records = lines.flatMap((one) => (refused.has(one) ? [] : [one.record]))
      if (recording !== null) {
        const changes = [...makeRecordChanges(recordType, records, written.records), ...written.merged]
        await recordChanges(writing.client, recording, changes)
      }
    }
    this.rejects.sort((one, other) => one.line - other.line)
    return { inserted, unchanged }
  }

  /**
   * Rejects the lines whose records could not be written. It also rejects lines that repeat an earlier line, unless `duplicates`
   * is `last`: then the records of the repeating lines were written, and these lines are only counted.
   * @returns the lines that were not written
   */
  #refuse(
    { duplicates }: Pick<WriteLinesOptions, 'duplicates'>,
    { primary_identifier }: RecordType,
    { rejects, repeated }: WriteLinesResult,
  ): ReadonlySet<RecordLine> {
    const refuse = ({ line }: RecordLine, reason: string, reported = reason): void => {
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

function appendToList<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}

/**
 * The changes to record as events, one for each record: from the document before the batch (null: the record is new) to the
 * document in the last line of the batch that has the record.
 */
function makeRecordChanges(
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
 * The record type that the document's `@type` names; without `@type`, the default of the kind.
 * @throws InvalidRecord `@type` names no record type of the kind, or several
 */
export function requireRecordTypeOf(kind: Kind, document: JsonValue): RecordType {
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
