/** Backups of the database. */

import { BackupDamaged, type BackupHeader } from '@rollcall/backup/backup/file-format'
import type { TableRowCount } from '@rollcall/backup/backup/manifest'
import { type CheckedBackup, checkBackup } from '@rollcall/backup/backup/read-backup'
import { writeBackup } from '@rollcall/backup/backup/write-backup'
import { BACKUP_SCHEMAS } from '@rollcall/backup/store/catalog'
import { MasterKeyError, type MasterKeySource } from '@rollcall/keys/master-key'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasVault } from '../deps.ts'
import { closed, instant, isoTime, text, wholeNumber } from '../members.ts'

const BackupPath = text('Path of the file.')

export const BACKUP_MEMBERS = {
  file: BackupPath,
  id: text('Id of the backup.'),
  snapshot_at: instant('The time whose state of the database it has.'),
  schema: text('The newest migration that had run.'),
  bytes: wholeNumber('Of the file.'),
  sha256: text('Of the file, in hexadecimal.'),
  rows: wholeNumber('In all tables.'),
  tables: Type.Array(
    closed({
      schema: oneOf(BACKUP_SCHEMAS, { description: 'main: where connections look for tables.' }),
      name: text('Name of the table.'),
      rows: wholeNumber('Rows.'),
    }),
  ),
} as const

/** Describes a backup by its header and the numbers of rows in its tables. */
export const describeBackup = (
  file: string,
  { header, bytes, sha256 }: { readonly header: BackupHeader; readonly bytes: number; readonly sha256: string },
  tables: readonly TableRowCount[],
) => ({
  file,
  id: header.id,
  snapshot_at: isoTime(new Date(header.snapshot_at)),
  schema: header.schema.at(-1) ?? '',
  bytes,
  sha256,
  rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  tables: tables.map((table) => ({ ...table })),
})

interface BackupDeps extends HasVault {
  readonly signal?: AbortSignal
}

/** Writes the tables, as they are at one moment, into an encrypted file. Servers go on meanwhile. */
export const makeBackup = defineAct(
  { name: 'backup', approval: 'never', input: closed({ file: BackupPath }), result: closed(BACKUP_MEMBERS) },
  async ({ db, vault, signal }: BackupDeps, { file }) => {
    const made = await writeBackup({ db, vault: await vault(), ...(signal && { signal }) }, file)
    return describeBackup(file, made, made.tables)
  },
)

export interface HasMasterKeys {
  readonly masterKeys: MasterKeySource
}

/** Reads a backup to its end, without a database, and checks that every byte is as it was written. */
export const verifyBackup = defineAdminFunction(
  { input: closed({ file: BackupPath }), result: closed(BACKUP_MEMBERS) },
  async ({ masterKeys }: HasMasterKeys, { file }) => {
    const backup = await openBackup(file, masterKeys)
    try {
      return describeBackup(file, backup, backup.end.tables)
    } finally {
      await backup.close()
    }
  },
)

/**
 * Verifies a backup to its end, and opens it.
 * @throws AdminRefusal the file is damaged, or the master key is missing or another one
 */
export async function openBackup(file: string, masterKeys: MasterKeySource): Promise<CheckedBackup> {
  return checkBackup(file, masterKeys).catch((error: unknown) => {
    throw toBackupRefusal(error)
  })
}

/** Turns the error of a damaged backup or of a master key into an AdminRefusal; any other error stays as it is. */
export function toBackupRefusal(error: unknown): unknown {
  return error instanceof BackupDamaged || error instanceof MasterKeyError
    ? new AdminRefusal(error.message, { cause: error })
    : error
}
