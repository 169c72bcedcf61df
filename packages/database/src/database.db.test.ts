import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { checkSchema, type Database, migrate, openDatabase, pendingMigrations } from './database.ts'
import { checkPostgresSettings, readPostgresSettings } from './migrate.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { StoreRefusal } from './refusal.ts'

describe('openDatabase', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  test('connections carry our name and a time limit', async () => {
    const { rows } = await database.db.pool.query(
      `select current_setting('application_name') as name, current_setting('statement_timeout') as timeout`,
    )
    expect(rows).toEqual([{ name: 'rollcall', timeout: '30s' }])
    expect(database.db.pool.options.max).toBe(10)
  })

  test('searches have connections, a time limit and settings of their own', async () => {
    const db = openDatabase(database.connection, { search_timeout: 200 })
    const { rows } = await db.searches.query(
      `select current_setting('statement_timeout') as timeout, current_setting('jit') as jit,
         current_setting('max_parallel_workers_per_gather') as workers,
         current_setting('application_name') as name`,
    )
    expect(rows).toEqual([{ timeout: '200ms', jit: 'off', workers: '0', name: 'rollcall' }])
    expect(db.searches.options.max).toBe(6)
    // As many slow ones as there are connections keep nobody else waiting, and end.
    const slow = Array.from({ length: 6 }, () => db.searches.query('select pg_sleep(60)'))
    const ended = Promise.allSettled(slow)
    expect((await db.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    for (const result of await ended) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: '57014' } })
    }
    await db.close()
  })

  test('how the server is set up can be read', async () => {
    expect(await readPostgresSettings(database.db)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+/),
      encoding: 'UTF8',
      fsync: 'on',
      full_page_writes: 'on',
      // The test run's own choice for its role.
      synchronous_commit: 'off',
    })
  })

  test('the caller decides otherwise', async () => {
    const db = openDatabase({ ...database.connection, max: 2, statement_timeout: 1_000 })
    const { rows } = await db.pool.query(`select current_setting('statement_timeout') as timeout`)
    expect(rows).toEqual([{ timeout: '1s' }])
    expect(db.pool.options.max).toBe(2)
    await db.close()
    await db.close()
  })

  test('bigint is a number and is never rounded; a day is a day', async () => {
    const { pool, kysely } = database.db
    const text = `select 9007199254740991::bigint as big, date '1985-06-01' as day, '{1985-06-01,NULL}'::date[] as days`
    const row = { big: 9007199254740991, day: '1985-06-01', days: ['1985-06-01', null] }
    expect((await pool.query(text)).rows).toEqual([row])
    expect((await sql.raw(text).execute(kysely)).rows).toEqual([row])
    await expect(pool.query('select 9007199254740992::bigint')).rejects.toThrow('a bigint of the database is beyond 2^53-1')
  })

  test('a connection that is lost between two statements fails the next one and not the process', async () => {
    const client = await database.db.pool.connect()
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const ended = new Promise((resolve) => client.once('end', resolve))
    await database.db.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid])
    await ended
    await expect(client.query('select 1')).rejects.toThrow('not queryable')
    client.release(true)
    expect((await database.db.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })
})

describe('migrate', () => {
  async function withEmpty(work: (db: Database) => Promise<void>): Promise<void> {
    const empty = await emptyDatabase()
    const db = openDatabase(empty.connection)
    try {
      await work(db)
    } finally {
      await db.close()
      await empty.drop()
    }
  }

  test('runs each migration once, in the order of their names', async () => {
    await withEmpty(async (db) => {
      const names = Object.keys(MIGRATIONS)
      expect(names).toEqual([...names].sort())
      expect(await migrate(db)).toEqual(names)
      expect(await migrate(db)).toEqual([])
      // One that landed after a higher number.
      await db.pool.query(`delete from rollcall_migration where name = '0020-merged-records'`)
      await db.pool.query('drop table retired_record; alter table event drop column replaced_by')
      expect(await migrate(db)).toEqual(['0020-merged-records'])
    })
  })

  test('what is pending is told without a change', async () => {
    await withEmpty(async (db) => {
      expect(await pendingMigrations(db)).toEqual(Object.keys(MIGRATIONS))
      expect(await pendingMigrations(db)).toEqual(Object.keys(MIGRATIONS))
      await migrate(db)
      expect(await pendingMigrations(db)).toEqual([])
      await db.pool.query(`insert into rollcall_migration values ('2999-01-later', '2999-01-01')`)
      await expect(pendingMigrations(db)).rejects.toThrow(StoreRefusal)
    })
  })

  test('a database with other tables than those of this version is refused without a change', async () => {
    await withEmpty(async (db) => {
      await expect(checkSchema(db)).rejects.toThrow(new StoreRefusal('the database has no tables yet; run rollcall migrate'))
      expect(await migrate(db)).toEqual(Object.keys(MIGRATIONS))
      await checkSchema(db)
      const last = Object.keys(MIGRATIONS).at(-1)
      await db.pool.query('delete from rollcall_migration where name = $1', [last])
      await expect(checkSchema(db)).rejects.toThrow(
        new StoreRefusal(
          `the tables of this database are older than this Rollcall (${last} must run first); ` +
            'use the version that your servers run, or upgrade the database with rollcall migrate',
        ),
      )
      expect(await pendingMigrations(db)).toEqual([last])
      await db.pool.query(`insert into rollcall_migration values ($1, '2999-01-01'), ('2999-01-later', '2999-01-01')`, [last])
      await expect(checkSchema(db)).rejects.toThrow(
        new StoreRefusal(
          'a newer Rollcall has migrated this database: its schema is of version 0.1.0 (2999-01-later), and this program is made for 0.1.0; run the version that migrated it, or a later one',
        ),
      )
    })
  })

  test('several nodes at once: one works, the others wait', async () => {
    await withEmpty(async (db) => {
      const done = await Promise.all([migrate(db), migrate(db), migrate(db), migrate(db)])
      expect(done.map((names) => names.length).sort()).toEqual([0, 0, 0, Object.keys(MIGRATIONS).length])
    })
  })

  test('leaves the time limit of the connection as it was', async () => {
    const empty = await emptyDatabase()
    const db = openDatabase({ ...empty.connection, max: 1 })
    await migrate(db)
    const { rows } = await db.pool.query(`select current_setting('statement_timeout') as timeout`)
    expect(rows).toEqual([{ timeout: '30s' }])
    await db.close()
    await empty.drop()
  })

  test('refuses a database that a newer version has migrated', async () => {
    await withEmpty(async (db) => {
      await migrate(db)
      await db.pool.query(`insert into rollcall_migration values ('2999-01-later', '2999-01-01')`)
      await expect(migrate(db)).rejects.toThrow(
        new StoreRefusal(
          'a newer Rollcall has migrated this database: its schema is of version 0.1.0 (2999-01-later), and this program is made for 0.1.0; run the version that migrated it, or a later one',
        ),
      )
    })
  })

  test('refuses an encoding other than UTF8', async () => {
    const server = inject('postgres')
    const name = `latin1_${process.pid}_${Date.now()}`
    const admin = new pg.Client(server)
    await admin.connect()
    await admin.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
    const db = openDatabase({ ...server, database: name })
    await expect(migrate(db)).rejects.toThrow(
      new StoreRefusal(
        "a database with encoding UTF8 is needed; this one has LATIN1: create it with ENCODING 'UTF8' TEMPLATE template0",
      ),
    )
    await db.close()
    await admin.query(`drop database ${name}`)
    await admin.end()
  })

  test('refuses a server older than PostgreSQL 15', () => {
    expect(() => checkPostgresSettings(14, 'UTF8')).toThrow(
      new StoreRefusal('PostgreSQL 15 or newer is needed; this server is version 14'),
    )
    expect(() => checkPostgresSettings(15, 'UTF8')).not.toThrow()
  })
})
