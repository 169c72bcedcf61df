/**
 * Opens the database of a configuration, external or embedded, and its vault. The master key is in the environment, or
 * in a file beside the embedded database.
 */
import { isIP } from 'node:net'
import { join } from 'node:path'
import { type AuditMetrics, type ClosableAuditLog, createAuditLog } from '@rollcall/audit/audit-log'
import { createJournal } from '@rollcall/backup/journal/journal'
import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { type Database, openDatabase } from '@rollcall/database/database'
import { clusterPaths } from '@rollcall/database/embedded/files'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { type MasterKeySource, masterKeyFromEnvironment, masterKeyFromFile } from '@rollcall/keys/master-key'
import { createVault, type Vault } from '@rollcall/keys/vault'
import { createLog } from '@rollcall/observe/log'
import pg, { type PoolConfig } from 'pg'
import type { Config } from './config.ts'

/** The open database, as the application role and as the owner. */
export interface DatabaseConnections {
  /** The database as the application role, for everything that does not need the owner. */
  readonly db: Database
  /** The database as the owner, for migrations and deletions of audit entries; `db` when one role does both. */
  readonly owner: Database
  /** Closes the connections, and stops the embedded PostgreSQL when no other process uses it. */
  close(): Promise<void>
}

/** Opens the database; reads and changes no tables. If opening throws, no embedded PostgreSQL is left running. */
export async function openStorage(config: Config): Promise<DatabaseConnections> {
  // The package of sources is loaded only here, because the help of a command needs no sources.
  const { openSources } = await import('@rollcall/source/open-sources')
  const open = (connection: PoolConfig): Database =>
    openDatabase(
      { ...connection, statement_timeout: config.limits.statement_timeout * 1_000 },
      { search_timeout: config.limits.search_timeout * 1_000 },
    )
  const sources = (db: Database) => openSources(db, process.env, config.limits.search_timeout * 1_000)
  const { databaseUrl, ownerDatabaseUrl } = config
  if (databaseUrl !== undefined) {
    const db = databaseWithJournal(config, open({ connectionString: databaseUrl }))
    const owner = ownerDatabaseUrl === undefined ? db : open({ connectionString: ownerDatabaseUrl })
    return makeStorage(db, owner, sources(db))
  }
  const postgres = await openEmbeddedPostgres(config.dataDirectory)
  const db = databaseWithJournal(config, open(postgres.application as PoolConfig))
  const owner = open(postgres.connection as PoolConfig)
  return makeStorage(db, owner, sources(db), () => postgres.close())
}

/** Describes the database of a configuration for messages, without secrets. */
export function describeDatabase({ databaseUrl, dataDirectory }: Pick<Config, 'databaseUrl' | 'dataDirectory'>): string {
  if (databaseUrl === undefined) return `the embedded database in ${dataDirectory}`
  // The client does not connect: it reads the address and PostgreSQL's environment variables, as a connection would.
  const { database, host, port } = new pg.Client({ connectionString: databaseUrl })
  const name = isIP(host) === 6 ? `[${host}]` : host
  const place = host.startsWith('/') ? `the socket in ${host}, port ${port}` : `${name}:${port}`
  return `the database ${database} on ${place}`
}

/** The database with the journal of the configuration, which keeps acts that a restore must not undo. */
export function databaseWithJournal(config: Config, db: Database): Database {
  const { journal: path } = config
  if (path === undefined) return db
  return { ...db, journal: createJournal({ db, path, vault: () => openVault(config, db) }) }
}

/**
 * Makes the storage. Each connection opens when it is needed: a server that has nothing to migrate opens none as the owner.
 * @param db the database as the application role
 * @param owner the same database as the owner; may be `db` itself
 * @param after runs after the connections are closed
 */
function makeStorage(
  db: Database,
  owner: Database,
  sources: { close(): Promise<void> },
  after?: () => Promise<void>,
): DatabaseConnections {
  return {
    db,
    owner,
    async close() {
      await Promise.all([db.close(), owner.close(), sources.close()])
      await after?.()
    },
  }
}

/** Opens the vault. @throws MasterKeyError the master key is missing or wrong */
export const openVault = (config: Config, db: Database): Promise<Vault> => createVault(db, masterKeySource(config))

/** The audit log of a command. It writes its entries in a chain of its own. */
export const openAuditLog = (config: Config, db: Database): ClosableAuditLog =>
  createAuditLog({
    db,
    clock: SYSTEM_CLOCK,
    limits: config.limits,
    witness: config.witness,
    metrics: NO_AUDIT_METRICS,
    vault: () => openVault(config, db),
    log: createLog({ level: config.logLevel }),
  })

/** The metrics of the audit log of a command. They count nothing, because nobody reads the metrics of a command. */
const NO_AUDIT_METRICS: AuditMetrics = { audited: () => undefined, checkpointMade: () => undefined, witnessed: () => undefined }

/** The place of the master key: the file only where the environment has no key and a file is allowed. */
export function masterKeySource(config: Config): MasterKeySource {
  if (config.masterKey !== undefined || !config.masterKeyInFile) return masterKeyFromEnvironment(config)
  return masterKeyFromFile(masterKeyPath(config), config.newMasterKey)
}

/** The path of the file that may have the master key. */
export const masterKeyPath = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string => join(dataDirectory, 'master-key')

/** The path of the file by which tools find the demo. */
export const demoJsonPath = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string => join(dataDirectory, 'demo.json')

/** The folder and the files whose access rights `doctor` checks. */
export const filesCheckedByDoctor = (config: Pick<Config, 'dataDirectory'>) => ({
  data_directory: config.dataDirectory,
  password: clusterPaths(join(config.dataDirectory, 'postgres')).passwordFile,
  demo_file: demoJsonPath(config),
  master_key: masterKeyPath(config),
})
