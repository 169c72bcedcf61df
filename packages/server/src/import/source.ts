/** Where an import reads from: a file or a stream, as chunks of bytes without a byte order mark, and entries cut from it. */

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { getSystemErrorMessage } from 'node:util'
import type { JsonValue } from '@rollcall/protocol'
import { UTF8_MARK } from '../files/lines.ts'

const CHUNK_BYTES = 256 * 1024
/** How much of a file its identity is computed over. */
const HEAD_BYTES = 1024 * 1024
const UTF16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]

export interface Source {
  /** Null when it is not known: a stream, a pipe. */
  readonly totalBytes: number | null
  /** The same for the same unchanged file; null for a stream, which cannot be read a second time. */
  readonly identity: string | null
  /** Length of a byte order mark, as far as it is known; it counts as read, but is not among the chunks. */
  readonly markBytes: number
  /** The bytes from an offset on. May be called once. */
  chunks(offset: number): AsyncIterable<Buffer>
  close(): Promise<void>
}

/**
 * Opens a source.
 * @throws ImportError when the path cannot be read or the source is UTF-16
 */
export async function openSource(source: string | Readable): Promise<Source> {
  return typeof source === 'string' ? openPath(source) : streamSource(source, () => Promise.resolve())
}

async function openPath(path: string): Promise<Source> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    const reason = error.errno === undefined ? error.code : getSystemErrorMessage(error.errno)
    throw new ImportError(`the file ${path} cannot be read: ${reason}`)
  })
  try {
    const stat = await handle.stat({ bigint: true })
    if (stat.isDirectory()) throw new ImportError(`${path} is a folder; name a file in it`)
    if (!stat.isFile()) return streamSource(read(handle), () => handle.close())
    const head = await readHead(handle)
    const mark = markLength(head)
    const digest = createHash('sha256').update(head).digest('hex')
    return {
      totalBytes: Number(stat.size),
      identity: `${stat.size}:${stat.mtimeNs}:${digest}`,
      markBytes: mark,
      chunks: (offset) => read(handle, Math.max(offset, mark)),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

function read(handle: FileHandle, start?: number): Readable {
  const options = { highWaterMark: CHUNK_BYTES, autoClose: false }
  return handle.createReadStream(start === undefined ? options : { ...options, start })
}

async function readHead(handle: FileHandle): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(HEAD_BYTES)
  let length = 0
  while (length < HEAD_BYTES) {
    const { bytesRead } = await handle.read(buffer, length, HEAD_BYTES - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

function streamSource(stream: Readable, close: () => Promise<void>): Source {
  return {
    totalBytes: null,
    identity: null,
    markBytes: 0,
    chunks: () => withoutMark(stream),
    close: async () => {
      stream.destroy()
      await close()
    },
  }
}

async function* withoutMark(stream: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  let head: Buffer | null = Buffer.alloc(0)
  for await (const piece of stream) {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece
    if (head === null) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    if (head.length < UTF8_MARK.length) continue
    yield head.subarray(markLength(head))
    head = null
  }
  if (head !== null && head.length > 0) yield head.subarray(markLength(head))
}

function markLength(head: Buffer): number {
  if (head.subarray(0, UTF8_MARK.length).equals(UTF8_MARK)) return UTF8_MARK.length
  const isUtf16 = UTF16_MARKS.some((mark) => head.subarray(0, mark.length).equals(mark))
  if (isUtf16)
    throw new ImportError(
      'the file is in UTF-16; convert it to UTF-8: iconv -f UTF-16 -t UTF-8 FILE > NEW-FILE',
    )
  return 0
}

/** Longest record that is read, in bytes; a longer one is rejected and skipped without being collected in memory. */
export const MAX_ENTRY_BYTES = 8 * 1024 * 1024

/** One record of the source: JSON text still to be parsed, a document, or what is wrong with it. */
export type Entry = {
  /** Line of the source on which it begins; the first is 1. */
  readonly line: number
  /** Bytes of the source that are consumed once this entry is. */
  readonly end: number
} & (
  | { readonly text: Buffer }
  | { readonly document: JsonValue }
  /** Written for the rejects file: never quotes the record. */
  | { readonly problem: string }
)

/** Where a reader begins: all zero, or where an interrupted import had come to. */
export interface Position {
  readonly bytes: number
  readonly line: number
  /** Entries already consumed, for formats in which one cannot begin in the middle. */
  readonly entries: number
}

/** Cuts a stream into entries. */
interface EntryCutter {
  /** The entries that end in this chunk. */
  push(chunk: Buffer): Entry[]
  /** Those that the end of the stream ends. */
  finish(): Entry[]
}

/** The entries of a source that can be read from its beginning only, without those that were consumed before. */
export async function* newEntries(
  source: Source,
  { entries: consumed }: Position,
  cutter: EntryCutter,
): AsyncGenerator<Entry[]> {
  let skip = consumed
  const fresh = (entries: Entry[]): Entry[] => {
    const left = entries.slice(skip)
    skip = Math.max(0, skip - entries.length)
    return left
  }
  for await (const chunk of source.chunks(0)) {
    const entries = fresh(cutter.push(chunk))
    if (entries.length > 0) yield entries
  }
  const last = fresh(cutter.finish())
  if (last.length > 0) yield last
}

/** The import as a whole cannot continue, because of its options or its source. No personal data. */
export class ImportError extends Error {
  override readonly name = 'ImportError'
}
