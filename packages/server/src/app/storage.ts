/** The database of a configuration: the one it names, or the embedded PostgreSQL. */
import type { PoolConfig } from 'pg'
import { openEmbeddedPostgres } from '../embedded/postgres.ts'
import { type Database, openDatabase } from '../store/db/database.ts'
import type { Config } from './config.ts'

export interface Storage {
  readonly db: Database
  /** Ends the connections, and the embedded PostgreSQL where no other process uses it. */
  close(): Promise<void>
}

/** Opens the database without touching its tables. Throws what opening it throws, with nothing left running. */
export async function openStorage(config: Config): Promise<Storage> {
  const statement_timeout = config.limits.statement_timeout * 1_000
  const search = { search_timeout: config.limits.search_timeout * 1_000 }
  if (config.databaseUrl !== undefined) {
    const db = openDatabase({ connectionString: config.databaseUrl, statement_timeout }, search)
    return { db, close: () => db.close() }
  }
  const postgres = await openEmbeddedPostgres(config.dataDirectory)
  const db = openDatabase({ ...(postgres.connection as PoolConfig), statement_timeout }, search)
  return {
    db,
    async close() {
      await db.close()
      await postgres.close()
    },
  }
}
