/** Writes new files for the user of the command. */
import { access, constants, lstat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { systemReason } from '@rollcall/base/shared/system-error'
import { CommandError } from './failure.ts'

/** Writes a new file that only its owner may read. @throws CommandError it exists, or cannot be written */
export async function writeNewFile(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`${path}: ${error.code === 'EEXIST' ? 'is there already' : error.message}`)
  })
}

/** Refuses a path at which a file exists, or whose folder cannot be written to. @throws CommandError */
export async function refuseUnwritablePath(path: string): Promise<void> {
  // With `/.` the check fails if the path of the folder is a file.
  await access(`${dirname(path)}/.`, constants.W_OK).catch((error: unknown) => {
    throw new CommandError(`${path}: ${systemReason(error)}`)
  })
  const found = await lstat(path).catch(() => null)
  if (found !== null) throw new CommandError(`${path}: is there already`)
}
