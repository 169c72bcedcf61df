import { createSecretKey, randomBytes } from 'node:crypto'
import { type Database, migrate, openDatabase } from '@rollcall/database/database'
import { masterKeyFromEnvironment } from '@rollcall/keys/master-key'
import { ensureOwnKeys } from '@rollcall/keys/rotation'
import { createVault } from '@rollcall/keys/vault'
import pg from 'pg'
import { inject } from 'vitest'
import type { TestServer } from '../../database/test/global-setup.ts'

/** A database of one test file. */
export interface TestDatabase {
  /** As the application role, which servers and most commands have. */
  readonly connection: TestServer
  /** As the owner. */
  readonly owner: TestServer
  readonly db: Database
  /** Closes `db` and drops the database. */
  close(): Promise<void>
}

/** A fresh database with all migrations, on the PostgreSQL of this test run. */
export function testDatabase(): Promise<TestDatabase> {
  return copyOf(MIGRATED)
}

/** A fresh database in which a server with the master key of this test run has started: it has its own keys. */
export function startedDatabase(): Promise<TestDatabase> {
  return copyOf(STARTED)
}

/** The master key of the databases that `startedDatabase` makes. */
export const masterKeyOfRun = (): string => inject('masterKey')

async function copyOf(template: string): Promise<TestDatabase> {
  const { connection: owner, drop } = await newDatabase(template)
  const connection = { ...inject('application'), database: owner.database }
  const db = openDatabase(connection)
  return {
    connection,
    owner,
    db,
    async close() {
      await db.close()
      await drop()
    },
  }
}

/** A fresh database without any table, for tests that say themselves what goes in; one role does everything in it. */
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
  return { connection: { ...server, database }, drop: () => onServer(server, `drop database if exists ${database} with (force)`) }
}

/** The databases that others are copies of. */
const [MIGRATED, STARTED] = ['test_migrated', 'test_started'] as const

/** Makes what others are copies of: migrations run, and keys are generated, once in a test run and not once in a test. */
export async function makeTemplates(server: TestServer, application: TestServer, masterKey: string): Promise<void> {
  const makeTemplate = templateMaker(server, application)
  await makeTemplate(MIGRATED, 'template0', migrate)
  await makeTemplate(STARTED, MIGRATED, async (_owner, db) => {
    const source = masterKeyFromEnvironment({ masterKey: createSecretKey(masterKey, 'base64'), newMasterKey: undefined })
    await ensureOwnKeys(db, await createVault(db, source))
  })
}

const templateMaker =
  (server: TestServer, application: TestServer) =>
  async (database: string, template: string, fill: (owner: Database, db: Database) => Promise<unknown>): Promise<void> => {
    await onServer(server, `create database ${database} template ${template}`)
    const [owner, db] = [openDatabase({ ...server, database }), openDatabase({ ...application, database })]
    try {
      await fill(owner, db)
    } finally {
      await Promise.all([owner.close(), db.close()])
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
