import { type Kind, kindNamed } from '@rollcall/protocol'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { addressOf, makeOffice, officeSource } from '../test/office.ts'
import { checkSource, type SourceFindings } from './check-source.ts'
import { openEngine } from './engines.ts'
import { readSourceFile } from './source-file.ts'

const kind = kindNamed('civil') as Kind
const ROLE = 'office_reader'
let office: Awaited<ReturnType<typeof emptyDatabase>>
let admin: pg.Client
let reader: string

beforeAll(async () => {
  office = await emptyDatabase()
  await makeOffice(office.connection, [
    { person_no: 1, national_no: 'A1', family_name: 'Okoro', gender: 1, born: '1985-06-12', mobile: '+1 555-0100' },
    { person_no: 2, national_no: 'a2', family_name: 'Obi', gender: 9, birth: { no: 'B2' } },
    { person_no: 3, national_no: 'A3', family_name: 'Abara', marriages: [{ no: 'M3', married: '31.12.2001' }] },
    { person_no: 4, national_no: ' ', family_name: 'Nobody' },
    { person_no: 5, national_no: 'A5', family_name: 'Gone', removed: true },
  ])
  admin = new pg.Client(office.connection)
  await admin.connect()
  await admin.query(`create role ${ROLE} login password 'reads'`)
  await admin.query(`grant usage on schema office to ${ROLE}; grant select on all tables in schema office to ${ROLE}`)
  await admin.query('revoke create on schema public from public')
  reader = addressOf({ ...office.connection, user: ROLE, password: 'reads' })
})
afterAll(async () => {
  await admin.query(`drop owned by ${ROLE}`)
  await admin.query(`drop role ${ROLE}`)
  await admin.end()
  await office.drop()
})

async function check(given: object = officeSource({ env: 'OFFICE' }), address = reader): Promise<SourceFindings> {
  const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
  const engine = openEngine(file, { OFFICE: address })
  try {
    return await checkSource(kind, file, engine)
  } finally {
    await engine.close()
  }
}

const changed = (more: object): object => {
  const file = officeSource({ env: 'OFFICE' })
  const { Person } = file.records as { Person: object }
  return { ...file, records: { Person: { ...Person, ...more } } }
}

test('a source is reported as an import is: counts and rules, and never a value', async () => {
  const { about, writes, weak, records } = await check()
  expect(about).toMatch(/^PostgreSQL \d+.*, database test_\w+, account office_reader$/)
  expect({ writes, weak }).toEqual({ writes: [], weak: [] })
  const [person] = records
  expect(person).toMatchObject({ recordType: 'Person', rows: 4, leftOut: 3 })
  const column = (path: string) => person?.report.columns.find((one) => one.path === path)
  expect(column('identifier[UIN]')).toMatchObject({ column: 'national_no', understood: 3, empty: 1, not_understood: 0 })
  expect(column('sex')).toMatchObject({ understood: 1, empty: 2, not_understood: 1, lines: [2] })
  expect(column('sex')?.rule).toBe('must be a value that the codes of the mapping list')
  expect(column('marriage_date')).toMatchObject({ not_understood: 1, lines: [3] })
  expect(person?.report.rejections).toEqual([{ reason: 'no usable UIN, by which a Person is known', count: 1, lines: [4] }])
  expect(person?.unfound).toEqual([{ name: 'UIN', column: 'national_no', count: 1 }])
  expect(JSON.stringify(records)).not.toMatch(/Okoro|Obi|0100|31\.12/)
})

test('what would read a whole table is named, with the statement for its index', async () => {
  const [person] = (await check()).records
  expect(person?.slow).toEqual([
    {
      name: 'MOBILE',
      table: 'office.person',
      index: `create index concurrently on "office"."person" ((regexp_replace("mobile" collate "C", '[^0-9]', '', 'g')));`,
    },
    {
      name: 'marriage_date',
      table: 'office.marriage',
      index: expect.stringMatching(
        /^create index concurrently on "office"\."marriage" \(\(btrim\("married"::text, E'\\u0020(?:\\u[0-9a-f]{4})+'\)\)\);$/,
      ),
    },
    { name: 'death_date', table: 'office.death', index: 'create index concurrently on "office"."death" ("died");' },
  ])
})

test.each<[string, string, string, string]>([
  ['CREATEDB', `alter role ${ROLE} createdb`, `alter role ${ROLE} nocreatedb`, 'it may make databases (CREATEDB)'],
  ['CREATEROLE', `alter role ${ROLE} createrole`, `alter role ${ROLE} nocreaterole`, 'it may make roles (CREATEROLE)'],
  ['BYPASSRLS', `alter role ${ROLE} bypassrls`, `alter role ${ROLE} nobypassrls`, 'it passes by the rules of rows (BYPASSRLS)'],
  [
    'REPLICATION',
    `alter role ${ROLE} replication`,
    `alter role ${ROLE} noreplication`,
    'it may replicate the whole server (REPLICATION)',
  ],
  [
    'a role that writes',
    `grant pg_write_all_data to ${ROLE}`,
    `revoke pg_write_all_data from ${ROLE}`,
    'it is a member of pg_write_all_data',
  ],
  [
    'a right to write to a table',
    `grant update on office.birth to ${ROLE}`,
    `revoke update on office.birth from ${ROLE}`,
    'it may write to office.birth',
  ],
  [
    'a right to write to a column',
    `grant update (place) on office.birth to ${ROLE}`,
    `revoke update (place) on office.birth from ${ROLE}`,
    'it may write to office.birth',
  ],
  [
    'a role that it may become, which may write to a table',
    `create role office_clerk; grant delete on office.birth to office_clerk; grant office_clerk to ${ROLE} with inherit false`,
    `revoke delete on office.birth from office_clerk; drop role office_clerk`,
    'it may write to office.birth',
  ],
  [
    'a table of its own, without rights to it',
    `create table office.own_table (id integer); alter table office.own_table owner to ${ROLE}; revoke all on office.own_table from ${ROLE}`,
    'drop table office.own_table',
    'it may write to office.own_table',
  ],
  [
    'a right to a sequence',
    `create sequence office.numbers; grant usage on sequence office.numbers to ${ROLE}`,
    'drop sequence office.numbers',
    'it may advance the sequence office.numbers',
  ],
  [
    'a right to make tables',
    `grant create on schema office to ${ROLE}`,
    `revoke create on schema office from ${ROLE}`,
    'it may make objects in the schema office',
  ],
  [
    'a function that acts as its owner',
    `create function office.wipe() returns void language sql security definer as 'delete from office.birth'`,
    'drop function office.wipe()',
    'it may call office.wipe, which acts as its owner (SECURITY DEFINER)',
  ],
  [
    'a right to make schemas',
    `do $$ begin execute format('grant create on database %I to ${ROLE}', current_database()); end $$`,
    `do $$ begin execute format('revoke create on database %I from ${ROLE}', current_database()); end $$`,
    'it may make schemas in the database (CREATE)',
  ],
])('an account is known that has %s', async (_, give, take, says) => {
  await admin.query(give)
  try {
    expect((await check()).writes).toContain(says)
  } finally {
    await admin.query(take)
  }
  expect((await check()).writes).toEqual([])
})

test('a superuser is known', async () => {
  expect((await check(undefined, addressOf(office.connection))).writes).toContain('it is a superuser')
})

test.each<[string, object, string]>([
  [
    'a table that is not there',
    changed({ from: 'office.persons' }),
    'the database cannot be read as the file says: relation "office.persons" does not exist (42P01)',
  ],
  [
    'a column that is not there',
    changed({ key: 'person_id' }),
    'the database cannot be read as the file says: column own.person_id does not exist (42703)',
  ],
  [
    'a key of another type',
    changed({ key: 'born' }),
    'records.Person.key: born must be a column of whole numbers, of texts or of UUIDs, and it is of another type',
  ],
  [
    'a key of another type than that of its children',
    changed({ key: 'family_name' }),
    'records.Person.children[0].on: person_no must have the type of the key family_name, and it has another one',
  ],
  [
    'a key that two rows have',
    changed({ key: 'one', from: undefined, select: 'select *, 1 as one from office.person' }),
    'records.Person.key: one is the same in several rows, or missing in one',
  ],
  [
    'a query that writes',
    changed({ from: undefined, select: 'with gone as (delete from office.person returning *) select * from gone' }),
    'the database cannot be read as the file says: WITH clause containing a data-modifying statement must be at the top level (0A000)',
  ],
])('%s is refused', async (_, given, message) => {
  await expect(check(given)).rejects.toThrow(expect.objectContaining({ name: 'SourceRefusal', message }))
})

test('a database that is not there is said without its address', async () => {
  const gone = new URL(reader)
  gone.pathname = '/nowhere'
  await expect(check(undefined, gone.href)).rejects.toThrow(
    expect.objectContaining({ message: 'there is no answer from a database at the address in OFFICE (3D000)' }),
  )
  await expect(check(undefined, '')).rejects.toThrow('url: the variable OFFICE is not set')
  await expect(check(undefined, 'no address')).rejects.toThrow(
    'url: the variable OFFICE holds no URL, such as postgresql://reader@host/name',
  )
  await expect(check(undefined, 'mysql://host/name')).rejects.toThrow('url: the address must begin with postgresql://')
})
