/** A batch: some entries of a source, prepared on the one hand and written in one transaction on the other. */

import { isUtf8 } from 'node:buffer'
import { JsonError, type JsonValue, type Kind, parseJson, type RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { RegistryShape } from '../model/registry.ts'
import type { ReadCounts } from '../store/records/import-progress.ts'
import { InvalidRecord, type PreparedRecord, prepareRecord } from '../store/records/prepare-record.ts'
import { sqlState, writeRecords } from '../store/records/record-writer.ts'
import type { Entry } from './entry.ts'
import { countRead } from './read-counts.ts'
import { recordTypeOf } from './record-type.ts'
import type { Reject } from './rejects.ts'

interface Line {
  readonly line: number
  readonly record: PreparedRecord
}

export interface BatchWritten {
  /** Records that were not there before. */
  readonly inserted: number
  readonly read: ReadCounts
}

export class Batch {
  entries = 0
  /** Of the source, sums of what this batch consumes. */
  size = 0
  last: { readonly line: number; readonly end: number } | null = null
  readonly lines = new Map<RecordType, Line[]>()
  readonly rejects: Reject[] = []

  /**
   * Prepares one entry.
   * @param recordType null: what the document's own `@type` says
   */
  add(kind: Kind, recordType: RecordType | null, entry: Entry): void {
    this.entries += 1
    this.last = { line: entry.line, end: entry.end }
    try {
      const document = documentOf(entry)
      const type = recordType ?? recordTypeOf(kind, document)
      const record = prepareRecord(kind, type, document)
      this.size += record.document.length
      const lines = this.lines.get(type)
      if (lines) lines.push({ line: entry.line, record })
      else this.lines.set(type, [{ line: entry.line, record }])
    } catch (error) {
      if (!(error instanceof InvalidRecord)) throw error
      this.rejects.push({ line: entry.line, reason: error.reason })
    }
  }

  /** Writes what was prepared, in the caller's transaction. What the database refuses joins the rejects. */
  async write(client: ClientBase, registry: RegistryShape): Promise<BatchWritten> {
    const read: Record<string, Readonly<Record<string, number>>> = {}
    let inserted = 0
    for (const [recordType, lines] of this.lines) {
      const written = await writeLines(client, registry, recordType, lines)
      this.rejects.push(...written.rejects)
      inserted += written.inserted
      const refused = new Set(written.rejects.map(({ line }) => line))
      const records = lines.flatMap(({ line, record }) => (refused.has(line) ? [] : [record]))
      read[recordType.name] = countRead(registry.kind, recordType, records)
    }
    this.rejects.sort((one, other) => one.line - other.line)
    return { inserted, read }
  }
}

function documentOf(entry: Entry): JsonValue {
  if ('problem' in entry) throw new InvalidRecord(entry.problem)
  if ('document' in entry) return entry.document
  if (!isUtf8(entry.text))
    throw new InvalidRecord(
      'the record is not in UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE',
    )
  try {
    return parseJson(entry.text.toString('utf8'))
  } catch (error) {
    if (error instanceof JsonError) throw new InvalidRecord(error.message)
    throw error
  }
}

interface LinesWritten {
  readonly inserted: number
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
): Promise<LinesWritten> {
  try {
    const records = lines.map(({ record }) => record)
    const { inserted } = await writeRecords(client, registry, recordType, records)
    return { inserted, rejects: [] }
  } catch (error) {
    const state = sqlState(error)
    const [first, second] = lines
    if (first === undefined || !/^(22|54)/.test(state)) throw error
    // The message would quote the value.
    if (second === undefined) {
      const reason = `the database cannot store one of the values of this record (SQLSTATE ${state})`
      return { inserted: 0, rejects: [{ line: first.line, reason }] }
    }
    const half = Math.ceil(lines.length / 2)
    const before = await writeLines(client, registry, recordType, lines.slice(0, half))
    const after = await writeLines(client, registry, recordType, lines.slice(half))
    return {
      inserted: before.inserted + after.inserted,
      rejects: [...before.rejects, ...after.rejects],
    }
  }
}
