/** A file that only its owner may read, and that is never seen half written. */
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDataDirectory } from '@rollcall/server'

/** Replaces the file, or makes it and the directories above it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await makeDataDirectory(dirname(path))
  const unfinished = `${path}.new`
  await rm(unfinished, { force: true })
  // Exclusively: whatever stands there again was put there by somebody else, with a mode of their choice.
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, path)
}
