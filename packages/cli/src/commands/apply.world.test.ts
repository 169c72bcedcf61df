import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { validator } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'
import { described } from '../../test/described.ts'

const { env, home } = await commandDatabase()
const path = join(home.path, 'rollcall.yaml')
const FILE = `# Grants that several participants have stand once.
version: 1
registries:
  civil:
    kind: civil
    time_zone: Africa/Kigali
participants:
  a.example:
    name: A
    grants:
      civil: &lookup
        operations: [search]
        see: [identifier, surname]
        basis: law
  b.example:
    name: B
    grants:
      civil: *lookup
`
const apply = async (text: string, ...words: string[]) => {
  await writeFile(path, text)
  return rollcall(['apply', path, ...words], env)
}

test('a file makes a registry of an empty database, and its export changes nothing', async () => {
  const tried = await apply(FILE, '--dry-run')
  expect(tried.stdout).toMatch(/^\+ registries\.civil\n {4}\+ \{"kind":"civil",/)
  expect(tried.stdout).toMatch(/\n5 changes; nothing was changed\n$/)
  const { code, stdout } = await apply(FILE)
  expect(code).toBe(0)
  expect(stdout).toContain('+ participants["b.example"].grants.civil\n')
  expect(stdout).toContain('\n5 changes\n')
  expect(stdout.match(/^[ab]\.example: client_id \w+, client_secret [\w-]{43}$/gm)).toHaveLength(2)
  expect((await apply(FILE)).stdout).toBe('everything is as the file says\n')

  const { stdout: exported } = await rollcall(['export'], env)
  expect(described(exportConfiguration, await rollcallJson(['export'], env))).toEqual(parse(exported))
  expect(exported).not.toMatch(/secret/)
  const again = await rollcall(['apply', '-', '--json'], env, exported)
  expect(described(applyConfiguration, JSON.parse(again.stdout)).changes).toEqual([])
})

test('the schema accepts what is exported, and no misspelt member', async () => {
  const schema = await rollcallJson(['apply', '--schema'], env)
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema')
  const exported = await rollcallJson(['export'], env)
  expect(validator(schema).problem(exported, '')).toBeNull()
  expect(validator(schema).problem({ ...exported, participant: {} }, '')).toBe('participant: is not a known member')
})

test('what would change is shown as it is and as it will be', async () => {
  const { stdout } = await apply(FILE.replace('Africa/Kigali', 'UTC').replace('name: A', 'name: AA'), '--dry-run')
  expect(stdout).toBe(
    '~ registries.civil.time_zone\n    - "Africa/Kigali"\n    + "UTC"\n' +
      '~ participants["a.example"].name\n    - "A"\n    + "AA"\n' +
      '2 changes; nothing was changed\n',
  )
  const without = await apply('version: 1\nparticipants:\n  a.example: {}\n')
  expect(without.stdout).toBe(
    'everything is as the file says\nnot in the file, and left as they are: registry civil, participant b.example\n',
  )
})

test.each([
  [
    'a member that is misspelt',
    FILE.replace('grants:', 'grant:'),
    'line 10: participants["a.example"].grant: is not a known member; the nearest is grants',
  ],
  [
    'a member of a grant that is misspelt',
    FILE.replace('basis: law', 'basis: law\n        counters: none'),
    'line 15: participants["a.example"].grants.civil.counters: is not a known member; the nearest is counts',
  ],
  ['a member that is missing', FILE.replace('    kind: civil\n', ''), 'line 4: registries.civil.kind: is required'],
  [
    'an attribute that is unknown, in a grant that stands elsewhere',
    FILE.replace('surname', 'shoe_size'),
    'line 13: participants["a.example"].grants.civil.see: shoe_size is no attribute, relation or member of Person',
  ],
  [
    'a later version',
    FILE.replace('version: 1', 'version: 2'),
    'line 2: version: this file is of format version 2, and this version of rollcall reads version 1',
  ],
  ['an older version, of which there is none', FILE.replace('version: 1', 'version: 0'), 'line 2: version: must be 1'],
  ['a member that stands twice', FILE.replace('    name: A', '    name: A\n    name: B'), 'line 10: Map keys must be unique'],
])('%s is refused with its line', async (_, text, message) => {
  const before = await rollcallJson(['export'], env)
  const { code, stdout, stderr } = await apply(text)
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${path} ${message}\n` })
  expect(await rollcallJson(['export'], env)).toEqual(before)
})

test('nobody could ask any more: it is refused with its line', async () => {
  const unsigned = '    policy: { signature_policy: if-present, allow_unsigned: true }\n    name: A'
  const file = FILE.replace('    name: A', unsigned)
  expect((await apply(file)).code).toBe(0)
  const { code, stdout, stderr } = await apply(file.replaceAll('    name: ', '    status: disabled\n    name: '))
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: `rollcall: ${path} line 7: this would lock everybody out: of the participants that can ask now, none would be active, have a grant with an operation, and have a key if it must sign; nothing was changed\n`,
  })
})

test.each([
  [['apply'], 'a file is needed; - is standard input'],
  [['apply', 'nowhere.yaml'], 'the file nowhere.yaml cannot be read: no such file or directory'],
])('%j is refused', async (words, message) => {
  const { code, stderr } = await rollcall(words, env)
  expect({ code, stderr }).toEqual({ code: 1, stderr: `rollcall: ${message}\n` })
})

test('a file that is empty', async () => {
  expect(await apply('')).toMatchObject({ code: 1, stderr: 'rollcall: the file must be an object\n' })
  expect(await readFile(path, 'utf8')).toBe('')
})
