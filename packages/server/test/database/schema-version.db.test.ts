/** A database that the next version has migrated, beside nodes of this one. */

import { checkSchema, migrate, openDatabase } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { programSchemaVersion, readSchemaVersions } from '@rollcall/database/schema-version'
import { afterEach, expect, test, vi } from 'vitest'
import { becomeNextVersion, NEXT_MIGRATION, NEXT_VERSION } from '../../../database/test/next-version.ts'
import { lockWaits } from '../../../keys/test/held-table.ts'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { answerOf, testServer } from '../server.ts'

const OWNERS = `select relname, pg_get_userbyid(relowner) as owner from pg_class where relkind = 'r' order by relname`

let asBefore: () => void = () => undefined
afterEach(() => asBefore())

test('a migration writes the version that it brings; the version before starts on its tables and leaves them, one before that is refused', async () => {
  const database = await testDatabase()
  const owner = openDatabase(database.owner)
  asBefore = becomeNextVersion()
  const before = programSchemaVersion()
  expect(before).toBe(NEXT_VERSION)
  // Several nodes of the next version at once: one of them migrates.
  const done = await Promise.all([1, 2, 3].map(() => migrate(owner, database.db)))
  expect(done.flat()).toEqual([NEXT_MIGRATION])
  asBefore()
  expect(await readSchemaVersions(database.db.kysely)).toEqual([programSchemaVersion(), NEXT_VERSION])
  await checkSchema(database.db)
  // Whose a table is that only the next version knows, this one cannot say.
  const owners = async () => (await owner.pool.query(OWNERS)).rows
  await owner.pool.query('create table account_of_next_version (id integer); create table of_next_version (id integer)')
  const before_migrate = await owners()
  expect(await migrate(owner, database.db)).toEqual([])
  expect(await owners()).toEqual(before_migrate)
  await owner.pool.query(`insert into rollcall_schema_version (version) values ('999.1.0')`)
  const refusal = new StoreRefusal(
    `a newer Rollcall has migrated this database: its schema is of version 999.1.0 (${NEXT_MIGRATION}), and ` +
      `this program is made for ${programSchemaVersion()}; run the version that migrated it, or a later one`,
  )
  await expect(checkSchema(database.db)).rejects.toThrow(refusal)
  await expect(migrate(owner, database.db)).rejects.toThrow(refusal)
  await owner.close()
  await database.close()
})

test('a running node goes on one version ahead, and is not ready further ahead', async () => {
  const server = await testServer()
  const owner = openDatabase(server.database.owner)
  const ready = async (url: string) => {
    const { status, body } = await answerOf(await fetch(`${url}/ready`))
    return [status, body]
  }
  const metric = async () => {
    server.clock.pass(1_000)
    return (await answerOf(await fetch(`${server.adminUrl}/metrics`))).body
  }
  expect(await metric()).toContain('rollcall_schema_versions_ahead 0')
  asBefore = becomeNextVersion()
  await migrate(owner, server.database.db)
  asBefore()
  expect(await metric()).toContain('rollcall_schema_versions_ahead 1')
  expect(await ready(server.adminUrl)).toEqual([200, { status: 'ready', database_schema_version: NEXT_VERSION }])
  expect(await ready(server.url)).toEqual([200, { status: 'ready' }])
  await owner.pool.query(`insert into rollcall_schema_version (version) values ('999.1.0')`)
  expect(await metric()).toContain('rollcall_schema_versions_ahead 2')
  expect(await ready(server.url)).toEqual([503, { status: 'not ready' }])
  expect(await server.running.outdated).toEqual({ version: '999.1.0', ahead: 2 })
  await owner.close()
  await server.close()
})

test('a migration that waits for a table lets the statements behind it through', async () => {
  const database = await testDatabase()
  const owner = openDatabase(database.owner)
  const reader = await database.db.pool.connect()
  await reader.query('begin; select from slow_search')
  asBefore = becomeNextVersion()
  const migrating = migrate(owner, database.db)
  await vi.waitFor(async () => expect(await lockWaits({ db: owner })).toBe(1), { timeout: 60_000, interval: 10 })
  // Behind the migration, which gives its locks back although the reader holds on.
  await database.db.pool.query('select from slow_search')
  await database.db.pool.query('select from breaker')
  await reader.query('commit')
  reader.release()
  expect(await migrating).toEqual([NEXT_MIGRATION])
  await owner.close()
  await database.close()
})
