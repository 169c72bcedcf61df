/** Where master keys come from: the environment, or a file beside the embedded database. */
import type { KeyObject } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { MasterKeyError } from './master-key.ts'
import { readKeyFile, readOrMakeKeyFile } from './master-key-file.ts'

export interface MasterKeySource {
  /** How it is called in sentences: a variable or a path. */
  readonly name: string
  /** What to do when it gives no key. */
  readonly remedy: string
  /** What there is now, the likeliest first: more than one while the master key is being replaced. */
  candidates(): Promise<readonly KeyObject[]>
  /**
   * The key for a database in which nothing is sealed yet.
   * @throws MasterKeyError where the operator has to give it
   */
  first(): Promise<KeyObject>
  /**
   * The key that shall replace the current one; the same one however often a replacement is tried.
   * @throws MasterKeyError where the operator has to give it
   */
  next(): Promise<KeyObject>
  /** Whether the key that the database is sealed with is where it belongs. */
  isSettled(current: KeyObject): Promise<boolean>
  /** Puts it there. Nobody may replace the master key meanwhile (`whileMasterKeyStays`). */
  settle(current: KeyObject): Promise<void>
}

interface Given {
  /** ROLLCALL_MASTER_KEY */
  readonly masterKey: KeyObject | undefined
  /** ROLLCALL_NEW_MASTER_KEY */
  readonly newMasterKey: KeyObject | undefined
}

/** For a database that is not ours: we make no key that would lie somewhere on one of many machines. */
export function environmentSource({ masterKey, newMasterKey }: Given): MasterKeySource {
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
      throw new MasterKeyError(
        'ROLLCALL_NEW_MASTER_KEY is not set; set it to the new master key (openssl rand -base64 32)',
      )
    },
    isSettled: async () => true,
    settle: async () => undefined,
  }
}

/** @param path the file, in the data directory of the embedded database; `<path>.new` holds its successor */
export function fileSource(path: string, newMasterKey?: KeyObject): MasterKeySource {
  const successor = `${path}.new`
  return {
    name: path,
    remedy: `bring ${path} back, or set ROLLCALL_MASTER_KEY`,
    async candidates() {
      const found = [await readKeyFile(path), newMasterKey, await readKeyFile(successor)]
      return found.filter((key) => key !== null && key !== undefined)
    },
    first: () => readOrMakeKeyFile(path),
    next: async () => newMasterKey ?? readOrMakeKeyFile(successor),
    isSettled: async (current) => !(await isIn(successor, current)),
    async settle(current) {
      if (await isIn(successor, current)) await rename(successor, path)
    },
  }
}

const isIn = async (path: string, key: KeyObject): Promise<boolean> =>
  (await readKeyFile(path))?.equals(key) === true
