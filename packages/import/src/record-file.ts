/** Reads a file of records that are sent to another registry instead of being imported here. */
import type { Readable } from 'node:stream'
import { isJsonObject, type JsonObject, KINDS } from '@rollcall/protocol'
import { InvalidRecord } from '@rollcall/records/records/prepare-record'
import { entryDocument } from './entry-document.ts'
import { chooseSourceFormat, FILE_FORMATS, type FormatName, type FormatOptions } from './formats.ts'
import { openRejects, type RejectedLine, rejectsPathFor } from './rejects.ts'
import { cellProblems } from './row-documents.ts'
import { openSource, type SourceEntry } from './source.ts'

/** One record of the file, or what is wrong with it. */
export type RecordOrProblem = {
  /** The number of the line on which the record begins; the first is 1. */
  readonly line: number
  /** The number of bytes, counted in UTF-8, up to the end of this record. */
  readonly end: number
} & ({ readonly document: JsonObject } | { readonly problem: string })

export interface RecordFileOptions extends FormatOptions {
  /** The format of the file; absent: the file's extension decides. */
  readonly format?: FormatName
  /** The file for rejected lines. Default: `<file>.rejects.ndjson`, beside the file; for a stream, no file. */
  readonly rejectsPath?: string
}

export interface RecordFile {
  /** The size of the file in bytes; null for a stream. */
  readonly totalBytes: number | null
  /** The file for rejected lines; null when they are not written. */
  readonly rejectsPath: string | null
  /** Yields the records from the first on; may be called once. */
  rows(): AsyncGenerator<RecordOrProblem>
  /** Appends rejected lines; resolves when they are on disk. */
  reject(rejects: readonly RejectedLine[]): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a file of records. The file of rejected lines begins anew.
 * @throws ImportError a file cannot be opened, or an option is wrong
 */
export async function openRecordFile(
  source: string | Readable,
  { format: asked, rejectsPath: path, ...options }: RecordFileOptions = {},
): Promise<RecordFile> {
  const read = FILE_FORMATS[await chooseSourceFormat(source, asked)].reader(options)
  const opened = await openSource(source)
  try {
    const rejectsPath = rejectsPathFor(source, opened, path)
    const rejects = await openRejects(rejectsPath, 0)
    return {
      totalBytes: opened.totalBytes,
      rejectsPath,
      async *rows() {
        for await (const entries of read(opened, { bytes: 0, line: 0, entries: 0 })) yield* entries.map(recordOrProblemOf)
      },
      reject: (rows) => rejects.append(rows),
      async close() {
        await rejects.close()
        await opened.close()
      },
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

function recordOrProblemOf(entry: SourceEntry): RecordOrProblem {
  const { line, end } = entry
  try {
    const document = entryDocument(entry, KINDS)
    const problems = 'cells' in entry && entry.cells !== undefined ? cellProblems(entry.cells) : []
    if (problems.length > 0) return { line, end, problem: problems.join('; ') }
    if (isJsonObject(document)) return { line, end, document }
    return { line, end, problem: 'the record must be a JSON object' }
  } catch (error) {
    if (error instanceof InvalidRecord) return { line, end, problem: error.reason }
    throw error
  }
}
