/**
 * The file of a backup:
 *
 *     rollcall-backup 1\n
 *     one line of JSON: the header, in clear\n
 *     chunks: length of the rest (4 bytes), AES-256-GCM of one part, deflated, with its tag
 *
 * Each file has a key of its own. A chunk is bound to the header, its number and whether it is the last: chunks that
 * are changed, swapped, cut off, of another file or after a missing one do not decrypt.
 */
import { createCipheriv, createDecipheriv, hash, type KeyObject } from 'node:crypto'

export const MAGIC = Buffer.from('rollcall-backup 1\n')
export const MAX_HEADER_BYTES = 1_048_576
/** The bytes of rows, uncompressed, that fill a chunk: enough to compress well, few enough to have several in memory. */
export const PART_BYTES = 1_048_576
/** The most bytes of a chunk, and of its inflated content. A chunk of rows is smaller, but a manifest may be long. */
export const MAX_CHUNK_BYTES = 67_108_864

const CIPHER = 'aes-256-gcm'
const TAG_BYTES = 16

export interface BackupHeader {
  readonly format: 1
  /** The id of the backup, a UUID. */
  readonly id: string
  /** RFC 3339 in UTC: the time of the database in the snapshot. */
  readonly snapshot_at: string
  /** The snapshot of PostgreSQL in which the tables were read (`pg_current_snapshot`). */
  readonly snapshot: string
  /** The names of the migrations that had run in the database. */
  readonly schema: readonly string[]
  /** The version of the master key that encrypts the key of this file, and a check value of it, as base64. */
  readonly master_key: { readonly version: number; readonly check_value: string }
  /** The key of this file, encrypted with the master key, as base64. */
  readonly key: string
  /** The last line of the journal that the snapshot knows; its digest is in hexadecimal. */
  readonly journal: {
    readonly sequence: number
    readonly digest: string
    /** The id of the database, as its journal has it. Absent in files of earlier versions. */
    readonly database?: string
    /** The numbers of earlier lines whose acts are not known to be committed. Absent in files of earlier versions. */
    readonly open?: readonly number[]
  }
}

/** The file is no backup, or it was changed. */
export class BackupDamaged extends Error {
  override readonly name = 'BackupDamaged'
}

/** The SHA-256 of the header and the bytes before it. The encryption binds each chunk to it. */
export const headerHash = (head: Buffer): Buffer => hash('sha256', head, 'buffer')

function makeChunkNonceAndAad(binding: Buffer, number: number, last: boolean): { nonce: Buffer; bound: Buffer } {
  // The nonce is the number of the chunk. It is unique, because the key is used for this file only.
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(number), 4)
  return { nonce, bound: Buffer.concat([binding, nonce, Buffer.of(last ? 1 : 0)]) }
}

/** Encrypts a part as a chunk of the file, and puts the length of the chunk before it. */
export function sealChunk(
  key: KeyObject,
  binding: Buffer,
  { number, last, part }: { readonly number: number; readonly last: boolean; readonly part: Buffer },
): Buffer {
  const { nonce, bound } = makeChunkNonceAndAad(binding, number, last)
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(bound)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(part.length + TAG_BYTES)
  return Buffer.concat([length, cipher.update(part), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a chunk; null: the bytes are not this chunk of this file. */
export function openChunk(
  key: KeyObject,
  binding: Buffer,
  { number, last, chunk }: { readonly number: number; readonly last: boolean; readonly chunk: Buffer },
): Buffer | null {
  if (chunk.length < TAG_BYTES) return null
  const { nonce, bound } = makeChunkNonceAndAad(binding, number, last)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(bound)
  decipher.setAuthTag(chunk.subarray(-TAG_BYTES))
  const part = decipher.update(chunk.subarray(0, -TAG_BYTES))
  try {
    decipher.final()
    return part
  } catch {
    // The error says no more than that the decryption failed.
    return null
  }
}

/** The first byte of a part, which says its kind. */
export const BYTE_BY_PART_KIND = { manifest: 0, table: 1, rows: 2, end: 3 } as const
export type PartKind = keyof typeof BYTE_BY_PART_KIND

/** The kind of a part by its first byte; undefined when no kind has this byte. */
export const partKindOfByte = (byte: number | undefined): PartKind | undefined =>
  (Object.keys(BYTE_BY_PART_KIND) as PartKind[]).find((kind) => BYTE_BY_PART_KIND[kind] === byte)
