/** The vault: it encrypts secrets for the database with the master key, and decrypts them. */
import type { Database } from '@rollcall/database/database'
import { DecryptionError, decryptValue, encryptValue, type MasterKey, type ValueBinding } from './encrypted-value.ts'
import { MasterKeyError, type MasterKeySource } from './master-key.ts'
import {
  addFirstMasterKey,
  type EncryptedTable,
  findMasterKeyRecord,
  type MasterKeyRecord,
  replaceMasterKey,
  whileMasterKeyStays,
} from './store/master-keys.ts'

/**
 * Encrypts small secrets, each bound to its row. Another implementation may use a key management service, if the first
 * byte of an encrypted value is the version of its master key, and `master_key` has a row with that version.
 */
export interface Vault {
  /** Encrypts a secret. @param purpose as in `EncryptedTable`; the value decrypts for the same purpose only */
  encrypt(purpose: string, context: ValueBinding, plaintext: Uint8Array): Promise<Buffer>
  /** Decrypts a secret. @throws DecryptionError altered, moved, or encrypted for another purpose or with another key */
  decrypt(purpose: string, context: ValueBinding, encrypted: Uint8Array): Promise<Buffer>
}

/**
 * Opens the vault of a database, with the master key from `source`. If nothing is encrypted yet, `source` provides the
 * first master key. When the master key is replaced, the vault uses the new one as soon as `source` has it.
 * @throws MasterKeyError the key is missing or wrong; no other key is made
 */
export async function createVault(db: Database, source: MasterKeySource): Promise<Vault> {
  let current = await currentMasterKey(db, source)
  return {
    async encrypt(purpose, context, plaintext) {
      // Encryption is rare, so the version is read from the database each time. The database refuses a value that a
      // replaced key has encrypted.
      const record = await findMasterKeyRecord(db)
      if (record?.version !== current.version) current = await findMasterKey(db, source)
      return encryptValue(current, purpose, context, plaintext)
    },
    async decrypt(purpose, context, encrypted) {
      if (encrypted[0] !== current.version) current = await findMasterKey(db, source)
      return decryptValue(current, purpose, context, encrypted)
    },
  }
}

/** Makes a vault for this row of `master_key`. It never asks the database. Null when `source` does not have the key. */
export async function vaultOfRecord(record: MasterKeyRecord, source: MasterKeySource): Promise<Vault | null> {
  const keys = (await source.candidates()).map((key) => ({ version: record.version, key }))
  const master = keys.find((candidate) => isMasterKeyOfRecord(candidate, record))
  if (master === undefined) return null
  return {
    encrypt: async (purpose, context, plaintext) => encryptValue(master, purpose, context, plaintext),
    decrypt: async (purpose, context, encrypted) => decryptValue(master, purpose, context, encrypted),
  }
}

/** Decrypts with any master key of `source`, whatever its version. @throws DecryptionError none fits */
export async function decryptWithAnyMasterKey(
  source: MasterKeySource,
  purpose: string,
  context: ValueBinding,
  encrypted: Uint8Array,
): Promise<Buffer> {
  const version = encrypted[0] ?? 0
  for (const key of await source.candidates()) {
    try {
      return decryptValue({ version, key }, purpose, context, encrypted)
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
    }
  }
  throw new DecryptionError('an encrypted value was altered, moved, or encrypted with another master key')
}

/** Returns the master key of the database. If `<path>.new` has it, this file is renamed to `<path>`. @throws MasterKeyError */
export async function currentMasterKey(db: Database, source: MasterKeySource): Promise<MasterKey> {
  const current = await findMasterKey(db, source)
  await whileMasterKeyStays(db, () => source.settle(current.key))
  return current
}

/** How often the database and the source of the key are read at most: the master key may be replaced between the two reads. */
const MOST_FIND_TRIES = 3

/** Finds the key of `source` that decrypts the values of this database. @throws MasterKeyError none does */
async function findMasterKey(db: Database, source: MasterKeySource): Promise<MasterKey> {
  for (let tries = 1; ; tries += 1) {
    const record = (await findMasterKeyRecord(db)) ?? (await ensureFirstMasterKey(db, source))
    const candidates = await source.candidates()
    const key = candidates.find((candidate) => isMasterKeyOfRecord({ version: record.version, key: candidate }, record))
    if (key !== undefined) return { version: record.version, key }
    if (tries === MOST_FIND_TRIES)
      throw new MasterKeyError(
        candidates.length === 0
          ? `the master key of this database is missing: ${source.remedy}; ${LOST_KEY_CONSEQUENCE}`
          : `${source.name} is not the master key of this database; ${LOST_KEY_CONSEQUENCE}`,
      )
  }
}

async function ensureFirstMasterKey(db: Database, source: MasterKeySource): Promise<MasterKeyRecord> {
  const own = masterKeyRecord({ version: 1, key: await source.first() })
  await addFirstMasterKey(db, own)
  return (await findMasterKeyRecord(db)) ?? own
}

/** The number of versions of master keys: a version is one byte, and 0 is not used. */
const MASTER_KEY_VERSION_COUNT = 255

/**
 * Replaces the master key by `source.next()`. After an interruption, the database has the old or the new master key, `source` has
 * both keys, and the next call finishes the work. Servers that have both keys go on.
 * @param others tables of other packages that have encrypted values
 * @returns the current version, and the number of values that were encrypted again; 0 when an earlier call had encrypted them
 * @throws MasterKeyError the current key is missing or wrong, or the next key is missing
 * @throws DecryptionError an encrypted value is damaged; nothing is changed
 */
export async function rotateMasterKey(
  db: Database,
  source: MasterKeySource,
  others: readonly EncryptedTable[] = [],
): Promise<{ version: number; resealed: number }> {
  return whileMasterKeyStays(db, async () => {
    const old = await findMasterKey(db, source)
    await source.settle(old.key)
    const key = await source.next()
    if (key.equals(old.key)) return { version: old.version, resealed: 0 }
    const next = { version: (old.version % MASTER_KEY_VERSION_COUNT) + 1, key }
    const resealed = await replaceMasterKey(
      db,
      old.version,
      masterKeyRecord(next),
      ({ table, purpose }, id, encrypted) =>
        encryptValue(next, purpose, { table, id }, decryptValue(old, purpose, { table, id }, encrypted)),
      others,
    )
    await source.settle(key)
    return { version: next.version, resealed }
  })
}

const MASTER_KEY_CHECK_PURPOSE = 'check'
const MASTER_KEY_CHECK_TEXT = 'rollcall'
const masterKeyCheckBinding = (version: number): ValueBinding => ({ table: 'master_key', id: String(version) })

/** The stored form of a master key: its version and a value that checks it. */
export function masterKeyRecord(master: MasterKey): MasterKeyRecord {
  const { version } = master
  return {
    version,
    check_value: encryptValue(
      master,
      MASTER_KEY_CHECK_PURPOSE,
      masterKeyCheckBinding(version),
      Buffer.from(MASTER_KEY_CHECK_TEXT),
    ),
  }
}

function isMasterKeyOfRecord(master: MasterKey, { version, check_value }: MasterKeyRecord): boolean {
  try {
    return (
      decryptValue(master, MASTER_KEY_CHECK_PURPOSE, masterKeyCheckBinding(version), check_value).toString() ===
      MASTER_KEY_CHECK_TEXT
    )
  } catch (error) {
    if (error instanceof DecryptionError) return false
    throw error
  }
}

const LOST_KEY_CONSEQUENCE = 'without it nothing that is encrypted there can be read (docs/keys.md)'
