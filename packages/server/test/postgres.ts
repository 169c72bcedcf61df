import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Database, migrate, openDatabase } from '../src/store/database.ts'
import type { TestServer } from './global-setup.ts'

/** A database of one test file. */
export interface TestDatabase {
  readonly connection: TestServer
  readonly db: Database
  /** Closes `db` and drops the database. */
  close(): Promise<void>
}

/** A fresh database with all migrations, on the PostgreSQL of this test run. */
export async function testDatabase(): Promise<TestDatabase> {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  try {
    await migrate(db)
  } catch (error) {
    await db.close()
    await empty.drop()
    throw error
  }
  return {
    connection: empty.connection,
    db,
    async close() {
      await db.close()
      await empty.drop()
    },
  }
}

/** A fresh database without any table, for tests that say themselves what goes in. */
export async function emptyDatabase(): Promise<{ connection: TestServer; drop(): Promise<void> }> {
  const server = inject('postgres')
  const database = `test_${randomBytes(8).toString('hex')}`
  await onServer(server, `create database ${database} template template0`)
  return {
    connection: { ...server, database },
    drop: () => onServer(server, `drop database if exists ${database} with (force)`),
  }
}

async function onServer(server: TestServer, statement: string): Promise<void> {
  const client = new pg.Client(server)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
