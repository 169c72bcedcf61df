/** Each migration after the first release keeps to the rules of its phase: the version before works with its tables. */
import { Kysely, PostgresDialect, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { type DatabaseSchema, readSchema } from '../../test/database-schema.ts'
import { phaseProblems } from '../../test/schema-phases.ts'
import { type Database, openDatabase } from '../database.ts'
import { knownSchemaVersions } from '../schema-version.ts'
import { UNUSED_TABLES_AND_COLUMNS, type UnusedName } from '../unused.ts'
import { MIGRATIONS } from './index.ts'

/** The newest that was made before the first release, when migrations did not name one. */
const LAST_WITHOUT_VERSION = '0049'

let empty: Awaited<ReturnType<typeof emptyDatabase>>
let db: Database
beforeAll(async () => {
  empty = await emptyDatabase()
  db = openDatabase(empty.connection)
})
afterAll(async () => {
  await db.close()
  await empty.drop()
})

async function schema(): Promise<DatabaseSchema> {
  const client = await db.pool.connect()
  try {
    return await readSchema(client)
  } finally {
    client.release()
  }
}

const untyped = (): Kysely<unknown> => new Kysely({ dialect: new PostgresDialect({ pool: db.pool }) })

test('every migration since the first release names its version and its phase', () => {
  const missing = Object.entries(MIGRATIONS).filter(
    ([name, { version, phase }]) =>
      (version === undefined) !== (phase === undefined) || (version === undefined && name.slice(0, 4) > LAST_WITHOUT_VERSION),
  )
  expect(missing.map(([name]) => name)).toEqual([])
})

test('every migration since the first release keeps to the rules of its phase', async () => {
  for (const [name, { version, phase, up }] of Object.entries(MIGRATIONS)) {
    if (version === undefined || phase === undefined) {
      await up(untyped())
      continue
    }
    const before = await schema()
    await up(untyped())
    const migrated = { version, phase, before, after: await schema() }
    expect(phaseProblems(migrated, UNUSED_TABLES_AND_COLUMNS, knownSchemaVersions()), name).toEqual([])
  }
})

describe('the rules', () => {
  const VERSIONS = ['1.0.0', '1.1.0', '1.2.0']
  const problems = async (statement: string, phase: 'expand' | 'contract' = 'expand', retired: readonly UnusedName[] = []) => {
    await db.pool.query('drop table if exists part, whole, entire; drop table if exists more')
    await db.pool.query('create table whole (id integer primary key, name text, size integer not null)')
    await db.pool.query('create table part (whole integer, name text not null)')
    const before = await schema()
    await sql.raw(statement).execute(db.kysely)
    return phaseProblems({ version: '1.2.0', phase, before, after: await schema() }, retired, VERSIONS)
  }

  test.each([
    ['create table more (id integer not null primary key, name text not null unique)'],
    ["alter table whole add column age integer, add column kind text not null default 'a'"],
    ['create index whole_name_index on whole (name)'],
    ["alter table whole alter column name set default 'a'"],
  ])('an expand migration may: %s', async (statement) => {
    expect(await problems(statement)).toEqual([])
  })

  test.each([
    ['drop table part', 'part was removed or renamed'],
    ['alter table whole rename to entire', 'whole was removed or renamed'],
    ['alter table whole drop column name', 'whole.name was removed or renamed'],
    ['alter table whole rename column name to title', 'whole.name was removed or renamed'],
    ['alter table whole alter column size type bigint', 'whole.size was integer not null and is bigint not null'],
    ['alter table whole alter column name set not null', 'whole.name was text and is text not null'],
    ['alter table whole add column age integer not null', 'whole.age is not null without a default'],
    [
      'create unique index whole_name_index on whole (name)',
      'whole has a new rule: CREATE UNIQUE INDEX whole_name_index ON public.whole USING btree (name);',
    ],
    [
      'alter table whole add constraint small check (size < 9)',
      'whole has a new rule: alter table whole add constraint small CHECK ((size < 9));',
    ],
  ])('an expand migration may not: %s', async (statement, problem) => {
    expect(await problems(statement)).toEqual([problem])
  })

  test('a contract migration removes what an earlier version has stopped to use, and nothing else', async () => {
    const name = 'whole.name'
    const drop = 'alter table whole drop column name'
    expect(await problems(drop, 'contract', [{ name, since: '1.1.0' }])).toEqual([])
    expect(await problems(drop, 'contract', [{ name, since: '1.2.0' }])).toEqual([`${name} was removed or renamed`])
    expect(await problems(drop, 'contract')).toEqual([`${name} was removed or renamed`])
    expect(await problems(drop, 'expand', [{ name, since: '1.1.0' }])).toEqual([`${name} was removed or renamed`])
  })
})
