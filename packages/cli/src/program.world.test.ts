import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { expect, inject, test } from 'vitest'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { databaseUrl, dataDirectory, rollcall, running } from '../test/command.ts'
import { makeProgramFor, makeWholeProgram } from './program.ts'

/** Every command that does something, by its words: `registry add`. */
function leaves(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]]
  return command.commands.flatMap((child) => leaves(child, [...words, child.name()]))
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (more) => (text += more) }).outputHelp()
  return text
}

const commands = leaves(await makeWholeProgram())

test.each([
  ['a full device', 'rollcall apply --schema > /dev/full', 'ENOSPC'],
  // The system cuts the write at this size, and refuses the next one.
  ['a file that gets a part', 'ulimit -f 1; rollcall apply --schema > part', 'EFBIG'],
])('%s as standard output: exit code 1', async (_name, line, code) => {
  const cwd = await dataDirectory()
  try {
    const script = line.replace('rollcall', `'${process.execPath}' '${inject('programs').rollcall}'`)
    const ended = await running(spawn('sh', ['-c', script], { cwd: cwd.path, stdio: 'pipe' })).ended
    expect(ended).toEqual({ code: 1, stdout: '', stderr: `rollcall: the output cannot be written (${code})\n` })
  } finally {
    await cwd.remove()
  }
})

test('these are the commands', () => {
  expect(commands.map(([words]) => words).toSorted()).toEqual(
    [
      'serve',
      'setup',
      'upgrade',
      'demo',
      'migrate',
      'registry add',
      'registry set',
      'registry list',
      'registry remove',
      'source propose',
      'source check',
      'source compare',
      'source rejects',
      'source schema',
      'source status',
      'identifier-type add',
      'identifier-type set',
      'identifier-type remove',
      'identifier-type list',
      'attribute add',
      'attribute index',
      'attribute remove',
      'attribute list',
      'index plan',
      'index apply',
      'explain',
      'record get',
      'record delete',
      'record merge',
      'record unmerge',
      'record protect',
      'record unprotect',
      'record protected list',
      'publish',
      'outbox show',
      'outbox retry',
      'participant add',
      'participant list',
      'participant disable',
      'participant enable',
      'participant key add',
      'participant key list',
      'participant key revoke',
      'participant secret rotate',
      'participant link',
      'participant sign-out',
      'participant policy',
      'participant subscriptions',
      'participant limits',
      'participant host allow',
      'participant host list',
      'participant host remove',
      'participant callback',
      'participant test',
      'participant check',
      'participant show',
      'participant promote',
      'participant remove',
      'grant set',
      'grant list',
      'grant show',
      'grant explain',
      'grant propose',
      'grant expiring',
      'grant revoke',
      'purpose add',
      'purpose list',
      'purpose remove',
      'consent authority add',
      'consent authority list',
      'consent authority remove',
      'consent withdraw',
      'consent revoke',
      'consent reinstate',
      'export',
      'apply',
      'operator add',
      'operator list',
      'operator revoke',
      'operator sessions',
      'operator link',
      'operator sign-out',
      'proposal list',
      'proposal show',
      'proposal approve',
      'proposal decline',
      'subscriptions list',
      'subscriptions show',
      'subscriptions cancel',
      'subscriptions test',
      'subscriptions backfill',
      'subscriptions resume',
      'deliveries list',
      'deliveries show',
      'deliveries retry',
      'deliveries drop',
      'deliveries replay',
      'trace',
      'inbox list',
      'inbox show',
      'keys list',
      'keys rotate',
      'keys revoke',
      'keys rotate-master',
      'keys probe',
      'audit person',
      'audit list',
      'audit emergencies',
      'audit review',
      'audit evidence',
      'audit check',
      'audit verify',
      'audit keys',
      'prune',
      'erase person',
      'hold add',
      'hold list',
      'hold remove',
      'backup check',
      'restore adopt',
      'restore release',
      'mapping propose',
      'import',
      'check',
      'search',
      'subscribe',
      'unsubscribe',
      'status',
      'enrolled',
      'enrol',
      'listen',
      'simulate',
      'generate',
      'doctor',
    ].toSorted(),
  )
})

test('the help lists every command in five groups on one screen, without loading one', async () => {
  const program = await makeProgramFor([])
  expect(program.commands.every((command) => command.commands.length + command.options.length === 0)).toBe(true)
  const text = helpOf(program)
  expect(text.match(/^\w.*:$/gm)).toEqual([
    ...['Run a server:', 'Registries and their records:', 'Participants and what they may do:'],
    ...['Messages, and who looked:', 'Ask a registry:'],
  ])
  const lines = text.split('\n')
  // A terminal has 24 lines of 80 characters.
  expect(lines.length).toBeLessThan(24)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  const listed = program.commands.map((command) => command.name())
  expect(lines.filter((line) => line.startsWith('  ')).flatMap((line) => line.match(/[\w-]+/g) ?? [])).toEqual(
    listed.filter((name) => name !== 'help'),
  )
  expect(listed).toEqual((await makeWholeProgram()).commands.map((command) => command.name()))
  expect(program.commands.filter((command) => command.summary() === '')).toEqual([])
})

test('the help of a command with commands has no group of the list of all', async () => {
  const parents = (await makeWholeProgram()).commands.filter((command) => command.commands.length > 0)
  expect(parents.length).toBeGreaterThan(10)
  for (const parent of parents) {
    const help = helpOf(parent)
    expect(help.match(/^\w.*:$/gm)?.slice(-2)).toEqual(['Options:', 'Commands:'])
  }
})

test.each(commands)('the help of rollcall %s has a sentence, an example and --json', (words, command) => {
  const help = helpOf(command)
  expect(help).toContain(`Usage: rollcall ${words}`)
  expect(command.description()).not.toBe('')
  expect(help).toMatch(new RegExp(`Example: .*rollcall ${words}`))
  expect(help).toContain('--json')
})

test('help that is asked for is no error', async () => {
  const { code, stdout, stderr } = await rollcall(['registry', 'add', '--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('Usage: rollcall registry add')
})

test('without a command it shows all of them', async () => {
  const [bare, asked] = await Promise.all([rollcall([]), rollcall(['--help'])])
  expect(bare).toEqual(asked)
  expect(bare.code).toBe(0)
  expect(bare.stdout).toContain('\n  serve, demo, migrate,')
  const told = await rollcall(['help'])
  expect(told.stdout).toMatch(/^ {2}serve +run the server; it migrates the database first$/m)
  expect(told.stdout).toMatch(/^ {2}check +check that our system works with a registry$/m)
})

test('--version is the package’s', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'))
  expect(await rollcall(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test.each([
  [['sing'], "error: unknown command 'sing'"],
  [['registry', 'sing'], "error: unknown command 'sing'"],
  [['serve', '--loud'], "error: unknown option '--loud'"],
  [['import', 'civil'], "error: missing required argument 'file'"],
  [['import', 'civil', 'x.csv', '--complete', '--allow-removal', 'all'], 'It must be a whole number from 0 to'],
  [['serv'], '(Did you mean serve?)'],
  [['registry', 'ad'], '(Did you mean add?)'],
  [['serve', '--rol', 'all'], '(Did you mean --role?)'],
  [['registry', 'add', 'church'], 'It must be a kind: civil, ibr,'],
  [['registry', 'add', 'cvil-test'], 'such as civil-test; the nearest is civil.'],
  [['participant', 'add', 'x'], "error: required option '--name <name>' not specified"],
])('%j is not understood: exit code 2', async (words, message) => {
  const { code, stdout, stderr } = await rollcall(words)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test.each([
  [{ PORT: 'x' }, 'PORT must be a port, a whole number from 0 to 65535'],
  [{ DATABASE_URL: 'nonsense' }, 'DATABASE_URL must be an address such as postgres://user:password@host/database'],
  [
    { DATABASE_URL: 'postgres://u:hid%den@[x/db' },
    'DATABASE_URL must be an address such as postgres://user:password@host/database',
  ],
  [
    { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/db' },
    'nothing listens for the database db on 127.0.0.1:1: start PostgreSQL, or correct the host and the port of DATABASE_URL (ECONNREFUSED)',
  ],
])('with %j it fails in one line that hides the password', async (env, message) => {
  const { code, stdout, stderr } = await rollcall(['registry', 'list'], env)
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
})

test('a database that is not there is named, with what to do', async () => {
  const database = await emptyDatabase()
  const url = databaseUrl({ ...database.connection, database: 'registery' })
  const { code, stdout, stderr } = await rollcall(['registry', 'list'], { DATABASE_URL: url })
  await database.drop()
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^rollcall: there is no database registery on .*: correct the name, or create it \(docs\/roles\.md\) \(3D000\)\n$/,
  )
})

test.each([[['registry', 'list']], [['registry', 'add', 'civil']], [['participant', 'add', 'a.example', '--name', 'A']]])(
  '%j makes no database, and says which command does',
  async (words) => {
    const { path, remove } = await dataDirectory()
    const { code, stderr } = await rollcall(words, { ROLLCALL_DATA: path })
    const left = await readdir(path)
    await remove()
    expect({ code, left }).toEqual({ code: 1, left: [] })
    expect(stderr).toBe(
      `rollcall: there is no database in ${path} yet; set ROLLCALL_DATA or DATABASE_URL, or make one with rollcall migrate\n`,
    )
  },
)
