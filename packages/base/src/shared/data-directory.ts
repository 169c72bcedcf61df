/** Makes the folder of ROLLCALL_DATA, which has the embedded database, the master key and the demo's files. */
import { access, constants, mkdir, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** The folder cannot be used. The message is for the person who started Rollcall. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError'
}

/**
 * Makes the folder, and the folders above it that are missing.
 * @throws DataDirectoryError a folder cannot be made, or the folder itself is not writable
 */
export async function makeDataDirectory(directory: string): Promise<void> {
  try {
    await makeMissingFolders(resolve(directory))
    await access(directory, constants.W_OK | constants.X_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new DataDirectoryError(
      `The data folder ${directory} cannot be written (${code}). ` +
        'Set ROLLCALL_DATA to a folder in which this user can make files.',
    )
  }
}

/**
 * Makes the missing folders of a path, the topmost first. `mkdir` with `recursive` is not used: Node's call never ends where
 * the file system refuses a new folder with ENOENT, as /proc does.
 */
async function makeMissingFolders(directory: string): Promise<void> {
  const missing: string[] = []
  for (let at = directory; !(await isDirectory(at)); at = dirname(at)) missing.push(at)
  for (const path of missing.reverse()) {
    await mkdir(path).catch((error: NodeJS.ErrnoException) => {
      // EEXIST: another process made the folder first.
      if (error.code !== 'EEXIST') throw error
    })
  }
}

/** True for a directory; false when the path does not exist. Throws ENOTDIR when `path` is a file, and other errors of `stat`. */
async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null) return false
  if (found.isDirectory()) return true
  throw Object.assign(new Error('it is a file'), { code: 'ENOTDIR' })
}

/**
 * Writes the names in a directory to the disk, so that a power cut does not lose new files. A failure to write them is
 * ignored, because some file systems cannot do it.
 */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync().catch(() => undefined)
  } finally {
    await directory.close()
  }
}
