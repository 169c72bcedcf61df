/** The vault: secrets in the database are encrypted and decrypted here, and nowhere else. */
import type { Database } from '@rollcall/database/database'
import { DecryptionError, decryptValue, encryptValue, type MasterKey, type ValueContext } from './encrypted-value.ts'
import { MasterKeyError, type MasterKeySource } from './master-key.ts'
import {
  addFirstMasterKey,
  type EncryptedTable,
  type MasterKeyRecord,
  readMasterKey,
  replaceMasterKey,
  whileMasterKeyStays,
} from './store/master-keys.ts'

/**
 * Encrypts small secrets at rest, each for one place. A key management service can be used by implementing this
 * interface: the first byte of an encrypted value is the version of its master key, and `master_key` has a row of that
 * version.
 */
export interface Vault {
  /** @param purpose that of an `EncryptedTable`; a value encrypted for one purpose does not decrypt for another */
  encrypt(purpose: string, context: ValueContext, plaintext: Uint8Array): Promise<Buffer>
  /** @throws DecryptionError altered, moved from its place, or encrypted for another purpose or with another key */
  decrypt(purpose: string, context: ValueContext, encrypted: Uint8Array): Promise<Buffer>
}

/**
 * The vault of a database under the master key of `source`. If nothing is encrypted yet, the key of `source` becomes
 * the master key. When the master key is replaced, the vault uses the new one as soon as `source` has it.
 * @throws MasterKeyError the key is missing or wrong; no new one is made
 */
export async function createVault(db: Database, source: MasterKeySource): Promise<Vault> {
  let current = await currentMasterKey(db, source)
  return {
    async encrypt(purpose, context, plaintext) {
      // Encrypting is rare enough to ask the database first. It refuses a value that was encrypted with a replaced key.
      const record = await readMasterKey(db)
      if (record?.version !== current.version) current = await findMasterKey(db, source)
      return encryptValue(current, purpose, context, plaintext)
    },
    async decrypt(purpose, context, encrypted) {
      if (encrypted[0] !== current.version) current = await findMasterKey(db, source)
      return decryptValue(current, purpose, context, encrypted)
    },
  }
}

/**
 * A vault that does not ask the database, under the master key of this row.
 * @returns null: `source` does not have the key
 */
export async function vaultOfRecord(record: MasterKeyRecord, source: MasterKeySource): Promise<Vault | null> {
  const keys = (await source.candidates()).map((key) => ({ version: record.version, key }))
  const master = keys.find((candidate) => decrypts(candidate, record))
  if (master === undefined) return null
  return {
    encrypt: async (purpose, context, plaintext) => encryptValue(master, purpose, context, plaintext),
    decrypt: async (purpose, context, encrypted) => decryptValue(master, purpose, context, encrypted),
  }
}

/**
 * Decrypts with any of the master keys of `source`, whatever their versions. @throws DecryptionError none of them fits
 */
export async function decryptWithAny(
  source: MasterKeySource,
  purpose: string,
  context: ValueContext,
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

/**
 * The master key of the database. If `source` has it in a temporary place, it is moved to its own place.
 * @throws MasterKeyError
 */
export async function currentMasterKey(db: Database, source: MasterKeySource): Promise<MasterKey> {
  const current = await findMasterKey(db, source)
  await whileMasterKeyStays(db, () => source.settle(current.key))
  return current
}

/** The database and the files are not read in one moment: the key may be replaced between the two. */
const TRIES = 3

/** Finds the key of `source` that decrypts the values of this database. @throws MasterKeyError none does */
async function findMasterKey(db: Database, source: MasterKeySource): Promise<MasterKey> {
  for (let tries = 1; ; tries += 1) {
    const record = (await readMasterKey(db)) ?? (await firstMasterKey(db, source))
    const candidates = await source.candidates()
    const key = candidates.find((candidate) => decrypts({ version: record.version, key: candidate }, record))
    if (key !== undefined) return { version: record.version, key }
    if (tries === TRIES) throw new MasterKeyError(candidates.length === 0 ? missing(source) : wrong(source))
  }
}

async function firstMasterKey(db: Database, source: MasterKeySource): Promise<MasterKeyRecord> {
  const own = masterKeyRecord({ version: 1, key: await source.first() })
  await addFirstMasterKey(db, own)
  return (await readMasterKey(db)) ?? own
}

/** A version is one byte; 0 is not used. */
const VERSIONS = 255

/**
 * Replaces the master key by `source.next()`. If this is interrupted, the master key is either the old or the new one,
 * and `source` has both; the next call finishes the replacement. Servers with both keys keep working meanwhile.
 * @param others tables of packages above with encrypted values
 * @returns the version in use now, and the number of values that were encrypted anew: 0 when an earlier call had done
 * it
 * @throws MasterKeyError the current key is missing or wrong, or the next one is not given
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
    const next = { version: (old.version % VERSIONS) + 1, key }
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

const PURPOSE = 'check'
const CHECK = 'rollcall'
const placeOf = (version: number): ValueContext => ({ table: 'master_key', id: String(version) })

/** The row of a master key in the database. */
export function masterKeyRecord(master: MasterKey): MasterKeyRecord {
  const { version } = master
  return { version, check_value: encryptValue(master, PURPOSE, placeOf(version), Buffer.from(CHECK)) }
}

function decrypts(master: MasterKey, { version, check_value }: MasterKeyRecord): boolean {
  try {
    return decryptValue(master, PURPOSE, placeOf(version), check_value).toString() === CHECK
  } catch (error) {
    if (error instanceof DecryptionError) return false
    throw error
  }
}

const CONSEQUENCE = 'without it nothing that is encrypted there can be read (docs/keys.md)'

const missing = ({ remedy }: MasterKeySource): string =>
  `the master key of this database is missing: ${remedy}; ${CONSEQUENCE}`

const wrong = ({ name }: MasterKeySource): string => `${name} is not the master key of this database; ${CONSEQUENCE}`
