import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { type Database, migrate, openDatabase } from '../src/store/db/database.ts'
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
  const { connection, drop } = await newDatabase(MIGRATED)
  const db = openDatabase(connection)
  return {
    connection,
    db,
    async close() {
      await db.close()
      await drop()
    },
  }
}

/** A fresh database without any table, for tests that say themselves what goes in. */
export function emptyDatabase(): Promise<EmptyDatabase> {
  return newDatabase('template0')
}

interface EmptyDatabase {
  readonly connection: TestServer
  drop(): Promise<void>
}

async function newDatabase(template: string): Promise<EmptyDatabase> {
  const server = inject('postgres')
  const database = `test_${randomBytes(8).toString('hex')}`
  await onServer(server, `create database ${database} template ${template} strategy file_copy`)
  return {
    connection: { ...server, database },
    drop: () => onServer(server, `drop database if exists ${database} with (force)`),
  }
}

/** The database that others are copies of. */
const MIGRATED = 'test_migrated'

/** Makes the database that `testDatabase` copies: all migrations run once in a test run, not once in a test. */
export async function makeMigrated(server: TestServer): Promise<void> {
  await onServer(server, `create database ${MIGRATED} template template0`)
  const db = openDatabase({ ...server, database: MIGRATED })
  try {
    await migrate(db)
  } finally {
    await db.close()
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
