/**
 * Reads and makes master keys of 32 random bytes. In memory, a key is a KeyObject; its bytes are taken out only to write
 * its file. A key comes from the environment, or from a file beside the embedded database that only its owner can read.
 */
import { createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto'
import { link, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDataDirectory, syncDirectory } from '@rollcall/base/shared/data-directory'

const MASTER_KEY_BYTES = 32

/** The master key is missing or wrong. The message is for the operator and has no secret. */
export class MasterKeyError extends Error {
  override readonly name = 'MasterKeyError'
}

/** Reads a key of 32 bytes, as base64, base64url (with or without padding) or hexadecimal; null for any other text. */
export function parseMasterKey(text: string): KeyObject | null {
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : parseBase64(text)
  return bytes?.length === MASTER_KEY_BYTES ? createSecretKey(bytes) : null
}

function parseBase64(text: string): Buffer | null {
  const url = text.replace(/=$/, '').replaceAll('+', '-').replaceAll('/', '_')
  const bytes = Buffer.from(url, 'base64url')
  // Node ignores characters that are not base64. A text with such characters must not become another key.
  return bytes.toString('base64url') === url ? bytes : null
}

export const generateMasterKey = (): KeyObject => createSecretKey(randomBytes(MASTER_KEY_BYTES))

/** The text of a key for its file: base64url. */
export const masterKeyText = (key: KeyObject): string => key.export().toString('base64url')

export interface MasterKeySource {
  /** The name of the place in messages: a variable or a path. */
  readonly name: string
  /** The advice to the operator when the key is missing. */
  readonly remedy: string
  /** The keys in this place, the most likely first. There are several while the master key is being replaced. */
  candidates(): Promise<readonly KeyObject[]>
  /**
   * Reads the key for a database that has no encrypted values yet; a missing key file is made.
   * @throws MasterKeyError the environment has no key, or the key file cannot be read, has no key or is open to others
   */
  first(): Promise<KeyObject>
  /** The key that will replace the current one, the same at each call. @throws MasterKeyError the operator gave none */
  next(): Promise<KeyObject>
  /**
   * If the file `<path>.new` has the current key, renames it to `<path>`. The earlier key stays in `<path>.before-<time>`; the
   * time is that of the file `<path>.new`. Does nothing for keys from the environment. Call `settle` inside
   * `whileMasterKeyStays`.
   */
  settle(current: KeyObject): Promise<void>
}

interface EnvironmentKeys {
  /** The key in ROLLCALL_MASTER_KEY. */
  readonly masterKey: KeyObject | undefined
  /** The key in ROLLCALL_NEW_MASTER_KEY. */
  readonly newMasterKey: KeyObject | undefined
}

/**
 * The environment as the place of the master key. It never makes a key: other machines that use the same database would not have
 * the key.
 */
export function masterKeyFromEnvironment({ masterKey, newMasterKey }: EnvironmentKeys): MasterKeySource {
  return {
    name: 'ROLLCALL_MASTER_KEY',
    remedy: 'set ROLLCALL_MASTER_KEY',
    candidates: async () => [masterKey, newMasterKey].filter((key) => key !== undefined),
    async first() {
      if (masterKey !== undefined) return masterKey
      throw new MasterKeyError(
        'ROLLCALL_MASTER_KEY is not set, and with DATABASE_URL there is no other place for the master key: ' +
          'make one with openssl rand -base64 32, and keep a copy apart from the backups of the database',
      )
    },
    async next() {
      if (newMasterKey !== undefined) return newMasterKey
      throw new MasterKeyError('ROLLCALL_NEW_MASTER_KEY is not set; set it to the new master key (openssl rand -base64 32)')
    },
    settle: async () => undefined,
  }
}

/**
 * A file as the place of the master key.
 * @param path the file, in the data directory of the embedded database; `<path>.new` has the next key
 */
export function masterKeyFromFile(path: string, newMasterKey?: KeyObject): MasterKeySource {
  const successor = `${path}.new`
  return {
    name: path,
    remedy: `bring ${path} back, or set ROLLCALL_MASTER_KEY`,
    async candidates() {
      const found = [await readMasterKeyFile(path), newMasterKey, await readMasterKeyFile(successor)]
      return found.filter((key) => key !== null && key !== undefined)
    },
    first: () => readOrMakeMasterKeyFile(path),
    next: async () => newMasterKey ?? readOrMakeMasterKeyFile(successor),
    async settle(current) {
      if (!(await readMasterKeyFile(successor))?.equals(current)) return
      // Earlier backups and lines of the journal are encrypted under the earlier key. The file `path` may be its only copy.
      const time = (await stat(successor)).mtime.toISOString().replace(/\W/g, '')
      await link(path, `${path}.before-${time}`).catch((error: NodeJS.ErrnoException) => {
        // EEXIST: a process that was killed here had made this link. ENOENT: there is no earlier file.
        if (error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
      })
      await rename(successor, path)
    },
  }
}

/**
 * Reads the key from a file; null when there is no file.
 * @throws MasterKeyError it cannot be read, others than its owner may read or write it, or it has no key
 */
export async function readMasterKeyFile(path: string): Promise<KeyObject | null> {
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

/** Reads the key from a file, and makes file and key if there is none. Several processes at once get the same key. */
export async function readOrMakeMasterKeyFile(path: string): Promise<KeyObject> {
  const there = await readMasterKeyFile(path)
  if (there !== null) return there
  const unfinished = `${path}.${randomUUID()}`
  const key = generateMasterKey()
  await makeDataDirectory(dirname(path))
  try {
    await writeDurably(unfinished, `${masterKeyText(key)}\n`)
    // Unlike a rename, a link does not replace an existing file.
    await link(unfinished, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(unfinished, { force: true })
  }
  await syncDirectory(dirname(path))
  return (await readMasterKeyFile(path)) ?? key
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
