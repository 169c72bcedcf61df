import { type Kind, kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { officeSource } from '../test/office.ts'
import { readSourceFile } from './source-file.ts'

const kind = kindNamed('civil') as Kind
type Members = Record<string, unknown>
const office = () => officeSource({ env: 'OFFICE' })
const person = (more: Members): Members => {
  const file = office()
  const { Person } = file.records as { Person: Members }
  return { ...file, records: { Person: { ...Person, ...more } } }
}
const columns = (more: Members): Members => person({ columns: { 'identifier[UIN]': 'national_no', ...more } })
const compare = (more: Members): Members => person({ compare: more })

test('a file is read with what it leaves out', () => {
  const { statement_timeout: _, ...given } = office()
  const file = readSourceFile(given, kind)
  expect(file).toMatchObject({ engine: 'postgresql', url: { env: 'OFFICE' }, ca: null, pool: 8 })
  expect(file).toMatchObject({ statementTimeout: 2_000, candidates: 10_000, timeZone: 'UTC' })
  const records = file.records.get('Person')
  expect(records?.own).toMatchObject({
    from: { schema: 'office', table: 'person' },
    where: 'removed_at is null',
    key: 'person_no',
    columns: ['national_no', 'family_name', 'given_name', 'gender', 'born', 'mobile'],
  })
  expect(records?.children.map(({ key, columns }) => [key, columns])).toEqual([
    ['person_no', ['birth_no', 'place']],
    ['person_no', ['marriage_no', 'married', 'divorced']],
    ['person_no', ['death_no', 'died']],
  ])
  expect([...(records?.lists ?? [])].sort()).toEqual(['divorce_date', 'identifier', 'marriage_date'])
})

test('a number of seconds, a zone, a pool and certificates are read', () => {
  const more = { statement_timeout: 0.5, time_zone: 'Africa/Nairobi', pool: 3, candidates: 100, tls: { ca: '/ca.pem' } }
  const file = readSourceFile({ ...office(), ...more, url: { file: '/run/secrets/civil' } }, kind)
  expect(file).toMatchObject({ statementTimeout: 500, timeZone: 'Africa/Nairobi', pool: 3, candidates: 100 })
  expect(file).toMatchObject({ ca: '/ca.pem', url: { file: '/run/secrets/civil' } })
})

test.each<[string, unknown, string, readonly (string | number)[]]>([
  ['no object', 'text', 'the source file must be an object', []],
  ['an unknown member', { ...office(), poool: 3 }, 'poool: is not a known member; the nearest is pool', ['poool']],
  [
    'an address with its password',
    { ...office(), url: 'postgresql://reader:secret@host/name' },
    'url: must not be the address itself, which has a password: write { env: NAME } or { file: PATH }, which say where it is',
    ['url'],
  ],
  [
    'an engine that is known',
    { ...office(), engine: 'oracle' },
    'engine: Oracle cannot be read yet; import its records from a file (docs/import.md)',
    ['engine'],
  ],
  ['another name', { ...office(), engine: 'postgres' }, 'engine: is called postgresql here', ['engine']],
  [
    'a misspelled engine',
    { ...office(), engine: 'postgresq' },
    'engine: must be postgresql or mariadb or mysql; the nearest is postgresql',
    ['engine'],
  ],
  ['another way', { ...office(), way: 'mirrors' }, 'way: must be live or mirror; the nearest is mirror', ['way']],
  ['a mirror that follows nothing', { ...office(), way: 'mirror' }, 'follow: must be logical or poll', ['follow']],
  [
    'a mirror that follows the log of another engine',
    { ...office(), way: 'mirror', follow: 'binlog' },
    'follow: must be logical or poll',
    ['follow'],
  ],
  [
    'a mirror of MySQL by its log',
    { ...office(), engine: 'mysql', way: 'mirror', follow: 'binlog' },
    'follow: must be poll',
    ['follow'],
  ],
  [
    'a mirror of another engine',
    { ...office(), engine: 'mariadb', way: 'mirror', follow: 'logical' },
    'follow: must be binlog or poll',
    ['follow'],
  ],
  [
    'a mirror without a column of changes',
    { ...office(), way: 'mirror', follow: 'poll' },
    'records.Person.changed: is missing: with follow: poll it names the column that grows with every change',
    ['records', 'Person', 'changed'],
  ],
  [
    'a column of changes of a live source',
    person({ changed: 'changed_at' }),
    'records.Person.changed: is for a mirror with follow: poll',
    ['records', 'Person', 'changed'],
  ],
  [
    'a query whose changes are in no log',
    {
      ...office(),
      way: 'mirror',
      follow: 'logical',
      records: { Person: { select: 'select 1', key: 'no', columns: { 'identifier[UIN]': 'no' } } },
    },
    'records.Person.select: must be a table with its schema in from, such as office.person: with follow: logical the log tells of tables; or name in tables those that it reads, or write follow: poll',
    ['records', 'Person', 'select'],
  ],
  [
    'tables of a query that are in no schema',
    {
      ...office(),
      way: 'mirror',
      follow: 'logical',
      records: {
        Person: { select: 'select 1', key: 'no', columns: { 'identifier[UIN]': 'no' }, tables: [{ from: 'person', on: 'no' }] },
      },
    },
    'records.Person.tables[0].from: must be a table with its schema, such as office.person',
    ['records', 'Person', 'tables', 0, 'from'],
  ],
  [
    'tables of a live source',
    person({ tables: [{ from: 'office.person', on: 'no' }] }),
    'records.Person.tables: is for a mirror with follow: logical',
    ['records', 'Person', 'tables'],
  ],
  [
    'a query whose changes are in no binlog',
    {
      ...office(),
      engine: 'mariadb',
      way: 'mirror',
      follow: 'binlog',
      records: { Person: { select: 'select 1', key: 'no', columns: { 'identifier[UIN]': 'no' } } },
    },
    'records.Person.select: must be a table in from, such as person: with follow: binlog the log tells of tables, or write follow: poll',
    ['records', 'Person', 'select'],
  ],
  [
    'what is for another way of following',
    { ...office(), way: 'mirror', follow: 'logical', poll: {} },
    'poll: is for follow: poll',
    ['poll'],
  ],
  [
    'events of a live source',
    { ...office(), events: 'none' },
    'events: is for a mirror; here way is live, and nothing is copied',
    ['events'],
  ],
  [
    'no time zone',
    { ...office(), time_zone: 'Nairobi' },
    'time_zone: must be the IANA name of a time zone, such as Africa/Nairobi',
    ['time_zone'],
  ],
  ['a long time', { ...office(), statement_timeout: 61 }, 'statement_timeout: must be at most 60', ['statement_timeout']],
  [
    'an unknown record type',
    { ...office(), records: { Persons: (office().records as Members).Person } },
    'records.Persons: must be one of Person; the nearest is Person',
    ['records', 'Persons'],
  ],
  [
    'a table and a query',
    person({ select: 'select 1' }),
    'records.Person: must have from or select, and not both',
    ['records', 'Person'],
  ],
  [
    'no table',
    person({ from: 'office.person where true' }),
    'records.Person.from: must be a table or view, such as office.person; anything else stands in select',
    ['records', 'Person', 'from'],
  ],
  [
    'two statements',
    person({ from: undefined, select: 'select 1; delete from office.person' }),
    'records.Person.select: must be one piece of SQL, without a semicolon',
    ['records', 'Person', 'select'],
  ],
  [
    'a statement that is no query',
    person({ from: undefined, select: 'delete from office.person returning *' }),
    'records.Person.select: must begin with select or with',
    ['records', 'Person', 'select'],
  ],
  [
    'a path that records do not have',
    columns({ 'name.surnam': 'family_name' }),
    'the column mapping of name.surnam: Person has no such path; the nearest is name.surname',
    ['records', 'Person', 'columns', 'name.surnam'],
  ],
  [
    'no primary identifier',
    person({ columns: { 'identifier[NID]': 'national_no' } }),
    'the column mapping has no identifier[UIN], by which the registry knows a Person; map the column that has it, or name another type with rollcall registry set --primary before the first import',
    ['records', 'Person', 'columns'],
  ],
  [
    'a rule for files',
    columns({ duplicates: 'last' }),
    'records.Person.columns.duplicates: is for files; the key tells rows apart',
    ['records', 'Person', 'columns', 'duplicates'],
  ],
  [
    'two columns for one value',
    columns({ death_date: 'died' }),
    'records.Person.children[2].columns.death_date: another column gives it, too; one column must',
    ['records', 'Person', 'children', 2, 'columns', 'death_date'],
  ],
  [
    'a long name',
    person({ key: 'k'.repeat(64) }),
    `records.Person: "${'k'.repeat(64)}" is no name of a column: it has more than 63 bytes`,
    ['records', 'Person'],
  ],
  [
    'a name of many bytes',
    person({ key: 'é'.repeat(32) }),
    `records.Person: "${'é'.repeat(32)}" is no name of a column: it has more than 63 bytes`,
    ['records', 'Person'],
  ],
  [
    'a long name in MariaDB',
    { ...person({ key: 'k'.repeat(65) }), engine: 'mariadb' },
    `records.Person: "${'k'.repeat(65)}" is no name of a column: it has more than 64 characters`,
    ['records', 'Person'],
  ],
  [
    'an unknown way to compare',
    compare({ sex: 'fuzzy' }),
    'records.Person.compare.sex: must be one of exact, digits, folded, date, number, code',
    ['records', 'Person', 'compare', 'sex'],
  ],
  [
    'an unknown attribute',
    compare({ surnam: 'folded' }),
    'records.Person.compare.surnam: Person has no such attribute or identifier type; the nearest is surname',
    ['records', 'Person', 'compare', 'surnam'],
  ],
  [
    'an attribute without a column',
    compare({ death_place: 'folded' }),
    'records.Person.compare.death_place: no column gives it',
    ['records', 'Person', 'compare', 'death_place'],
  ],
  [
    'what a proposal leaves to a person',
    person({ where: '?' }),
    'records.Person.where: stands for "?"; decide it, by one of the lines that the proposal has below it',
    ['records', 'Person', 'where'],
  ],
  [
    'exact for what is folded',
    compare({ surname: 'exact' }),
    'records.Person.compare.surname: is text that compares without case and accents; write folded',
    ['records', 'Person', 'compare', 'surname'],
  ],
  [
    'folded for a date',
    compare({ birth_date: 'folded' }),
    'records.Person.compare.birth_date: is of type date; write exact or another way',
    ['records', 'Person', 'compare', 'birth_date'],
  ],
  [
    'a code without codes',
    person({ columns: { 'identifier[UIN]': 'national_no', sex: 'gender' }, compare: { sex: 'code' } }),
    'records.Person.compare.sex: compares by codes; write the codes of sex',
    ['records', 'Person', 'compare', 'sex'],
  ],
  [
    'codes that are not all listed',
    person({
      columns: { 'identifier[UIN]': 'n', sex: { column: 'gender', codes: { '1': 'male' }, unlisted: 'keep' } },
      compare: { sex: 'code' },
    }),
    'records.Person.compare.sex: compares by the codes of sex, which keeps codes that it does not list',
    ['records', 'Person', 'compare', 'sex'],
  ],
])('%s is refused', (_, given, message, at) => {
  const text = JSON.parse(JSON.stringify(given))
  expect(() => readSourceFile(text, kind)).toThrow(expect.objectContaining({ name: 'SourceRefusal', message, at }))
})

test('a name of 63 bytes is read in PostgreSQL, one of 64 characters in MariaDB', () => {
  for (const [engine, key] of [
    ['postgresql', 'k'.repeat(63)],
    ['mariadb', 'é'.repeat(64)],
  ] as const) {
    const file = readSourceFile({ ...person({ key }), engine }, kind)
    expect(file.records.get('Person')?.own.key).toBe(key)
  }
})
