/** Replacing the master key: everything sealed is sealed anew, in one transaction. */
import type { Database } from '../store/db/database.ts'
import { whileMasterKeyStays } from '../store/keys/key-lock.ts'
import { replaceMasterKey } from '../store/keys/master-keys.ts'
import type { MasterKeySource } from './master-key-source.ts'
import { openValue, sealValue } from './sealed-value.ts'
import { findMasterKey, masterKeyRecord } from './vault.ts'

/** Versions are one byte, and 0 stands for none. */
const VERSIONS = 255

/**
 * Replaces the master key by `source.next()`. Interrupted anywhere, the old key or the new one is the database's and
 * `source` has both; called again it finishes. Servers that have both go on through it.
 * @returns the version that counts now, and how many values were sealed anew: 0 when an earlier call had done it
 * @throws MasterKeyError the current key is missing or wrong, or nobody says which the next is
 * @throws SealError something sealed is damaged; nothing is changed
 */
export async function rotateMasterKey(
  db: Database,
  source: MasterKeySource,
): Promise<{ version: number; resealed: number }> {
  return whileMasterKeyStays(db, () => rotate(db, source))
}

async function rotate(db: Database, source: MasterKeySource): Promise<{ version: number; resealed: number }> {
  const old = await findMasterKey(db, source)
  await source.settle(old.key)
  const key = await source.next()
  if (key.equals(old.key)) return { version: old.version, resealed: 0 }
  const next = { version: (old.version % VERSIONS) + 1, key }
  const resealed = await replaceMasterKey(
    db,
    old.version,
    masterKeyRecord(next),
    ({ table, purpose }, id, sealed) =>
      sealValue(next, purpose, { table, id }, openValue(old, purpose, { table, id }, sealed)),
  )
  await source.settle(key)
  return { version: next.version, resealed }
}
