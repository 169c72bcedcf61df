import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { emptyDatabase, testDatabase } from '../../../test/postgres.ts'
import { query } from '../../../test/statement.ts'
import { addRegistry } from '../registries/registries.ts'
import { type Database, migrate, openDatabase } from './database.ts'
import { readRoleFacts } from './roles.ts'

const DENIED = '42501'

/** The code of the error, or `done`. */
const tried = (db: Database, text: string): Promise<string> =>
  db.pool.query(text).then(
    () => 'done',
    (error: { code: string }) => error.code,
  )

describe('the roles of the embedded database', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.close())

  async function accountTables(): Promise<readonly string[]> {
    const { rows } = await database.db.pool.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and (relname = 'account' or relname like 'account\\_%') order by relname`,
    )
    return rows.map(({ relname }) => relname)
  }

  test('the application may read accounts and add to them, and change none', async () => {
    const { db } = database
    const tables = await accountTables()
    expect(tables).toContain('account')
    for (const table of tables) {
      const [column] = (
        await db.pool.query(
          `select quote_ident(attname) as name from pg_attribute where attrelid = '${table}'::regclass and attnum = 1`,
        )
      ).rows
      expect(await tried(db, `select * from ${table}`), table).toBe('done')
      // A warning, and no right.
      await tried(db, `grant all on ${table} to current_user`)
      for (const statement of [
        `update ${table} set ${column.name} = ${column.name}`,
        `delete from ${table}`,
        `truncate ${table}`,
        `drop table ${table}`,
        `alter table ${table} rename to gone`,
        `alter table ${table} disable trigger all`,
        `alter table ${table} owner to current_user`,
        `create trigger hidden before insert on ${table} for each row execute function suppress_redundant_updates_trigger()`,
        `create rule hidden as on insert to ${table} do instead nothing`,
        `create index on ${table} (${column.name})`,
        `lock table ${table} in access exclusive mode`,
        `insert into ${table} select * from ${table} on conflict (${column.name}) do update set ${column.name} = null`,
      ]) {
        expect(await tried(db, statement), statement).not.toBe('done')
      }
    }
    for (const statement of ['drop schema public cascade', 'set role rollcall', 'create role other']) {
      expect(await tried(db, statement), statement).toBe(DENIED)
    }
    expect(await readRoleFacts(db)).toMatchObject({ separate: true, superuser: false })
  })

  test('everything else is the application role’s own: it makes, changes and drops tables', async () => {
    const { db } = database
    const { id } = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    const { rows } = await db.pool.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'S', 'v')
        and relowner <> (select oid from pg_roles where rolname = current_user) order by relname`,
    )
    const names = rows.map(({ relname }) => relname)
    expect(names.every((name: string) => name.startsWith('account'))).toBe(true)
    expect(await tried(db, `drop table r${id}_person_identifier`)).toBe('done')
  })
})

describe('roles that a superuser made', () => {
  let empty: Awaited<ReturnType<typeof emptyDatabase>>
  let names: { owner: string; application: string }
  let roles: { owner: Database; application: Database }
  const as = (user: string): Database => openDatabase({ ...empty.connection, user, password: 'x', max: 2 })
  const superuser = (text: string) => query(empty.connection, text)

  beforeEach(async () => {
    empty = await emptyDatabase()
    const suffix = randomBytes(4).toString('hex')
    names = { owner: `owner_${suffix}`, application: `application_${suffix}` }
    await superuser(
      `create role ${names.owner} login password 'x'; create role ${names.application} login password 'x'`,
    )
    roles = { owner: as(names.owner), application: as(names.application) }
  })
  afterEach(async () => {
    await Promise.all([roles.owner.close(), roles.application.close()])
    await empty.drop()
    await query(
      { ...empty.connection, database: 'postgres' },
      `drop role ${names.owner}, ${names.application}`,
    )
  })

  const complete = () =>
    superuser(`grant ${names.application} to ${names.owner};
      alter database ${empty.connection.database} owner to ${names.owner}`)

  test('a new database is the owner’s, and its tables the application’s', async () => {
    await complete()
    expect((await migrate(roles.owner, roles.application)).length).toBeGreaterThan(20)
    await addRegistry(roles.application, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    expect(await readRoleFacts(roles.application)).toMatchObject({
      application: names.application,
      separate: true,
    })
    // The application alone finds nothing to migrate, and may look.
    expect(await migrate(roles.application)).toEqual([])
    expect(await migrate(roles.owner, roles.application)).toEqual([])
  })

  test('what one role owned is divided between two', async () => {
    await superuser(`alter database ${empty.connection.database} owner to ${names.application}`)
    await migrate(roles.application)
    await addRegistry(roles.application, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    expect(await readRoleFacts(roles.application)).toMatchObject({ separate: false })
    expect(await tried(roles.application, 'delete from account')).toBe('done')

    await complete()
    expect(await migrate(roles.owner, roles.application)).toEqual([])
    expect(await readRoleFacts(roles.application)).toMatchObject({ separate: true })
    expect(await tried(roles.application, 'delete from account')).toBe(DENIED)
    expect(await tried(roles.application, 'select * from r1_person')).toBe('done')
    expect(await tried(roles.owner, 'delete from account')).toBe('done')
  })

  test('what a superuser must do first is said as a statement', async () => {
    await superuser(`alter database ${empty.connection.database} owner to ${names.owner}`)
    await expect(migrate(roles.owner, roles.application)).rejects.toThrow(
      `the two roles of the database are not complete: let a superuser run "grant ${names.application} to ${names.owner}"`,
    )
    await superuser(`grant ${names.owner} to ${names.application}`)
    await expect(migrate(roles.owner, roles.application)).rejects.toThrow(
      `the role ${names.application} of DATABASE_URL can act as ${names.owner}, the role of ROLLCALL_OWNER_DATABASE_URL: ` +
        'use an application role that is no superuser and no member of the owner',
    )
  })

  test('the application alone does not migrate what another role owns', async () => {
    await complete()
    await migrate(roles.owner, roles.application)
    await superuser(`delete from rollcall_migration where name = (select max(name) from rollcall_migration)`)
    await expect(migrate(roles.application)).rejects.toThrow(
      'the role of DATABASE_URL may not migrate this database: run rollcall migrate with ROLLCALL_OWNER_DATABASE_URL',
    )
  })

  test('an application without rights in an empty database is told what to run', async () => {
    await complete()
    await expect(migrate(roles.application)).rejects.toThrow(
      'the role of DATABASE_URL may not migrate this database: run rollcall migrate with ROLLCALL_OWNER_DATABASE_URL',
    )
  })

  test('two databases are told apart', async () => {
    const other = await emptyDatabase()
    const elsewhere = openDatabase(other.connection)
    try {
      await complete()
      await expect(migrate(roles.owner, elsewhere)).rejects.toThrow(
        'DATABASE_URL and ROLLCALL_OWNER_DATABASE_URL name different databases',
      )
    } finally {
      await elsewhere.close()
      await other.drop()
    }
  })
})

describe('docs/roles.md', async () => {
  const page = await readFile(new URL('../../../../../docs/roles.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, block = '']) => block)

  /** Runs a block of the page as a superuser, with other names: roles are those of the whole server. */
  async function documented(
    at: number,
    database: string,
    names: Readonly<Record<string, string>>,
  ): Promise<void> {
    const server = { ...inject('postgres'), database }
    for (const statement of (blocks[at] ?? '').split(';\n').filter((text) => text.trim() !== '')) {
      const renamed = statement
        .replaceAll(/database rollcall/g, `database ${names.database}`)
        .replaceAll(/rollcall_owner|rollcall_application|\brollcall\b/g, (name) => names[name] ?? name)
      await query(server, renamed)
    }
  }

  const asRole = (user: string, database: string, password: string): Database =>
    openDatabase({ ...inject('postgres'), user, password, database, max: 2 })

  test.each([
    ['a new database', 0],
    ['a database in which one role does both', 1],
  ])('%s gets two roles by its statements', async (_, block) => {
    const suffix = randomBytes(4).toString('hex')
    const names = {
      rollcall_owner: `owner_${suffix}`,
      rollcall_application: `application_${suffix}`,
      rollcall: `application_${suffix}`,
      database: `documented_${suffix}`,
    }
    const { rollcall_owner, rollcall_application, database } = names
    if (block === 1) {
      await query(inject('postgres'), `create role ${rollcall_application} login password 'change-me-2'`)
      await query(
        inject('postgres'),
        `create database ${database} owner ${rollcall_application} encoding 'UTF8' template template0`,
      )
      const alone = asRole(rollcall_application, database, 'change-me-2')
      await migrate(alone)
      await alone.close()
    }
    await documented(block, block === 0 ? 'postgres' : database, names)
    const owner = asRole(rollcall_owner, database, 'change-me-1')
    const application = asRole(rollcall_application, database, 'change-me-2')
    try {
      await migrate(owner, application)
      expect(await readRoleFacts(application)).toMatchObject({ separate: true, superuser: false })
      expect(await tried(application, 'delete from account')).toBe(DENIED)
    } finally {
      await Promise.all([owner.close(), application.close()])
      await query(inject('postgres'), `drop database ${database}`)
      await query(inject('postgres'), `drop role ${rollcall_owner}, ${rollcall_application}`)
    }
  })
})
