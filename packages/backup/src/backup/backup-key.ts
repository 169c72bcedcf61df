/**
 * The random key of one backup file. The header of the file has the key, encrypted with the master key: who can restore
 * has the master key anyway.
 */
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { DecryptionError } from '@rollcall/keys/encrypted-value'
import { MasterKeyError, type MasterKeySource } from '@rollcall/keys/master-key'
import { type Vault, vaultOfRecord } from '@rollcall/keys/vault'
import { BackupDamaged, type BackupHeader } from './file-format.ts'

const BACKUP_KEY_PURPOSE = 'backup key'
const backupKeyBinding = (id: string) => ({ table: 'backup', id })

/** Makes the random key of one backup file. `sealed` is this key, encrypted with the master key, for the header. */
export async function newBackupKey(vault: Vault, id: string): Promise<{ readonly key: KeyObject; readonly sealed: Buffer }> {
  const bytes = randomBytes(32)
  const sealed = await vault.encrypt(BACKUP_KEY_PURPOSE, backupKeyBinding(id), bytes)
  const key = createSecretKey(bytes)
  bytes.fill(0)
  return { key, sealed }
}

/**
 * Decrypts the key of a backup file.
 * @throws MasterKeyError the master key is missing, or is not that of the backup
 * @throws BackupDamaged the header was changed
 */
export async function openBackupKey(header: BackupHeader, source: MasterKeySource): Promise<KeyObject> {
  const { id, key, master_key } = header
  const record = { version: master_key.version, check_value: Buffer.from(master_key.check_value, 'base64') }
  const vault = await vaultOfRecord(record, source)
  if (vault === null) {
    throw new MasterKeyError(
      `the backup was made under another master key: ${source.remedy} as it was at that time (docs/backup.md)`,
    )
  }
  try {
    return createSecretKey(await vault.decrypt(BACKUP_KEY_PURPOSE, backupKeyBinding(id), Buffer.from(key, 'base64')))
  } catch (error) {
    if (error instanceof DecryptionError) throw new BackupDamaged('the file is damaged: its header was changed')
    throw error
  }
}
