import { execFileSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '@rollcall/database/database'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, dataDirectory, rollcall, rollcallJson } from '../../test/command.ts'

let env: { DATABASE_URL: string }
let home: Awaited<ReturnType<typeof dataDirectory>>
let database: Awaited<ReturnType<typeof testDatabase>>
let files = 0

beforeAll(async () => {
  database = await testDatabase()
  home = await dataDirectory()
  env = { DATABASE_URL: databaseUrl(database.connection) }
  await rollcallJson(['registry', 'add', 'civil'], env)
})

afterAll(async () => {
  await database.close()
  await home.remove()
})

/** Each test has a registry without records, which shows what it alone has imported. */
beforeEach(async () => {
  await database.db.pool.query('truncate r1_person, r1_person_identifier')
})

async function file(name: string, content: string): Promise<string> {
  const path = join(home.path, `${++files}-${name}`)
  await writeFile(path, content)
  return path
}

const person = (uin: string): object => ({ identifier: [{ identifier_type: 'UIN', identifier_value: uin }] })
const lines = (...documents: unknown[]): string => documents.map((value) => `${JSON.stringify(value)}\n`).join('')

async function count(db: Database): Promise<number> {
  const { rows } = await db.pool.query('select count(*) as count from r1_person')
  return rows[0].count
}

test('NDJSON: all in, exit code 0', async () => {
  const path = await file('people.ndjson', lines(person('A1'), person('A2')))
  const { code, stdout } = await rollcall(['import', 'civil', path], env)
  expect(code).toBe(0)
  expect(stdout).toMatch(/^2 of 2 records are in civil: 2 new, 0 replaced \(\d+\.\d s, \d+\/s\)\n/)
  expect(stdout).toMatch(/\nPerson +understood +empty +not understood\nUIN +2 +0 +0\n/)
  expect(await count(database.db)).toBe(2)
})

test('one person several times in a file is one new record, and the last one stands', async () => {
  const ada = (given: string) => ({ ...person('A1'), name: { family_name: 'Okoro', given_name: given } })
  const path = await file('thrice.ndjson', lines(ada('Ad'), ada('Ada'), ada('Adah')))
  const { stdout } = await rollcall(['import', 'civil', path], env)
  expect(stdout).toMatch(/^3 of 3 records are in civil: 1 new, 2 replaced /)
  expect(stdout).toContain(
    '\nrepeated: the line has the primary identifier of an earlier line, and replaces its record; lines 2, 3\n',
  )
  expect(stdout).toMatch(/\nUIN +3 +0 +0\nsurname +3 +0 +0\ngiven_name +3 +0 +0\n/)
  expect(stdout).toContain('Person, read in no record: BRN, MRN, ')
  expect(await count(database.db)).toBe(1)
  expect(await rollcallJson(['import', 'civil', path], env)).toMatchObject({ new: 0, replaced: 3 })
})

test('one person twice in a table: the first row stands, and exit code 3; or the last, if the mapping says so', async () => {
  const path = await file('twice.csv', 'No,Given,DOB\nA1,Ada,2090-12-31\nB2,Binta,31/12/1990\na1,Adah,1990-01-01\n')
  const columns = {
    'identifier[UIN]': 'No',
    'name.given_name': 'Given',
    birth_date: { column: 'DOB', format: ['dd/MM/yyyy', 'yyyy-MM-dd'] },
  }
  const map = await file('columns.json', JSON.stringify(columns))
  for (const options of [['--dry-run', '--rejects', `${path}.rejects.ndjson`], []]) {
    const first = await rollcall(['import', 'civil', path, '--map', map, ...options], env)
    expect(first.code).toBe(3)
    expect(first.stdout).toMatch(/2 of 3 records /)
    expect(first.stdout).toContain('\nrejected: an earlier line has the same UIN, and its record stands; line 4\n')
    expect(first.stdout).toContain('\nbirth_date is after today, stored as it is; line 2\n')
    expect(JSON.parse(await readFile(`${path}.rejects.ndjson`, 'utf8'))).toEqual({
      line: 4,
      reason: 'line 2 has the same UIN, and its record stands',
    })
  }
  expect(await count(database.db)).toBe(2)

  const last = await file('columns.yaml', JSON.stringify({ duplicates: 'last', ...columns }))
  const second = await rollcall(['import', 'civil', path, '--map', last], env)
  expect(second.code).toBe(0)
  expect(second.stdout).toContain(
    '\nrepeated: the line has the primary identifier of an earlier line, and replaces its record; line 4\n',
  )
})

test('rejected lines: exit code 3, and a file that says why', async () => {
  const path = await file('some-bad.ndjson', `${lines(person('A1'))}{"identifier": []}\nnot json\n`)
  const rejects = join(home.path, 'why.ndjson')
  const { code, stdout } = await rollcall(['import', 'civil', path, '--json', '--rejects', rejects], env)
  expect(code).toBe(3)
  const result = JSON.parse(stdout)
  expect(result).toEqual({
    namespace: 'civil',
    file: path,
    finished: true,
    dry_run: false,
    read_as: { format: 'ndjson', encoding: 'utf-8', delimiter: null, header: null },
    lines: 3,
    written: 1,
    new: 1,
    replaced: 0,
    unchanged: null,
    removal: null,
    rejected: 2,
    report: expect.objectContaining({ kept: 0, columns: [], unused_columns: [] }),
    events: 'none',
    resumed_from: 0,
    rejects_file: rejects,
    undecided_columns: [],
    seconds: expect.any(Number),
  })
  const told = (await readFile(rejects, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(told.map(({ line }) => line)).toEqual([2, 3])
  expect(told[0].reason).toContain('no usable UIN')
})

test('CSV with a column mapping', async () => {
  const path = await file('people.csv', 'No;Given\n17;Ada\n18;Grace\n')
  const map = await file('map.json', JSON.stringify({ 'identifier[UIN]': 'No', 'name.given_name': 'Given' }))
  const words = ['import', 'civil', path, '--map', map, '--delimiter', ';', '--record-type', 'Person']
  expect(await rollcallJson(words, env)).toMatchObject({ lines: 2, written: 2 })
  const { rows } = await database.db.pool.query('select document from r1_person order by id')
  expect(rows.map(({ document }) => JSON.parse(document).name.given_name)).toEqual(['Ada', 'Grace'])
})

test('CSV as a spreadsheet of Windows writes it, in Latin-1 with semicolons, is read as such, and said', async () => {
  const path = join(home.path, 'windows.csv')
  await writeFile(path, 'No;Given;Note\r\n17;Zoé;x\r\n', 'latin1')
  const map = await file('map.json', JSON.stringify({ 'identifier[UIN]': 'No', 'name.given_name': 'Given' }))
  const words = ['import', 'civil', path, '--map', map]
  const { code, stdout } = await rollcall(words, env)
  expect(code).toBe(0)
  expect(stdout).toContain('\nread as CSV in windows-1252, with semicolons between cells, with a header line\n')
  expect(stdout).toMatch(/\ncolumn +path +understood +empty +not understood\nNo +identifier\[UIN\] +1 +0 +0\n/)
  expect(stdout).toContain('\ncolumns that are not imported: Note\n')
  expect(stdout).not.toContain('Zoé')
  const { rows } = await database.db.pool.query('select document from r1_person')
  expect(JSON.parse(rows[0].document).name.given_name).toBe('Zoé')
  const forced = ['--delimiter', ',', '--encoding', 'utf-8', '--header']
  expect(await rollcall([...words, ...forced], env)).toMatchObject({
    code: 1,
    stderr: "rollcall: the columns of the file are separated by semicolons; add --delimiter ';'\n",
  })
})

test('a date that is not understood: rejected, or kept with --lenient, after a dry run that says so', async () => {
  const path = await file('dates.csv', '17,31/12/1990\n18,1990-12-31\n')
  const map = await file('map.json', JSON.stringify({ 'identifier[UIN]': '1', birth_date: '2' }))
  const words = ['import', 'civil', path, '--map', map, '--no-header']
  const dry = await rollcall([...words, '--dry-run'], env)
  expect(dry.code).toBe(3)
  expect(dry.stdout).toMatch(/^dry run, nothing is written: 1 of 2 records can be imported into civil /)
  expect(dry.stdout).toContain('\n1 was rejected; name a file with --rejects to list them\n')
  expect(dry.stdout).toContain('\n2 (birth_date) must be a date such as 1990-12-31, 1990-12, 1990 or 31.12.1990; line 1\n')
  expect(await count(database.db)).toBe(0)
  expect((await rollcall(words, env)).code).toBe(3)
  const kept = await rollcall([...words, '--lenient'], env)
  expect(kept.code).toBe(0)
  expect(kept.stdout).toContain('\n1 is stored although a value of it is not understood\n')
  expect(await rollcallJson([...words, '--lenient', '--dry-run'], env)).toMatchObject({
    dry_run: true,
    new: null,
    replaced: null,
    unchanged: null,
    removal: null,
    written: 2,
    rejected: 0,
    read_as: { format: 'csv', encoding: 'utf-8', delimiter: ',', header: false },
    report: {
      kept: 1,
      columns: [
        { column: '1', understood: 2 },
        { column: '2', not_understood: 1, lines: [1] },
      ],
    },
  })
})

test.each([
  ['not json', 'the file of --map is not JSON: '],
  ['[]', 'the column mapping must be a JSON object such as {"name.given_name": "Given name"'],
])('a mapping %j is refused', async (content, message) => {
  const map = await file('bad-map.json', content)
  const { code, stderr } = await rollcall(['import', 'civil', 'x.csv', '--map', map], env)
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`rollcall: ${message}`) })
})

test('docs/import.md shows the report as it is printed', async () => {
  const rows = 'U1,31/12/1990,\nU2,1990-12-31,x\nU3,01/02/1988,\nU4,01/02/1988,y,z\n'
  await writeFile(join(home.path, 'people.csv'), `National ID,DOB,Notes\n${rows}`)
  const birth_date = { column: 'DOB', format: 'dd/MM/yyyy' }
  const map = await file('map.json', JSON.stringify({ 'identifier[UIN]': 'National ID', birth_date }))
  const { stdout } = await rollcall(['import', 'civil', join(home.path, 'people.csv'), '--map', map], env)
  const page = await readFile(new URL('../../../../docs/import.md', import.meta.url), 'utf8')
  const printed = stdout
    .replace(/\(\d+\.\d s, \d+\/s\)/, '(0.1 s, 40/s)')
    .replace(`${home.path}/`, '')
    .replace(/(BRN, MRN, ).*/, '$1...')
  expect(page).toContain(`\`\`\`\n${printed}\`\`\``)
})

test('a proposed mapping: rows left out, columns still to decide, a code without meaning, a file that is there', async () => {
  const rows = ['8100000017,F,03/04/2001,a', '8100000024,X,05/06/2002,b', '8100000031,F', '1,M,05/06/2002,c,d']
  const path = await file('people.csv', `UIN,Sex,Registered,Ward\n${rows.join('\n')}\n`)
  const map = `${path}.yaml`
  const propose = ['mapping', 'propose', path, 'civil', '--out', map]
  const left = '2 rows were left out: not as many cells as the header line, or not readable; lines 4, 5'
  expect((await rollcall(propose, env)).stdout).toBe(
    `1 columns are proposed, 2 must be decided, 1 are not mapped; review ${map}\n${left}\n`,
  )
  expect((await stat(map)).mode & 0o777).toBe(0o600)
  const text = await readFile(map, 'utf8')
  expect(text).toContain(`from the columns of ${path} and 2 rows. Review every line.\n`)
  expect(text).toContain(`\n# LEFT OUT: ${left}.\n`)
  expect(await rollcall(propose, env)).toMatchObject({
    code: 1,
    stderr: `rollcall: the file ${map} of --out cannot be written: it is there already; name another file, or delete this one\n`,
  })
  const words = ['import', 'civil', path, '--map', map, '--dry-run']
  const undecided = await rollcall(words, env)
  expect(undecided.stdout).toContain(
    '\nnot imported, because the mapping still has DECIDE for them: Sex, Registered; choose a line for each, or delete its lines\ncolumns that are not imported: Ward\n',
  )
  const bare = text.replace(/^# DECIDE Registered.*\n(#.*\n)*/m, '')
  await writeFile(map, bare)
  const { stdout } = await rollcall([...words, '--json'], env)
  expect(JSON.parse(stdout)).toMatchObject({ rejected: 2, undecided_columns: ['Sex'] })
  await writeFile(map, bare.replace('# sex:', 'sex:'))
  expect(await rollcall(words, env)).toMatchObject({
    code: 1,
    stderr: 'rollcall: the column mapping of sex.codes.X: stands for "?"; write what it means\n',
  })
})

test('a mapping is proposed of a named pipe, as a shell makes one for <(...)', async () => {
  const path = join(home.path, 'people.pipe')
  execFileSync('mkfifo', [path])
  const [proposed] = await Promise.all([
    rollcall(['mapping', 'propose', path, 'civil'], env),
    writeFile(path, 'UIN,Sex\n8100000017,F\n8100000024,M\n'),
  ])
  expect(proposed).toMatchObject({ code: 0, stderr: '' })
  expect(proposed.stdout).toContain(`from the columns of ${path} and all 2 rows. Review every line.\n`)
})

test('a registry or kind that is not there: the names that there are, and no name of a member', async () => {
  const { code, stderr } = await rollcall(['mapping', 'propose', 'x.csv', 'civi'], env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^rollcall: there is no registry and no kind civi; there are civil, /),
  })
})

test('standard input', async () => {
  const words = ['import', 'civil', '-', '--format', 'json', '--json']
  const { code, stdout } = await rollcall(words, env, JSON.stringify([person('B1'), person('B2')]))
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ file: '-', lines: 2, written: 2 })
})

test.each([
  ['a registry that is not there', ['import', 'nowhere', '/dev/null', '--format', 'json'], 'there is no registry at nowhere'],
  [
    'a file that is not there',
    ['import', 'civil', '/nowhere.ndjson'],
    'the file /nowhere.ndjson cannot be read: no such file or directory',
  ],
  [
    'a format that is not clear',
    ['import', 'civil', '/dev/null'],
    'the name of the file does not tell its format; add --format with one of ndjson, json, csv',
  ],
  [
    'a mapping that is not there',
    ['import', 'civil', 'x.csv', '--map', '/nowhere'],
    'the file /nowhere of --map cannot be read: no such file or directory',
  ],
  [
    'a file of rejects that has the mapping',
    ['import', 'civil', 'x.csv', '--map', 'x.json', '--rejects', './x.json'],
    '--rejects names the file of --map; name another file',
  ],
  [
    'CSV without a mapping',
    ['import', 'civil', 'x.csv'],
    'a CSV file needs a column mapping: add --map columns.json, a file such as {',
  ],
  [
    'a record type of another kind',
    ['import', 'civil', 'x.ndjson', '--record-type', 'Farmer'],
    'the registry has no record type Farmer; it has Person',
  ],
])('%s: exit code 1 and one line', async (_, words, message) => {
  const { code, stdout, stderr } = await rollcall(words, env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`rollcall: ${message}`)
  expect(stderr.trimEnd()).not.toContain('\n')
})

test('a proposal of a file without a header line shows nothing of its first person', async () => {
  const path = await file('persons.csv', '8128560370,Amina,female\n8128560371,Bola,male\n')
  const out = `${path}.yaml`
  expect(await rollcall(['mapping', 'propose', path, 'civil', '--out', out], env)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'rollcall: the file seems to have no header line: cell 1 of its first line looks like a value, and is not shown. ' +
      'Write a line with the names of the columns above the rows\n',
  })
  await expect(stat(out)).rejects.toMatchObject({ code: 'ENOENT' })
})
