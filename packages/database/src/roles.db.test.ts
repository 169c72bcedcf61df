import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../keys/test/postgres.ts'
import { query } from '../test/statement.ts'
import { type Database, migrate, openDatabase } from './database.ts'
import { readDatabaseRoleFacts } from './roles.ts'

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

  async function auditTables(): Promise<readonly string[]> {
    const { rows } = await database.db.pool.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and (relname in ('account', 'hold', 'rollcall_migration', 'rollcall_migration_lock', 'rollcall_schema_version')
          or relname like 'account\\_%') order by relname`,
    )
    return rows.map(({ relname }) => relname)
  }

  test('the application may read audit entries and add to them, and change none', async () => {
    const { db } = database
    const tables = await auditTables()
    expect(tables.slice(-4)).toEqual(['hold', 'rollcall_migration', 'rollcall_migration_lock', 'rollcall_schema_version'])
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
    expect(await readDatabaseRoleFacts(db)).toMatchObject({ separate: true, superuser: false })
  })

  test('everything else is the application role’s own: it makes, changes and drops tables', async () => {
    const { db } = database
    const { id } = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    const { rows } = await db.pool.query(
      `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'S', 'v')
        and relowner <> (select oid from pg_roles where rolname = current_user) order by relname`,
    )
    const names = rows.map(({ relname }) => relname)
    expect(names.filter((name: string) => !/^(account|hold|rollcall_(migration|schema_version))/.test(name))).toEqual([])
    expect(await tried(db, `drop table r${id}_person_identifier`)).toBe('done')
  })
})

describe('an application role that was taken over', () => {
  let database: TestDatabase
  let owner: Database
  beforeEach(async () => {
    database = await testDatabase()
    owner = openDatabase(database.owner)
    await database.db.pool.query(`insert into account_person
      select gen_random_uuid(), 1, 0, '', '', 'seen' from generate_series(1, 4)`)
  })
  afterEach(async () => {
    await owner.close()
    await database.close()
  })
  const attack = (text: string) => query(database.connection, text)
  const persons = async () => Number((await query(database.owner, 'select count(*) from account_person'))[0]?.count)

  /** The body of a function that deletes audit entries when the owner runs it. */
  const DELETING = `language plpgsql as $$ begin
    begin delete from public.account_person; exception when insufficient_privilege then null; end;
    return null; end $$`

  test('functions and operators of the schema are not run by the owner', async () => {
    for (const [name, result] of [
      ['starts_with(name, text)', 'boolean'],
      ['starts_with(text, unknown)', 'boolean'],
      ['pg_has_role(text, text, text)', 'boolean'],
      ['pg_has_role(name, oid, unknown)', 'boolean'],
      ['has_table_privilege(name, oid, text)', 'boolean'],
      ['has_schema_privilege(text, oid, text)', 'boolean'],
      ['format(text, name, name)', 'text'],
      ['current_setting(text)', 'text'],
      ['hashtextextended(text, integer)', 'bigint'],
      ['to_regclass(text)', 'regclass'],
    ]) {
      await attack(`create function public.${name} returns ${result} ${DELETING}`).catch(() => undefined)
    }
    await attack(`create function public.evil(name, text) returns boolean ${DELETING};
      create function public.evil(oid, text) returns text ${DELETING};
      create function public.evil(oid, regclass) returns boolean ${DELETING};
      create operator public.= (leftarg = oid, rightarg = regclass, function = public.evil);
      create operator public.|| (leftarg = oid, rightarg = text, function = public.evil)`)
    expect(await migrate(owner, database.db)).toEqual([])
    expect(await persons()).toBe(4)
  })

  test('a path of the role does not lead to other tables', async () => {
    await attack(`create table rollcall_outbox.account (like public.account including all);
      alter role current_user in database ${database.connection.database} set search_path = rollcall_outbox, public`)
    const [role] = await query(database.connection, 'select current_user as name')
    const schemaOf = async (connection: Parameters<typeof openDatabase>[0]) => {
      const db = openDatabase(connection)
      try {
        const { rows } = await db.pool.query(
          `select relnamespace::regnamespace::text as schema from pg_class where oid = 'account'::regclass`,
        )
        return rows[0]?.schema
      } finally {
        await db.close()
      }
    }
    try {
      const { user, password, host, port, database: name } = database.connection
      const address = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(String(host))}&port=${port}`
      expect(await query(database.connection, 'show search_path')).toEqual([{ search_path: 'rollcall_outbox, public' }])
      expect(await schemaOf(database.connection)).toBe('public')
      expect(await schemaOf({ connectionString: address })).toBe('public')
      expect(await schemaOf({ connectionString: `${address}&options=-c%20jit=off` })).toBe('public')
      // The options that the operator writes in the address win.
      const elsewhere = '-c search_path=rollcall_outbox,public'
      expect(await schemaOf({ ...database.connection, options: elsewhere })).toBe('rollcall_outbox')
      expect(await schemaOf({ connectionString: `${address}&options=${encodeURIComponent(elsewhere)}` })).toBe('rollcall_outbox')
    } finally {
      await query(database.owner, `alter role "${role?.name}" in database ${database.connection.database} reset search_path`)
    }
  })

  test.each([
    ['trigger', 'account', 'create trigger hide before insert on account for each row execute function hide()'],
    ['rule', 'account_checkpoint', 'create rule hide as on insert to account_checkpoint do instead nothing'],
    ['policy', 'account_person', 'create policy hide on account_person using (false)'],
    ['row security', 'hold', 'alter table hold enable row level security'],
    ['rule', 'hold', 'alter table hold rename to hold_; create view hold as select * from hold_'],
  ])('a %s on %s from the time of one role is refused', async (kind, table, statement) => {
    const [role] = await query(database.connection, 'select current_user as name')
    await query(database.owner, `alter table ${table} owner to "${role?.name}"`)
    await attack('create function hide() returns trigger language plpgsql as $$ begin return null; end $$')
    await attack(statement)
    await expect(migrate(owner, database.db)).rejects.toThrow(`the table ${table} has a ${kind} (`)
    expect(await readDatabaseRoleFacts(database.db)).toMatchObject({ separate: false })
  })

  test('rights on columns are taken back', async () => {
    const [role] = await query(database.connection, 'select current_user as name')
    await query(
      database.owner,
      `grant update (entry), references (chain) on account to "${role?.name}"; grant update (salt) on account_person to public`,
    )
    expect(await readDatabaseRoleFacts(database.db)).toMatchObject({ separate: false })
    await migrate(owner, database.db)
    expect(await readDatabaseRoleFacts(database.db)).toMatchObject({ separate: true })
    expect(await tried(database.db, `update account set entry = ''`)).toBe(DENIED)
    expect(await tried(database.db, 'update account_key set sealed = sealed')).toBe('done')
    expect(await tried(database.db, 'update hold set removed_at = removed_at, removed_by = removed_by')).toBe('done')
    expect(await tried(database.db, `update hold set pseudonyms = '{}'`)).toBe(DENIED)
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
    await superuser(`create role ${names.owner} login password 'x'; create role ${names.application} login password 'x'`)
    roles = { owner: as(names.owner), application: as(names.application) }
  })
  afterEach(async () => {
    await Promise.all([roles.owner.close(), roles.application.close()])
    await empty.drop()
    await query({ ...empty.connection, database: 'postgres' }, `drop role ${names.owner}, ${names.application}`)
  })

  const complete = () =>
    superuser(`grant ${names.application} to ${names.owner};
      alter database ${empty.connection.database} owner to ${names.owner}`)

  test('a new database is the owner’s, and its tables the application’s', async () => {
    await complete()
    expect((await migrate(roles.owner, roles.application)).length).toBeGreaterThan(20)
    await addRegistry(roles.application, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    expect(await readDatabaseRoleFacts(roles.application)).toMatchObject({ application: names.application, separate: true })
    // The application alone finds nothing to migrate, and may look.
    expect(await migrate(roles.application)).toEqual([])
    expect(await migrate(roles.owner, roles.application)).toEqual([])
  })

  test('what one role owned is divided between two', async () => {
    await superuser(`alter database ${empty.connection.database} owner to ${names.application}`)
    await migrate(roles.application)
    await addRegistry(roles.application, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
    expect(await readDatabaseRoleFacts(roles.application)).toMatchObject({ separate: false })
    expect(await tried(roles.application, 'delete from account')).toBe('done')

    await complete()
    expect(await migrate(roles.owner, roles.application)).toEqual([])
    expect(await readDatabaseRoleFacts(roles.application)).toMatchObject({ separate: true })
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
  const page = await readFile(new URL('../../../docs/roles.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, block = '']) => block)

  /** Runs a block of the page as a superuser, with other names: roles are those of the whole server. */
  async function documented(at: number, database: string, names: Readonly<Record<string, string>>): Promise<void> {
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
      expect(await readDatabaseRoleFacts(application)).toMatchObject({ separate: true, superuser: false })
      expect(await tried(application, 'delete from account')).toBe(DENIED)
    } finally {
      await Promise.all([owner.close(), application.close()])
      await query(inject('postgres'), `drop database ${database}`)
      await query(inject('postgres'), `drop role ${rollcall_owner}, ${rollcall_application}`)
    }
  })
})
