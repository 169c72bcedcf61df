/** Writes the file of a backup under a temporary name, so that a file with the final name is complete. */
import { createHash, type KeyObject, randomBytes } from 'node:crypto'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import { syncDirectory } from '@rollcall/base/shared/data-directory'
import { StoreRefusal } from '@rollcall/database/refusal'
import { type BackupHeader, BYTE_BY_PART_KIND, headerHash, MAGIC, type PartKind, sealChunk } from './file-format.ts'

const deflate = promisify(deflateRaw)

/** The most parts that are not yet in the file when `add` resolves: they are compressed while the caller reads on. */
const MOST_UNWRITTEN_PARTS = 3

/** The codes with which file systems without hard links refuse one, such as exFAT and some of SMB and FUSE. */
const NO_HARD_LINKS_ERROR_CODES: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

export interface BackupFile {
  /**
   * Adds a part. Resolves when at most `MOST_UNWRITTEN_PARTS` parts are not written.
   * @throws StoreRefusal the file cannot be written
   */
  add(kind: PartKind, bytes: Buffer): Promise<void>
  /**
   * Writes the part of kind `end`, and gives the file its final name. If this or `add` throws, `abandon` must be called.
   * @returns the size of the file in bytes, and its SHA-256 in hexadecimal
   * @throws StoreRefusal the file cannot be written
   */
  finish(end: Buffer): Promise<{ readonly bytes: number; readonly sha256: string }>
  /** Removes the unfinished file. */
  abandon(): Promise<void>
}

/** Refuses a path at which a file exists. @throws StoreRefusal */
export async function refuseExistingFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    return throwUnwritable(path, error)
  })
  if (found !== null) throw new StoreRefusal(`${path}: is there already; a backup overwrites nothing`)
}

/**
 * Creates the unfinished file of a backup beside `path`, and writes the header into it.
 * @throws StoreRefusal a file exists at `path`, or the unfinished file cannot be created or written; then it is removed
 */
export async function createBackupFile(path: string, header: BackupHeader, key: KeyObject): Promise<BackupFile> {
  await refuseExistingFile(path)
  const part = `${path}.${randomBytes(4).toString('hex')}.part`
  const refuse = (error: NodeJS.ErrnoException): never => throwUnwritable(path, error)
  const file = await open(part, 'wx', 0o600).catch(refuse)
  const head = Buffer.concat([MAGIC, Buffer.from(`${JSON.stringify(header)}\n`)])
  const digest = createHash('sha256')
  const binding = headerHash(head)
  let bytes = 0
  let number = 0
  let inWork: Promise<Buffer>[] = []

  const write = async (buffer: Buffer): Promise<void> => {
    digest.update(buffer)
    bytes += buffer.length
    await writeAllBytes(file, buffer).catch(refuse)
  }
  const writeNext = async (last: boolean): Promise<void> => {
    const [next, ...others] = inWork
    inWork = others
    if (next === undefined) return
    await write(sealChunk(key, binding, { number, last, part: await next }))
    number += 1
  }
  const begin = (kind: PartKind, content: Buffer): void => {
    const packed = deflate(Buffer.concat([Buffer.of(BYTE_BY_PART_KIND[kind]), content]), { level: 1 })
    // An error of the compression is thrown where the chunk is awaited. Until then it must not count as an unhandled rejection.
    packed.catch(() => undefined)
    inWork.push(packed)
  }
  const abandon = async (): Promise<void> => {
    await file.close().catch(() => undefined)
    await rm(part, { force: true })
  }
  await write(head).catch(async (error: unknown) => {
    await abandon()
    throw error
  })
  return {
    async add(kind, content) {
      begin(kind, content)
      if (inWork.length > MOST_UNWRITTEN_PARTS) await writeNext(false)
    },
    async finish(end) {
      while (inWork.length > 0) await writeNext(false)
      begin('end', end)
      await writeNext(true)
      await file.sync().catch(refuse)
      await file.close()
      // A link never overwrites an existing file. A renaming would.
      await link(part, path).catch(async (error: NodeJS.ErrnoException) => {
        if (!NO_HARD_LINKS_ERROR_CODES.has(error.code)) return refuse(error)
        await refuseExistingFile(path)
        await rename(part, path).catch(refuse)
      })
      await rm(part, { force: true })
      await syncDirectory(dirname(path))
      return { bytes, sha256: digest.digest('hex') }
    },
    abandon,
  }
}

function throwUnwritable(path: string, { code }: NodeJS.ErrnoException): never {
  throw new StoreRefusal(`${path}: cannot be written (${code})`)
}

async function writeAllBytes(file: FileHandle, buffer: Buffer): Promise<void> {
  for (let at = 0; at < buffer.length; ) {
    const { bytesWritten } = await file.write(buffer, at)
    at += bytesWritten
  }
}
