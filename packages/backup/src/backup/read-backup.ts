/** Reads the tables of a backup. The file can be read twice: first to check it, then for its rows. */
import type { KeyObject } from 'node:crypto'
import type { MasterKeySource } from '@rollcall/keys/master-key'
import type { CatalogTable } from '../store/catalog.ts'
import { openBackupKey } from './backup-key.ts'
import { BackupDamaged, type BackupHeader } from './file-format.ts'
import type { BackupEndPart, BackupManifest } from './manifest.ts'
import { type OpenBackup, openBackupFile } from './read-file.ts'

export interface CheckedBackup {
  readonly header: BackupHeader
  readonly manifest: BackupManifest
  readonly end: BackupEndPart
  readonly bytes: number
  readonly sha256: string
  /** Yields the tables in the order of the file, with their rows in the text format of COPY. @throws BackupDamaged */
  tables(): AsyncGenerator<{ readonly table: CatalogTable; readonly rows: AsyncGenerator<Buffer> }>
  close(): Promise<void>
}

/** Reads a backup to its end, which verifies every byte. @throws StoreRefusal, BackupDamaged, MasterKeyError */
export async function checkBackup(path: string, source: MasterKeySource): Promise<CheckedBackup> {
  const file = await openBackupFile(path)
  try {
    const key = await openBackupKey(file.header, source)
    let manifest: BackupManifest | null = null
    let end: BackupEndPart | null = null
    for await (const { kind, content } of file.parts(key)) {
      if (kind === 'manifest') manifest = JSON.parse(content.toString())
      if (kind === 'end') end = JSON.parse(content.toString())
    }
    if (manifest === null || end === null) throw new BackupDamaged('the file is damaged: it has no manifest')
    const { tables } = manifest
    return {
      header: file.header,
      manifest,
      end,
      bytes: file.bytes,
      sha256: await file.sha256(),
      tables: () => readTablesIn(file, key, tables),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function* readTablesIn(file: OpenBackup, key: KeyObject, tables: readonly CatalogTable[]) {
  const parts = file.parts(key)
  let next = await parts.next()
  async function* rows(): AsyncGenerator<Buffer> {
    for (next = await parts.next(); !next.done && next.value.kind === 'rows'; next = await parts.next()) {
      yield next.value.content
    }
  }
  while (!next.done) {
    if (next.value.kind === 'table') {
      const { index } = JSON.parse(next.value.content.toString()) as { readonly index: number }
      const table = tables[index]
      if (table === undefined) throw new BackupDamaged('the file is damaged: it names a table that it does not list')
      const content = rows()
      yield { table, rows: content }
      // The rows that the caller has not read are skipped.
      for await (const _ of content);
    } else next = await parts.next()
  }
}
