/** A master key in a file that only its owner reads. */
import { type KeyObject, randomUUID } from 'node:crypto'
import { link, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDataDirectory } from '../shared/data-directory.ts'
import { MasterKeyError, masterKeyText, newMasterKey, parseMasterKey } from './master-key.ts'

/**
 * The key in the file; null when there is no such file.
 * @throws MasterKeyError it cannot be read, others may read it, it holds no key
 */
export async function readKeyFile(path: string): Promise<KeyObject | null> {
  try {
    const { mode } = await stat(path)
    if ((mode & 0o077) !== 0) {
      throw new MasterKeyError(`${path} may be read or written by others than its owner: chmod 600 ${path}`)
    }
    const key = parseMasterKey((await readFile(path, 'utf8')).trim())
    if (key === null) throw new MasterKeyError(`${path} holds no master key: restore it from a backup`)
    return key
  } catch (error) {
    if (error instanceof MasterKeyError) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    if (code === 'ENOENT') return null
    throw new MasterKeyError(`${path}, which holds the master key, cannot be read (${code})`)
  }
}

/** The key in the file, made now if there is none; when several processes make it at once, they all get the same. */
export async function readOrMakeKeyFile(path: string): Promise<KeyObject> {
  const there = await readKeyFile(path)
  if (there !== null) return there
  const unfinished = `${path}.${randomUUID()}`
  const key = newMasterKey()
  await makeDataDirectory(dirname(path))
  try {
    await writeDurably(unfinished, `${masterKeyText(key)}\n`)
    // Unlike a rename it replaces nothing.
    await link(unfinished, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(unfinished, { force: true })
  }
  await syncDirectory(dirname(path))
  return (await readKeyFile(path)) ?? key
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** So that a power cut does not forget the name. Not every file system can. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  try {
    await directory.sync().catch(() => undefined)
  } finally {
    await directory.close()
  }
}
