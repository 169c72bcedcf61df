/** The vault: what is secret in the database is sealed and opened here, and nowhere else. */
import type { Database } from '../store/db/database.ts'
import { whileMasterKeyStays } from '../store/keys/key-lock.ts'
import { addFirstMasterKey, type MasterKeyRecord, readMasterKey } from '../store/keys/master-keys.ts'
import { MasterKeyError } from './master-key.ts'
import type { MasterKeySource } from './master-key-source.ts'
import { type MasterKey, openValue, type SealContext, SealError, sealValue } from './sealed-value.ts'

/**
 * Seals small secrets for one place each. A key management service takes part by implementing this: the first byte
 * of what `seal` gives is the version of its master key, and `master_key` has a row of that version.
 */
export interface Vault {
  /** @param purpose one of `SEALED`; a value sealed for one purpose does not open for another */
  seal(purpose: string, context: SealContext, plaintext: Uint8Array): Promise<Buffer>
  /** @throws SealError altered, moved from its place, or sealed for another purpose or with another key */
  open(purpose: string, context: SealContext, sealed: Uint8Array): Promise<Buffer>
}

/**
 * The vault of a database under the master key of `source`, which becomes the database's where nothing is sealed
 * yet. It follows the database when the master key is replaced and `source` has the new one.
 * @throws MasterKeyError missing or wrong; nothing is made new in its place
 */
export async function createVault(db: Database, source: MasterKeySource): Promise<Vault> {
  let current = await currentMasterKey(db, source)
  return {
    async seal(purpose, context, plaintext) {
      // Sealing is rare enough to ask first; the database refuses what is sealed with a replaced key.
      const record = await readMasterKey(db)
      if (record?.version !== current.version) current = await findMasterKey(db, source)
      return sealValue(current, purpose, context, plaintext)
    },
    async open(purpose, context, sealed) {
      if (sealed[0] !== current.version) current = await findMasterKey(db, source)
      return openValue(current, purpose, context, sealed)
    },
  }
}

/**
 * The key that the database is sealed with, and `source` brought to it.
 * @throws MasterKeyError
 */
export async function currentMasterKey(db: Database, source: MasterKeySource): Promise<MasterKey> {
  const current = await findMasterKey(db, source)
  if (await source.isSettled(current.key)) return current
  await whileMasterKeyStays(db, () => source.settle(current.key))
  return current
}

/** Database and files are not read in one moment: somebody may replace the key between the two. */
const TRIES = 3

/** @throws MasterKeyError */
export async function findMasterKey(db: Database, source: MasterKeySource): Promise<MasterKey> {
  for (let tries = 1; ; tries += 1) {
    const record = (await readMasterKey(db)) ?? (await firstMasterKey(db, source))
    const candidates = await source.candidates()
    const key = candidates.find((candidate) => opens({ version: record.version, key: candidate }, record))
    if (key !== undefined) return { version: record.version, key }
    if (tries === TRIES) throw new MasterKeyError(candidates.length === 0 ? missing(source) : wrong(source))
  }
}

async function firstMasterKey(db: Database, source: MasterKeySource): Promise<MasterKeyRecord> {
  const own = masterKeyRecord({ version: 1, key: await source.first() })
  await addFirstMasterKey(db, own)
  return (await readMasterKey(db)) ?? own
}

const PURPOSE = 'check'
const CHECK = 'rollcall'
const placeOf = (version: number): SealContext => ({ table: 'master_key', id: String(version) })

/** What the database keeps of a master key. */
export function masterKeyRecord(master: MasterKey): MasterKeyRecord {
  const { version } = master
  return { version, check_value: sealValue(master, PURPOSE, placeOf(version), Buffer.from(CHECK)) }
}

function opens(master: MasterKey, { version, check_value }: MasterKeyRecord): boolean {
  try {
    return openValue(master, PURPOSE, placeOf(version), check_value).toString() === CHECK
  } catch (error) {
    if (error instanceof SealError) return false
    throw error
  }
}

const STAYS_CLOSED = 'without it what is sealed there stays closed (docs/keys.md)'

const missing = ({ remedy }: MasterKeySource): string =>
  `the master key of this database is missing: ${remedy}; ${STAYS_CLOSED}`

const wrong = ({ name }: MasterKeySource): string =>
  `${name} is not the master key that this database is sealed with; ${STAYS_CLOSED}`
