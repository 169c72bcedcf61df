/** Writes the file of rejected lines: for each a line of JSON with its number and the reason, never the record. */
import { type FileHandle, lstat, open, rm, truncate } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { ImportError, type ImportSource } from './source.ts'

/** A rejected line, by its number, with the reason. */
export interface RejectedLine {
  readonly line: number
  readonly reason: string
}

export interface RejectsFile {
  /** Appends rejected lines; resolves when they are on disk. */
  append(rejects: readonly RejectedLine[]): Promise<void>
  /** The length of the rejects file, in bytes. */
  readonly bytes: number
  close(): Promise<void>
}

const NO_REJECTS_FILE: RejectsFile = { append: async () => undefined, bytes: 0, close: async () => undefined }

/**
 * Opens a rejects file that only its owner can read. If an interrupted import continues, the file loses the rejects that were
 * written after the last committed batch. A new import deletes an old file at once, and makes a new file at its first reject.
 * @param path null: rejects are not written
 * @param bytes the length of the file at the last committed batch
 * @throws ImportError the path cannot be written
 */
export async function openRejects(path: string | null, bytes: number): Promise<RejectsFile> {
  if (path === null) return NO_REJECTS_FILE
  const found = await lstat(path).catch(() => null)
  // Only a regular file is cut or removed: the path may be /dev/stderr.
  if (found?.isFile() && bytes === 0) await rm(path).catch(throwUnwritableRejectsFile)
  else if (found?.isFile() && found.size > bytes) await truncate(path, bytes).catch(throwUnwritableRejectsFile)
  let handle: FileHandle | null = null
  // The file may be shorter than at the last batch: somebody has deleted or cut it since.
  let length = Math.min(bytes, found?.size ?? 0)
  return {
    async append(rejects) {
      if (rejects.length === 0) return
      handle ??= await openFile(path).catch(throwUnwritableRejectsFile)
      const lines = rejects.map(({ line, reason }) => `${JSON.stringify({ line, reason })}\n`)
      const text = Buffer.from(lines.join(''))
      await handle.appendFile(text)
      length += text.length
      if ((await handle.stat()).isFile()) await handle.datasync()
    },
    get bytes() {
      return length
    },
    async close() {
      await handle?.close()
    },
  }
}

async function openFile(path: string): Promise<FileHandle> {
  const handle = await open(path, 'a', 0o600)
  // `open` sets the mode only of a new file, so an existing file gets its mode here.
  if ((await handle.stat()).isFile()) await handle.chmod(0o600)
  return handle
}

function throwUnwritableRejectsFile(error: NodeJS.ErrnoException): never {
  throw new ImportError(`the file of rejected lines cannot be written (${error.code}); name another with --rejects`)
}

/**
 * The path of the rejects file: the one that is given, or one beside the imported file; null: no file.
 * @throws ImportError the given path is that of the source
 */
export function rejectsPathFor(source: string | Readable, opened: ImportSource, asked: string | null | undefined): string | null {
  if (typeof source !== 'string') return asked ?? null
  if (asked && resolve(asked) === resolve(source))
    throw new ImportError('--rejects names the file that is imported; name another file')
  if (asked !== undefined) return asked
  return opened.identity === null ? null : `${source}.rejects.ndjson`
}
