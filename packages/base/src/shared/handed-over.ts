/** Files that the service and the commands of operators share. */
import type { FileHandle } from 'node:fs/promises'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Gives a new, empty file that root made to the owner of its folder. A command that root runs may make a file before
 * the service does, and the service runs as another user, who could not write it.
 */
export async function handOver(file: FileHandle, path: string): Promise<void> {
  if (process.getuid?.() !== 0 || (await file.stat()).size > 0) return
  const { uid, gid } = await stat(dirname(path))
  await file.chown(uid, gid)
}
