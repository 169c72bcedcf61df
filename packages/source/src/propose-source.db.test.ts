import { type Kind, kindNamed } from '@rollcall/protocol'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { decided } from '../test/decided.ts'
import { addressOf, makeOffice } from '../test/office.ts'
import { ASHA, bareFile } from '../test/proposing.ts'
import { checkSource } from './check-source.ts'
import type { OpenEngine } from './engine/engine.ts'
import { openEngine } from './engines.ts'
import { proposeSource } from './propose-source.ts'
import { undecidedMemberLines, writeProposedText } from './proposed-text.ts'
import { readSourceFile } from './source-file.ts'

const kind = kindNamed('civil') as Kind
const bare = bareFile('postgresql', 'DB')

/** Values of persons that look like codes, words and names of columns. */
const VALUES = [
  ...['Ng', 'Male', 'Null', "O'Brien-Ångström", 'true', '1950-05-05', '05/06/1950', '8128560370', '+255 700 000 017'],
  ...['zed@example.org', 'Single-minded', 'K77', 'Kilimanjaro', 'select'],
]

let database: Awaited<ReturnType<typeof emptyDatabase>>
let client: pg.Client
let engine: OpenEngine
beforeAll(async () => {
  database = await emptyDatabase()
  client = new pg.Client(database.connection)
  await client.connect()
  engine = openEngine(bare, { DB: addressOf(database.connection) })
})
afterAll(async () => {
  await engine.close()
  await client.end()
  await database.drop()
})

const propose = (tables: Readonly<Record<string, string>> = {}, of = kind) =>
  proposeSource(of, bare, engine, new Map(Object.entries(tables)))

/** The text of the proposal of a schema that is made for it alone. */
async function proposed(sql: string, tables: Readonly<Record<string, string>> = {}, of = kind): Promise<string> {
  await client.query('drop schema if exists t cascade; create schema t; set search_path = t')
  await client.query(sql)
  return writeProposedText(of.name, bare, await propose(tables, of))
}

/** Lines without their indents. */
const flat = (text: string): string => text.replaceAll(/^ +/gm, '')

const PERSON = `create table person (id serial primary key, uin text not null unique, surname text, given_name text)`

describe('the office of the example', () => {
  beforeAll(async () => {
    await makeOffice(database.connection, [
      ASHA,
      { person_no: 3, national_no: '8100000031', family_name: 'Mushi', gender: 1, death: { no: 'D-9', died: '2020-11-01' } },
    ])
  })
  afterAll(() => client.query('drop schema office cascade'))

  test('needs two decisions, and is then read as the file that was written by hand', async () => {
    const records = await propose()
    const text = writeProposedText('civil', bare, records)
    expect(undecidedMemberLines(records)).toEqual([
      'Person, office.person, identifier[UIN]: every Person is known by its UIN, and no name of a column means it',
      'Person, office.person, sex: gender: its name means the attribute sex; some of its values are not on the list sex',
    ])
    expect(flat(text)).toContain('# it is the primary key.\nkey: "person_no"\n')
    expect(text).toContain('where: "removed_at is null"')
    expect(text).toContain('# sex: { column: "gender", codes: {"1":"male","2":"female"} }   # as ISO/IEC 5218 has them')
    expect(text).toContain('marriage_date: { column: "married", format: "dd/MM/yyyy" }')
    expect(text).not.toMatch(/Okoro|Asha|8100|1990|Moshi|M-2015|B-1990|255/)
    const file = readSourceFile(parse(decided(text)), kind)
    const [person] = [...file.records.values()]
    expect(person?.children.map(({ from, key }) => [from, key])).toEqual([
      [{ schema: 'office', table: 'birth' }, 'person_no'],
      [{ schema: 'office', table: 'death' }, 'person_no'],
      [{ schema: 'office', table: 'marriage' }, 'person_no'],
    ])
    expect(Object.fromEntries(person?.compare ?? [])).toEqual({
      ...{ surname: 'folded', given_name: 'folded', sex: 'code', birth_date: 'date', MOBILE: 'digits' },
      ...{ birth_place: 'folded', death_date: 'date', marriage_date: 'date' },
    })
    const [checked] = (await checkSource(kind, file, engine)).records
    expect(checked).toMatchObject({ rows: 2, leftOut: 0 })
  })
})

describe('a schema of another office', () => {
  test('no value of a person leaves, whatever it looks like', async () => {
    const columns = ['uin', 'surname', 'given_name', 'sex', 'marital_status', 'dob', 'phone', 'email', 'note', 'status', 'active']
    const text = await proposed(`create table person (${columns.map((name) => `${name} text`).join(', ')}, "Sexo" text);
      create table birth (person_id text, birth_no text, place text)`)
    expect(text).toContain('key: "?"')
    for (const value of VALUES) {
      await client.query(`insert into person select ${columns.map(() => '$1').join(', ')}, $1 from generate_series(1, 2)`, [
        value,
      ])
      await client.query('insert into birth values ($1, $1, $1)', [value])
    }
    const records = await propose()
    const shown = [writeProposedText('civil', bare, records), JSON.stringify(undecidedMemberLines(records))].join('\n')
    for (const value of VALUES.filter((one) => one !== 'Null' && one !== 'select' && one !== 'true')) {
      expect(shown).not.toContain(value)
    }
    expect(shown).not.toMatch(/"(?:Null|select)"/)
    expect(shown).toContain('and they are too rare to be shown as codes')
  })

  test('unknown codes are shown where many have them, and stand for "?"', async () => {
    const text = await proposed(`${PERSON}; alter table person add marital_status text, add sex text;
      insert into person select n, 'U' || n, 'A', 'B', case when n % 2 = 0 then 'VX' else 'QQ' end, 'F' from generate_series(1, 20) as n`)
    expect(text).toContain(
      'marital_status: { column: "marital_status", codes: {"QQ":"?","VX":"?"} }   # write what each means in place of ?',
    )
    expect(text).toContain('sex: { column: "sex", codes: {"F":"female"} }')
    expect(() => readSourceFile(parse(text), kind)).toThrow(
      'records.Person.columns.marital_status: stands for "?"; decide it, by one of the lines that the proposal has below it',
    )
  })

  test('a lookup table says what codes mean; what it does not say is left to a person, and no value of it is shown', async () => {
    const text = await proposed(`create table ref_gender (id int primary key, short text, label text, note text);
      insert into ref_gender values (1, 'H', 'Homme', 'Okoro'), (2, 'F', 'Femme', null), (3, 'U', null, null);
      create table marital_state (code text primary key, label text);
      insert into marital_state values ('C', 'Single'), ('W', 'Widow'), ('Asha', 'Okoro'), ('8128560370', 'Divorced');
      create table town (id int primary key, name text);
      insert into town select n, 'Moshi ' || n from generate_series(1, 30) as n;
      ${PERSON}; alter table person add gender_id int references ref_gender, add marital_status text references marital_state,
        add birth_place int references town, add mother_id int references person;
      insert into person values (1, 'U1', 'A', 'B', 1, 'Asha', 7)`)
    expect(flat(text)).toContain(
      [
        '# gender_id: its name means the attribute sex; its values are keys of t.ref_gender; each row has a word for a code of the list sex.',
        'sex: { column: "gender_id", codes: {"1":"male","2":"female","3":"unknown"} }',
      ].join('\n'),
    )
    expect(text).toContain('# DECIDE marital_status: its name means the attribute marital_status; its values are keys of')
    expect(text).toContain('codes: {"C":"S","W":"W","?":"?"} }   # list the other keys of t.marital_state, and what each')
    expect(text).toContain('its values are keys of t.town: a select that joins that table has what they mean')
    expect(text).toContain('sex: code')
    expect(text).not.toMatch(/Okoro|Asha|Moshi|8128560370/)
  })

  test('dates in either order are left to a person, and others have their format', async () => {
    const text = await proposed(`${PERSON}; alter table person add born text, add death_date timestamp, add registered text;
      insert into person values (1, 'U1', 'A', 'B', '03/04/1950', '2020-01-01 10:00', '31.12.1999')`)
    expect(flat(text)).toContain(
      [
        '# DECIDE born: its name means the attribute birth_date; every value can be read as day and month in either order: ask who made the data.',
        'birth_date: "?"',
        '# birth_date: { column: "born", format: "dd/MM/yyyy" }   # dates such as 03/02/2001',
        '# birth_date: { column: "born", format: "MM/dd/yyyy" }   # dates such as 02/03/2001',
      ].join('\n'),
    )
    const file = readSourceFile(parse(decided(text)), kind)
    expect((await checkSource(kind, file, engine)).records[0]).toMatchObject({ rows: 1, leftOut: 0 })
  })

  test.each([
    ['deleted boolean', 'where: "deleted is not true"'],
    ['is_deleted boolean not null default false', 'where: "not is_deleted"'],
    ['"removedAt" date', `where: "\\"removedAt\\" is null"`],
    ['deleted_at timestamptz, voided boolean', 'where: "deleted_at is null and voided is not true"'],
    ['active boolean', 'where: "?"\n# where: "active"   # only these rows count\n# where: "true"   # every row counts'],
    ['deleted smallint default 0', 'where: "?"\n# where: "deleted = 0"   # only these rows count\n'],
    [`valid char(1) default 'Y'`, `where: "?"\n# where: "valid = 'Y'"   # only these rows count\n`],
    ['deleted_by text', 'key: "id"\ncolumns:'],
  ])('rows that do not count, by %s', async (column, expected) => {
    const text =
      await proposed(`create table person (id serial primary key, uin text not null unique, surname text, given_name text, ${column});
      insert into person (uin, surname) values ('U1', 'A')`)
    expect(flat(text)).toContain(expected)
  })

  test('keys: a unique column, one of several, and those of a view, of which nothing is known', async () => {
    const rest = 'surname text, given_name text, born date'
    expect(flat(await proposed(`create table person (nr int not null unique, uin text, ${rest})`))).toContain(
      '# each row has another one.\nkey: "nr"',
    )
    expect(flat(await proposed(`create table person (nr int not null unique, uin text not null unique, ${rest})`))).toContain(
      'key: "?"\n# key: "nr"   # each row has another one\n# key: "uin"   # each row has another one\n',
    )
    const view = await proposed(`create table raw (a int, b text, c text, d text);
      insert into raw values (1, 'x', 'y', 'z'), (2, 'x', 'y', 'w');
      create view person as select a as nr, b as surname, c as given_name, d as uin from raw`)
    expect(flat(view)).toContain('key: "?"\n# key: "nr"   # each row that was read has another one\n# key: "uin"')
  })

  test('children by foreign keys: lists of identifiers, one value of several rows, two keys to a person', async () => {
    const text = await proposed(`${PERSON};
      create table birth (birth_no text primary key, person int not null references person, place text);
      create table residence (nr int primary key, person int references person, district text);
      create table marriage (nr int primary key, husband int references person, wife int references person, married date);
      create table visit (nr int primary key, person int references person, purpose text);
      insert into person select n, 'U' || n, 'A', 'B' from generate_series(1, 3) as n;
      insert into birth values ('B1', 1, 'X'), ('B2', 2, 'Y');
      insert into residence values (1, 1, 'D1'), (2, 1, 'D2')`)
    expect(flat(text)).toContain('- from: t.birth   # 2 rows were read\n# its foreign key names the record.\non: "person"')
    expect(flat(text)).toContain('birth_place.name: "place"')
    expect(flat(text)).toContain('# DECIDE district: its name means the attribute district; some records have several rows here')
    expect(flat(text)).toContain('on: "?"\n# on: "husband"   # a foreign key\n# on: "wife"   # a foreign key')
    expect(text).not.toContain('visit')
    readSourceFile(parse(decided(text)), kind)
  })

  test('each record type has a table of its own; a column without a name of ours is not there', async () => {
    const social = kindNamed('social') as Kind
    const [first, second] = social.record_types
    const text = await proposed(
      `create table household (household_id text primary key, uin text, district text, secret_note text);
      create table members (member_no int primary key, household_id text references household, uin text, surname text, given_name text, dob date, sex text)`,
      { [first.name]: 't.household' },
      social,
    )
    expect(text).toContain(`  ${first.name}:\n    from: t.household`)
    expect(text).not.toContain('secret_note')
    expect(second === undefined || text.includes('t.members')).toBe(true)
  })

  test('names that are no plain words are quoted', async () => {
    const text = await proposed(
      `create table "Person list" ("Key No" int primary key, "UIN" text not null unique, "Family name" text, "Né le" date)`,
    )
    expect(text).toContain(String.raw`select: "select * from \"t\".\"Person list\""`)
    expect(text).toContain('birth_date: "Né le"')
    const file = readSourceFile(parse(decided(text)), kind)
    expect((await checkSource(kind, file, engine)).records[0]).toMatchObject({ rows: 0 })
  })
})

describe('what cannot be proposed is refused', () => {
  test('without a table of the records', async () => {
    await expect(proposed('create table ledger (id int primary key, amount int)')).rejects.toThrow(
      'no table that the account may read has columns with names of a Person; name its table with --table',
    )
  })

  test('with two tables that may both have them, until one is named', async () => {
    const two = `${PERSON}; create table citizen_person (like person including all)`
    await expect(proposed(two)).rejects.toThrow(
      'tables: t.citizen_person and t.person may both have the records of Person; name one with --table',
    )
    expect(await proposed(two, { Person: 'person' })).toContain('from: t.person ')
    await expect(propose({ Person: 't.persons' })).rejects.toThrow(
      'tables: t.persons: the account may read no such table; the nearest is t.person',
    )
    await expect(propose({ Persn: 't.person' })).rejects.toThrow('tables: Persn must be one of Person')
    await client.query('create schema u; create table u.person (n int)')
    await expect(propose({ Person: 'person' })).rejects.toThrow('tables: person: several schemas have it; name one of them')
    await client.query('drop schema u cascade')
  })

  test('of a database that is not there', async () => {
    const gone = openEngine(bare, { DB: 'postgresql://nobody@127.0.0.1:1/x' })
    await expect(proposeSource(kind, bare, gone, new Map())).rejects.toThrow(
      'there is no answer from a database at the address in DB (ECONNREFUSED)',
    )
    await gone.close()
  })
})
