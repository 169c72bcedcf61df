/** A batch: some entries of a source, prepared on the one hand and written in one transaction on the other. */

import {
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  recordTypesOf,
} from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { MergeProblem, mergeIntoSurvivor } from '../events/merge.ts'
import { recordChanges } from '../events/publish.ts'
import type { Recording } from '../events/recording.ts'
import type { RecordChange } from '../model/event.ts'
import type { RegistryShape } from '../model/registry.ts'
import {
  InvalidRecord,
  type PreparedRecord,
  prepareGiven,
  prepareRecord,
} from '../store/records/prepare-record.ts'
import {
  lockRecord,
  sqlState,
  type WriteOptions,
  type WrittenRecord,
  writeRecords,
} from '../store/records/record-writer.ts'
import { documentOf } from './entry-document.ts'
import { RecordNotes } from './record-notes.ts'
import type { Reject } from './rejects.ts'
import { BatchCounts } from './report-counts.ts'
import type { RowCells } from './row-documents.ts'
import type { Entry } from './source.ts'

interface Line {
  readonly line: number
  readonly record: PreparedRecord
}

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
    const { kind, lenient } = preparing
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
    this.counts.record(kind, type, line, record, this.#notes)
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
  async write(
    client: ClientBase,
    registry: RegistryShape,
    recording: Recording | null = null,
  ): Promise<BatchWritten> {
    let inserted = 0
    for (const [recordType, lines] of this.lines) {
      const written = await writeLines(client, registry, recordType, lines, { before: recording !== null })
      this.rejects.push(...written.rejects)
      for (const { line, reason } of written.rejects) this.counts.rejected(line, reason)
      inserted += written.inserted
      const refused = new Set(written.rejects.map(({ line }) => line))
      const records = lines.flatMap(({ line, record }) => (refused.has(line) ? [] : [record]))
      if (recording !== null) {
        const changes = [...changesOf(recordType, records, written.records), ...written.merged]
        await recordChanges(client, recording, changes)
      }
    }
    this.rejects.sort((one, other) => one.line - other.line)
    return { inserted }
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

interface LinesWritten {
  readonly inserted: number
  readonly records: readonly WrittenRecord[]
  /** Changes of records by lines about records that were merged into them. */
  readonly merged: readonly RecordChange[]
  readonly rejects: readonly Reject[]
}

/**
 * Data exceptions (a day that no calendar of PostgreSQL knows) and exceeded limits (a value too long for its
 * index) are the fault of single records: they are found by halving.
 */
async function writeLines(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  lines: readonly Line[],
  options: WriteOptions,
): Promise<LinesWritten> {
  try {
    const records = lines.map(({ record }) => record)
    const { inserted, updated, retired } = await writeRecords(client, registry, recordType, records, options)
    const written = { inserted: inserted.length, records: [...inserted, ...updated] }
    if (retired === undefined) return { ...written, merged: [], rejects: [] }
    const others = lines.filter(({ record }) => retired.has(record.primary_identifier))
    return { ...written, ...(await mergeLines(client, registry, recordType, others)) }
  } catch (error) {
    const state = sqlState(error)
    const [first, second] = lines
    if (first === undefined || !/^(22|54)/.test(state)) throw error
    // The message would quote the value.
    if (second === undefined) {
      return {
        inserted: 0,
        records: [],
        merged: [],
        rejects: [{ line: first.line, reason: unstorable(state) }],
      }
    }
    const half = Math.ceil(lines.length / 2)
    const before = await writeLines(client, registry, recordType, lines.slice(0, half), options)
    const after = await writeLines(client, registry, recordType, lines.slice(half), options)
    return {
      inserted: before.inserted + after.inserted,
      records: [...before.records, ...after.records],
      merged: [...before.merged, ...after.merged],
      rejects: [...before.rejects, ...after.rejects],
    }
  }
}

const unstorable = (state: string): string =>
  `the database cannot store one of the values of this record (SQLSTATE ${state})`

/** Lines about records that were merged into others are merged into those, in the order of the lines. */
async function mergeLines(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  lines: readonly Line[],
): Promise<Pick<LinesWritten, 'merged' | 'rejects'>> {
  const merged: RecordChange[] = []
  const rejects: Reject[] = []
  for (const { line, record } of lines) {
    try {
      merged.push(await mergeLine(client, registry, recordType, record))
    } catch (error) {
      const state = sqlState(error)
      if (error instanceof InvalidRecord) rejects.push({ line, reason: error.reason })
      else if (error instanceof MergeProblem) rejects.push({ line, reason: error.message })
      else if (/^(22|54)/.test(state)) rejects.push({ line, reason: unstorable(state) })
      else throw error
    }
  }
  return { merged, rejects }
}

async function mergeLine(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  { primary_identifier, document }: PreparedRecord,
): Promise<RecordChange> {
  const { kind } = registry
  const survivor = await lockRecord(client, registry, recordType, primary_identifier)
  if (survivor === null) throw new Error('a record was merged into one that is not there')
  const { id, document: before, aliases } = survivor
  const patch: JsonObject = JSON.parse(document)
  const after = mergeIntoSurvivor({ kind, recordType }, JSON.parse(before), patch, aliases)
  const prepared = prepareRecord(kind, recordType, after)
  await writeRecords(client, registry, recordType, [prepared])
  return { record_type: recordType.name, record: id, before, after: prepared.document, aliases }
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
