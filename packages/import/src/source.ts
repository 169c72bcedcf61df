/** The source of an import: a file or a stream, as chunks of bytes without a byte order mark, and the entries in it. */

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { systemReason } from '@rollcall/base/shared/system-error'
import type { JsonValue } from '@rollcall/protocol'
import { byteOrderMarkOf, type Mark, refuseOtherFiles } from './detect.ts'
import { ImportError } from './import-error.ts'
import type { RowCells } from './row-documents.ts'

const CHUNK_BYTES = 256 * 1024
/** The part of a file that its identity is computed from. */
const HEAD_BYTES = 1024 * 1024

export { ImportError } from './import-error.ts'

export interface Source {
  /** Null when unknown: a stream, a pipe. */
  readonly totalBytes: number | null
  /** Equal for the same unchanged file; null for a stream, which cannot be read a second time. */
  readonly identity: string | null
  /** The beginning, from which format, encoding and delimiter are recognised. */
  readonly head: Buffer
  /** The byte order mark. It is counted as read, but is not in the chunks. */
  readonly mark: Mark
  /** The bytes from an offset to the end. May be called once. */
  chunks(offset: number): AsyncIterable<Buffer>
  close(): Promise<void>
}

/** Opens a source. @throws ImportError when the path cannot be read, or leads to a file that is no text */
export async function openSource(source: string | Readable): Promise<Source> {
  return typeof source === 'string' ? openPath(source) : streamSource(source, () => Promise.resolve())
}

async function openPath(path: string): Promise<Source> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(`the file ${path} cannot be read: ${systemReason(error)}`)
  })
  try {
    const stat = await handle.stat({ bigint: true })
    if (stat.isDirectory()) throw new ImportError(`${path} is a folder; name a file in it`)
    if (!stat.isFile()) return await streamSource(read(handle), () => handle.close())
    const head = await readHead(handle)
    refuseOtherFiles(head)
    const mark = byteOrderMarkOf(head)
    const digest = createHash('sha256').update(head).digest('hex')
    return {
      totalBytes: Number(stat.size),
      identity: `${stat.size}:${stat.mtimeNs}:${digest}`,
      head,
      mark,
      chunks: (offset) => read(handle, Math.max(offset, mark.bytes)),
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

/** The first chunk of a stream is read at once, to recognise what the stream is. */
async function streamSource(
  stream: AsyncIterable<Buffer | string> & { destroy(): unknown },
  close: () => Promise<void>,
): Promise<Source> {
  const chunks = stream[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < LONGEST_MARK) {
    const { value, done } = await chunks.next()
    if (done === true) break
    head = Buffer.concat([head, typeof value === 'string' ? Buffer.from(value) : value])
  }
  refuseOtherFiles(head)
  const mark = byteOrderMarkOf(head)
  return {
    totalBytes: null,
    identity: null,
    head,
    mark,
    async *chunks() {
      if (head.length > mark.bytes) yield head.subarray(mark.bytes)
      for (;;) {
        const { value, done } = await chunks.next()
        if (done === true) return
        yield typeof value === 'string' ? Buffer.from(value) : value
      }
    },
    close: async () => {
      stream.destroy()
      await close()
    },
  }
}

/** Bytes that show whether a stream begins with a byte order mark. */
const LONGEST_MARK = 3

/** The longest record that is read, in bytes. A longer one is rejected, and skipped without being kept in memory. */
export const MAX_ENTRY_BYTES = 8 * 1024 * 1024

/** One record of the source: JSON text to be parsed, a document, or a problem. */
export type Entry = {
  /** The line on which it begins; the first is 1. */
  readonly line: number
  /** Bytes of the source up to the end of this entry. */
  readonly end: number
} & (
  | { readonly text: Buffer }
  /** `cells`: the cells of the table's row. */
  | { readonly document: JsonValue; readonly cells?: RowCells }
  /** The message for the rejects file. It never quotes the record. */
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
  /** The entries that end with the stream. */
  finish(): Entry[]
}

/** The entries of a source that can only be read from its beginning, without those that were consumed before. */
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
