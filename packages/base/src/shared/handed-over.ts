/** Gives new files that root made to the owner of their folder, so that the service can write them too. */
import type { FileHandle } from 'node:fs/promises'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Gives a new, empty file that root made to the owner of its folder. Root may run a command that makes a file before
 * the service does. The service runs as another user, who could not write that file.
 */
export async function giveToFolderOwner(file: FileHandle, path: string): Promise<void> {
  if (process.getuid?.() !== 0 || (await file.stat()).size > 0) return
  const { uid, gid } = await stat(dirname(path))
  await file.chown(uid, gid)
}
