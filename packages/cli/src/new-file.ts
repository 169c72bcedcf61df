/** Writes new files for the user of the command. */
import { lstat, writeFile } from 'node:fs/promises'
import { CommandError } from './failure.ts'

/** Writes a new file that only its owner may read. @throws CommandError it exists, or cannot be written */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${path}: ${error.code === 'EEXIST' ? 'is there already' : error.message}`)
  })
}

/** Refuses a path at which a file exists. @throws CommandError */
export async function refuseExistingFile(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (found !== null) throw new CommandError(`${path}: is there already`)
}
