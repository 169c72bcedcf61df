/** Makes a backup of the tables in one snapshot of the database. Servers may run meanwhile; little memory is used. */
import { randomUUID } from 'node:crypto'
import type { Database } from '@rollcall/database/database'
import { ensureDatabaseUuid, hasOpenLineTable, type JournalPosition, readJournalPosition } from '@rollcall/database/journal-head'
import { StoreRefusal } from '@rollcall/database/refusal'
import { NO_STATEMENT_TIMEOUT_SQL, withTransaction } from '@rollcall/database/transaction'
import { findMasterKeyRecord, type MasterKeyRecord } from '@rollcall/keys/store/master-keys'
import type { Vault } from '@rollcall/keys/vault'
import type { PoolClient } from 'pg'
import { type CatalogTable, listSequences, listTables, lockTableDefinitions } from '../store/catalog.ts'
import { copyRowsOut } from '../store/copy.ts'
import { newBackupKey } from './backup-key.ts'
import { type BackupHeader, PART_BYTES } from './file-format.ts'
import type { BackupEndPart, BackupManifest, TableRowCount } from './manifest.ts'
import { type BackupFile, createBackupFile, refuseExistingFile } from './write-file.ts'

export interface BackupResult {
  readonly header: BackupHeader
  readonly bytes: number
  readonly sha256: string
  readonly tables: readonly TableRowCount[]
}

interface WriteBackupDeps {
  readonly db: Database
  readonly vault: Vault
  /** Aborts the backup; the unfinished file is then removed. */
  readonly signal?: AbortSignal
}

/**
 * Writes a backup as the application role. Reads the tables in one transaction, without locking rows.
 * @throws StoreRefusal the file exists already or cannot be written, the master key was replaced at the same time, or `signal`
 * was aborted
 */
export async function writeBackup({ db, vault, signal }: WriteBackupDeps, path: string): Promise<BackupResult> {
  await refuseExistingFile(path)
  if (await hasOpenLineTable(db.pool)) await ensureDatabaseUuid(db.pool)
  return withTransaction(
    db.pool,
    async (client) => {
      await client.query(NO_STATEMENT_TIMEOUT_SQL)
      await lockTableDefinitions(client, await listTables(client))
      const snapshot = await readHeaderFacts(client)
      const { key, header } = await makeKeyAndHeader(vault, snapshot)
      const file = await createBackupFile(path, header, key)
      try {
        const tables = await writeTables(client, file, signal)
        const end: BackupEndPart = { tables, sequences: await listSequences(client) }
        const written = await file.finish(Buffer.from(JSON.stringify(end)))
        return { header, tables, ...written }
      } catch (error) {
        await file.abandon()
        throw error
      }
    },
    'begin isolation level repeatable read, read only',
  )
}

interface HeaderFacts {
  readonly at: Date
  readonly snapshot: string
  readonly schema: readonly string[]
  readonly master: MasterKeyRecord | null
  readonly journal: JournalPosition
}

async function readHeaderFacts(client: PoolClient): Promise<HeaderFacts> {
  const { rows } = await client.query<{ at: Date; snapshot: string; schema: string[] }>(
    `select now() as at, pg_current_snapshot()::text as snapshot,
      array(select name::text from rollcall_migration order by name) as schema`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no snapshot')
  return { ...row, master: await findMasterKeyRecord({ pool: client }), journal: await readJournalPosition(client) }
}

async function makeKeyAndHeader(vault: Vault, { at, snapshot, schema, master, journal }: HeaderFacts) {
  const id = randomUUID()
  const { key, sealed } = await newBackupKey(vault, id)
  if (master === null || sealed[0] !== master.version) {
    throw new StoreRefusal('the master key was replaced at the same time; run this command again')
  }
  const header: BackupHeader = {
    format: 1,
    id,
    snapshot_at: at.toISOString(),
    snapshot,
    schema,
    master_key: { version: master.version, check_value: master.check_value.toString('base64') },
    key: sealed.toString('base64'),
    journal: {
      sequence: journal.sequence,
      digest: journal.digest.toString('hex'),
      open: journal.open,
      ...(journal.database !== null && { database: journal.database }),
    },
  }
  return { key, header }
}

async function writeTables(
  client: PoolClient,
  file: BackupFile,
  signal: AbortSignal | undefined,
): Promise<readonly TableRowCount[]> {
  const tables = await listTables(client)
  const manifest: BackupManifest = { tables }
  await file.add('manifest', Buffer.from(JSON.stringify(manifest)))
  const counts: TableRowCount[] = []
  for (const [index, table] of tables.entries()) {
    await file.add('table', Buffer.from(JSON.stringify({ index })))
    const rows = await writeRows(client, file, table, signal)
    counts.push({ schema: table.schema, name: table.name, rows })
  }
  return counts
}

/** Writes the rows of a table in parts of about `PART_BYTES`. @returns the number of rows */
async function writeRows(
  client: PoolClient,
  file: BackupFile,
  table: CatalogTable,
  signal: AbortSignal | undefined,
): Promise<number> {
  let pieces: Buffer[] = []
  let length = 0
  const flush = async (): Promise<void> => {
    if (length === 0) return
    const part = Buffer.concat(pieces)
    pieces = []
    length = 0
    await file.add('rows', part)
  }
  const rows = copyRowsOut(client, table)
  for (;;) {
    const next = await rows.next()
    if (signal?.aborted) throw new StoreRefusal('interrupted: no backup was made')
    if (next.done === true) {
      await flush()
      return next.value
    }
    pieces.push(next.value)
    length += next.value.length
    if (length >= PART_BYTES) await flush()
  }
}
