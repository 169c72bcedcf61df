/** Folders that are made once in a run, for the tests of all workers. */
import { existsSync } from 'node:fs'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'

/**
 * Two workers may make it at the same time: one of them is faster, and both use its folder.
 * @param make fills a folder, which gets its name later
 * @returns the path of the folder
 */
export async function madeOnce(name: string, make: (fresh: string) => unknown): Promise<string> {
  const folder = join(inject('programs').folder, name)
  if (existsSync(folder)) return folder
  const fresh = await mkdtemp(`${folder}-`)
  await make(fresh)
  await rename(fresh, folder).catch((error) => {
    if (!existsSync(folder)) throw error
    return rm(fresh, { recursive: true, force: true })
  })
  return folder
}
