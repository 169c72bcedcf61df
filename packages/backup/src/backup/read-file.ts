/** Reads the file of a backup. A chunk is used only after it was verified. */
import type { KeyObject } from 'node:crypto'
import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { systemReason } from '@rollcall/base/shared/system-error'
import { StoreRefusal } from '@rollcall/database/refusal'
import {
  BackupDamaged,
  type BackupHeader,
  headerHash,
  MAGIC,
  MAX_CHUNK_BYTES,
  MAX_HEADER_BYTES,
  openChunk,
  type PartKind,
  partKindOfByte,
} from './file-format.ts'

const inflate = promisify(inflateRaw)

export interface OpenBackup {
  readonly header: BackupHeader
  /** The header and the bytes before it, as the file has them. */
  readonly head: Buffer
  readonly bytes: number
  /** Yields the decrypted parts. @throws BackupDamaged a chunk was changed, or the end of the file is missing */
  parts(key: KeyObject): AsyncGenerator<{ readonly kind: PartKind; readonly content: Buffer }>
  /** SHA-256 of the file, in hexadecimal. */
  sha256(): Promise<string>
  close(): Promise<void>
}

/** Opens the file of a backup. @throws StoreRefusal it cannot be opened @throws BackupDamaged it is no backup */
export async function openBackupFile(path: string): Promise<OpenBackup> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new StoreRefusal(`the file ${path} cannot be read: ${systemReason(error)}`)
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new StoreRefusal(`the file ${path} cannot be read: it is no regular file`)
    const head = await readHead(file)
    return {
      header: parseBackupHeader(head),
      head,
      bytes: found.size,
      parts: (key) => readParts(file, { head, size: found.size, key }),
      async sha256() {
        const digest = createHash('sha256')
        for await (const piece of file.createReadStream({ start: 0, autoClose: false })) digest.update(piece)
        return digest.digest('hex')
      },
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readHead(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MAGIC.length + MAX_HEADER_BYTES), position: 0 })
  const begin = buffer.subarray(0, bytesRead)
  if (!begin.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new BackupDamaged('the file is no backup of Rollcall, or of a format that this version does not know')
  }
  const end = begin.indexOf('\n', MAGIC.length)
  if (end < 0) throw new BackupDamaged('the file is damaged: its header does not end')
  return begin.subarray(0, end + 1)
}

function parseBackupHeader(head: Buffer): BackupHeader {
  try {
    const header: unknown = JSON.parse(head.subarray(MAGIC.length).toString())
    if (isHeader(header)) return header
  } catch {
    // A header that is no JSON gets the error below.
  }
  throw new BackupDamaged('the file is damaged: its header cannot be read')
}

/** True when a value is a header. Checks types of members, because some are used before a chunk proves the header. */
function isHeader(value: unknown): value is BackupHeader {
  if (!isObject(value)) return false
  const { format, id, snapshot_at, snapshot, schema, master_key, key, journal } = value
  const names = Array.isArray(schema) && schema.every((name) => typeof name === 'string')
  return (
    format === 1 && areTexts(id, snapshot_at, snapshot, key) && names && isHeaderMasterKey(master_key) && isHeaderJournal(journal)
  )
}

const isHeaderMasterKey = (value: unknown): boolean =>
  isObject(value) && Number.isInteger(value.version) && areTexts(value.check_value)

const isHeaderJournal = (value: unknown): boolean => isObject(value) && Number.isInteger(value.sequence) && areTexts(value.digest)

const areTexts = (...values: readonly unknown[]): boolean => values.every((value) => typeof value === 'string')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null

interface PartsSource {
  readonly head: Buffer
  readonly size: number
  readonly key: KeyObject
}

async function* readParts(file: FileHandle, { head, size, key }: PartsSource) {
  const binding = headerHash(head)
  let at = head.length
  for (let number = 0; ; number += 1) {
    const length = at + 4 <= size ? (await readBytesAt(file, at, 4)).readUInt32BE() : 0
    const last = at + 4 + length === size
    if (length === 0 || length > MAX_CHUNK_BYTES || at + 4 + length > size) throw damagedChunkError(number, 'it is cut off')
    const part = openChunk(key, binding, { number, last, chunk: await readBytesAt(file, at + 4, length) })
    at += 4 + length
    if (part === null) throw damagedChunkError(number, 'it was changed, or the file was cut')
    const plain = await inflate(part, { maxOutputLength: MAX_CHUNK_BYTES }).catch(() => {
      throw damagedChunkError(number, 'it cannot be unpacked')
    })
    const kind = partKindOfByte(plain[0])
    if (kind === undefined || (kind === 'end') !== last) throw damagedChunkError(number, 'it is not in its place')
    yield { kind, content: plain.subarray(1) }
    if (last) return
  }
}

const damagedChunkError = (number: number, why: string): BackupDamaged =>
  new BackupDamaged(`the file is damaged at chunk ${number}: ${why}`)

async function readBytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(buffer, read, length - read, position + read)
    if (bytesRead === 0) throw new BackupDamaged('the file is damaged: it became shorter while it was read')
    read += bytesRead
  }
  return buffer
}
