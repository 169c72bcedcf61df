/** The source of an import, a file or a stream: its bytes without a byte order mark, and the entries in them. */

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { systemReason } from '@rollcall/base/shared/system-error'
import type { JsonValue } from '@rollcall/protocol'
import { type ByteOrderMark, byteOrderMarkOf, refuseNonTextFile } from './detect.ts'
import { ImportError } from './import-error.ts'
import type { RowCells } from './row-documents.ts'

const CHUNK_BYTES = 256 * 1024
/** The number of bytes at the beginning from which the identity of a file is computed. */
const HEAD_BYTES = 1024 * 1024
/**
 * The beginning of a stream shows what it is. Chunks are read until they have the first line and at least `LEAST_HEAD_BYTES`
 * bytes, enough for a byte order mark. If the first line is long, they are read only until they have `STREAM_HEAD_BYTES` bytes.
 */
const [LEAST_HEAD_BYTES, STREAM_HEAD_BYTES] = [16, 64 * 1024]

export { ImportError } from './import-error.ts'

export interface ImportSource {
  /** The size in bytes; null when it is unknown (a stream or pipe). */
  readonly totalBytes: number | null
  /** A text that is equal for the same unchanged file; null for a stream, which cannot be read twice. */
  readonly identity: string | null
  /** When the file was last changed, in microseconds since 1970 by the clock of its machine; null for a stream. */
  readonly changed: bigint | null
  /** The first bytes, which show the type of the file, its encoding and its delimiter. */
  readonly head: Buffer
  /** The byte order mark. Its bytes count in offsets, but `chunks` does not yield them. */
  readonly mark: ByteOrderMark
  /** Yields the bytes from an offset (of a stream: from its beginning) to the end. May be called once. */
  chunks(offset: number): AsyncIterable<Buffer>
  close(): Promise<void>
}

/** Opens a source. @throws ImportError the path cannot be read, or the file begins like one of `NON_TEXT_FILE_TYPES` */
export async function openSource(source: string | Readable): Promise<ImportSource> {
  return typeof source === 'string' ? openPath(source) : openStream(source, () => Promise.resolve())
}

async function openPath(path: string): Promise<ImportSource> {
  const handle = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new ImportError(`the file ${path} cannot be read: ${systemReason(error)}`)
  })
  try {
    const stat = await handle.stat({ bigint: true })
    if (stat.isDirectory()) throw new ImportError(`${path} is a folder; name a file in it`)
    if (!stat.isFile()) return await openStream(openReadStream(handle), () => handle.close())
    const head = await readHead(handle)
    refuseNonTextFile(head)
    const mark = byteOrderMarkOf(head)
    const digest = createHash('sha256').update(head).digest('hex')
    return {
      totalBytes: Number(stat.size),
      identity: `${stat.size}:${stat.mtimeNs}:${digest}`,
      changed: stat.mtimeNs / 1_000n,
      head,
      mark,
      chunks: (offset) => openReadStream(handle, Math.max(offset, mark.bytes)),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

function openReadStream(handle: FileHandle, start?: number): Readable {
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

/** Opens a stream. Its first bytes are read at once, to find out what the stream is. */
async function openStream(
  stream: AsyncIterable<Buffer | string> & { destroy(): unknown },
  close: () => Promise<void>,
): Promise<ImportSource> {
  const chunks = stream[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < LEAST_HEAD_BYTES || (head.length < STREAM_HEAD_BYTES && !head.includes('\n'))) {
    const { value, done } = await chunks.next()
    if (done === true) break
    head = Buffer.concat([head, typeof value === 'string' ? Buffer.from(value) : value])
  }
  refuseNonTextFile(head)
  const mark = byteOrderMarkOf(head)
  return {
    totalBytes: null,
    identity: null,
    changed: null,
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

/**
 * The most bytes of a record. A longer one in JSON is rejected, and skipped without holding it in memory. A longer row
 * of CSV ends the import.
 */
export const MAX_ENTRY_BYTES = 8 * 1024 * 1024

/** One record of the source: JSON text that is not parsed yet, a document, or a problem. */
export type SourceEntry = {
  /** The number of the line on which the record begins; the first is 1. */
  readonly line: number
  /** The number of bytes, counted in UTF-8, up to the end of this entry. */
  readonly end: number
} & (
  | { readonly text: Buffer }
  /** `cells`: how the cells of the row were read. */
  | { readonly document: JsonValue; readonly cells?: RowCells }
  /** The text for the rejects file, which never quotes the record. */
  | { readonly problem: string }
)

/** Where reading begins: all zero, or where an interrupted import stopped. */
export interface SourcePosition {
  readonly bytes: number
  readonly line: number
  /** The number of entries that were read, for formats that can only be read from the beginning. */
  readonly entries: number
}

/** Divides a stream into entries. */
interface EntryCutter {
  /** Returns the entries that end in this chunk. */
  push(chunk: Buffer): SourceEntry[]
  /** Returns the entries that end with the stream. */
  finish(): SourceEntry[]
}

/** Yields the entries of a source that can only be read from the beginning, without those that were read before. */
export async function* readRemainingEntries(
  source: ImportSource,
  { entries: consumed }: SourcePosition,
  cutter: EntryCutter,
): AsyncGenerator<SourceEntry[]> {
  let skip = consumed
  const fresh = (entries: SourceEntry[]): SourceEntry[] => {
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
