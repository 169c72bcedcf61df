import { expect, test } from 'vitest'
import { rollcall, rollcallJson, start, until } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const INDEX = 'r1_person_clan_index'
const ADD = ['attribute', 'add', 'civil', 'Person', '--name', 'clan', '--path', 'clan_name', '--indexed']

const { database, env, importPeople } = await commandDatabase()
await rollcallJson(['registry', 'add', 'civil', '--time-zone', 'Africa/Kigali'], env)
await importPeople(
  Array.from({ length: 40 }, (_, at) => ({
    identifier: [{ identifier_type: 'UIN', identifier_value: `U${at}` }],
    clan_name: `clan ${at % 4}`,
  })),
)

const refusal = async (...words: string[]) => {
  const { code, stdout, stderr } = await rollcall(words, env)
  expect(stdout).toBe('')
  return { code, stderr }
}

test('a registry says its time zone, and changes it', async () => {
  expect(await rollcallJson(['registry', 'list'], env)).toMatchObject([{ time_zone: 'Africa/Kigali' }])
  expect(await rollcallJson(['registry', 'set', 'civil', '--time-zone', 'Asia/Kathmandu'], env)).toMatchObject({
    namespace: 'civil',
    time_zone: 'Asia/Kathmandu',
  })
  expect(await refusal('registry', 'set', 'civil', '--time-zone', 'Mars')).toEqual({
    code: 1,
    stderr: 'rollcall: "Mars" is no time zone; write one such as Africa/Kigali or UTC\n',
  })
})

test('an attribute is added, filled, indexed, listed and removed', async () => {
  const [word = '', ...options] = [...ADD, '--path', 'family.clan', '--alias', 'lineage', '--fold', '--sortable']
  const added = await rollcall([word, ...options], env)
  expect(added).toMatchObject({ code: 0, stderr: '' })
  expect(added.stdout).toBe(
    'added clan of Person in civil; its records have no value in it yet\n' +
      'rollcall index apply civil creates what is missing; if nothing is missing, it changes nothing\n',
  )
  const listed = async () => {
    const rows = await rollcallJson(['attribute', 'list', 'civil', 'person'], env)
    return rows.find(({ name }: { name: string }) => name === 'clan')
  }
  expect(await listed()).toEqual({
    record_type: 'Person',
    name: 'clan',
    type: 'text',
    codes: null,
    many: false,
    fold: true,
    indexed: true,
    sortable: true,
    filled: false,
    from: 'registry',
    aliases: ['lineage'],
    paths: ['clan_name', 'family.clan'],
  })

  const plan = await rollcall(['index', 'plan'], env)
  expect(plan.code).toBe(0)
  expect(plan.stdout).toMatch(/^registry +record_type +finding +name +advice\n/)
  expect(plan.stdout).toMatch(/civil +Person +not filled +clan +not searchable before rollcall index apply civil\n/)
  expect(plan.stdout).toMatch(new RegExp(`civil +Person +index missing +${INDEX} +rollcall index apply civil\n`))

  const applied = await rollcall(['index', 'apply', 'civil'], env)
  expect(applied).toMatchObject({ code: 0 })
  expect(applied.stdout).toBe(`civil: filled Person.clan\ncivil: built ${INDEX}\n`)
  expect(applied.stderr).toContain('civil Person: backfilling clan: 40 of 40\n')
  expect(await listed()).toMatchObject({ filled: true })
  expect((await rollcall(['index', 'apply'], env)).stdout).toBe('nothing to do\n')
  expect((await rollcall(['index', 'plan', 'civil'], env)).stdout).toBe('no declared index is missing\n')

  expect(await rollcallJson(['attribute', 'remove', 'civil', 'Person', 'clan'], env)).toEqual({
    namespace: 'civil',
    record_type: 'Person',
    name: 'clan',
    removed: true,
  })
  expect(await listed()).toBeUndefined()
})

test.each([
  ['an attribute without a path', ['attribute', 'add', 'civil', 'Person', '--name', 'x'], 2, "'--path <path>'"],
  ['a type that is none', [...ADD, '--type', 'age'], 2, 'Allowed choices are text, code, date'],
  ['a registry that is not there', ['index', 'plan', 'nowhere'], 1, 'there is no registry at nowhere'],
  ['a record type that is not there', ['attribute', 'list', 'civil', 'Farmer'], 1, 'the registry has no record type "Farmer"'],
  [
    'an index for nothing',
    ['attribute', 'index', 'civil', 'Person', 'x'],
    1,
    'Person has no attribute "x"; rollcall attribute list shows those it has',
  ],
])('%s: one line', async (_, words, code, message) => {
  const refused = await refusal(...words)
  expect(refused.code).toBe(code)
  expect(refused.stderr).toContain(message)
})

test.each(['SIGINT', 'SIGKILL'] as const)('%s in the middle of a build: the same command goes on', async (signal) => {
  await rollcallJson(ADD, env)
  const { db } = database
  const writer = await db.pool.connect()
  const isThere = async (valid: boolean) => {
    const { rows } = await db.pool.query('select indisvalid from pg_index where indexrelid = to_regclass($1)', [INDEX])
    return rows.some(({ indisvalid }) => indisvalid === valid)
  }
  try {
    await writer.query('begin; lock table r1_person in row exclusive mode')
    const building = start(['index', 'apply', 'civil'], env)
    await until(building, async () => ((await isThere(false)) ? true : null))
    const ended = await building.stop(signal)
    expect(ended.code).toBe(signal === 'SIGINT' ? 4 : null)
    if (signal === 'SIGINT') {
      expect(ended.stdout).toBe('civil: filled Person.clan\ncivil: interrupted; run the same command again to resume\n')
    }
    const [person] = await rollcallJson(['index', 'plan', 'civil'], env)
    expect(person.missing).toEqual([{ index: INDEX, of: 'clan', state: 'invalid' }])
  } finally {
    await writer.query('rollback')
    writer.release()
  }
  // A killed process has its claim until PostgreSQL notices.
  for (let tries = 0; ; tries += 1) {
    const { code, stderr } = await rollcall(['index', 'apply', 'civil'], env)
    if (code === 0) break
    expect(stderr).toContain('another command builds the indexes of civil or changed its attributes')
    if (tries > 20) throw new Error('the claim was never given up')
  }
  expect(await isThere(true)).toBe(true)
  await rollcallJson(['attribute', 'remove', 'civil', 'Person', 'clan'], env)
})
