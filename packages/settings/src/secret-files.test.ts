import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from './config.ts'
import { runSecretCommand } from './secret-commands.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-secrets-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function file(text: string): Promise<string> {
  const path = join(folder, String(Math.random()))
  await writeFile(path, text)
  return path
}

const URL = 'postgres://application:secret@db.example.org/rollcall'

it('reads the addresses of the database and the master key from files', async () => {
  const config = readConfig({
    DATABASE_URL_FILE: await file(`${URL}\n`),
    ROLLCALL_OWNER_DATABASE_URL_FILE: await file('postgres://owner:secret@db.example.org/rollcall\r\n'),
    ROLLCALL_MASTER_KEY_FILE: await file('ab'.repeat(32)),
    ROLLCALL_NEW_MASTER_KEY_FILE: '',
  })
  expect(config.databaseUrl).toBe(URL)
  expect(config.ownerDatabaseUrl).toBe('postgres://owner:secret@db.example.org/rollcall')
  expect(config.masterKey?.export().toString('hex')).toBe('ab'.repeat(32))
  // With a database of its own the key is not made in a file.
  expect(config.masterKeyInFile).toBe(false)
  expect(config.newMasterKey).toBeUndefined()
})

it.each([
  ['', 'ROLLCALL_MASTER_KEY_FILE: the file is empty'],
  ['\n', 'ROLLCALL_MASTER_KEY_FILE: the file is empty'],
  ['secret'.repeat(1_000), 'ROLLCALL_MASTER_KEY_FILE: the file has more than 4096 bytes'],
  ['secret', 'the content of ROLLCALL_MASTER_KEY_FILE must be 32 bytes as base64, base64url or hexadecimal'],
])('refuses a file of %j without quoting it', async (text, message) => {
  const path = await file(text)
  expect(() => readConfig({ ROLLCALL_MASTER_KEY_FILE: path })).toThrow(new Error(message))
})

it('refuses a file that cannot be read, and a secret that is given twice', async () => {
  const read = (env: Record<string, string>) => () => readConfig(env)
  expect(read({ DATABASE_URL_FILE: join(folder, 'missing') })).toThrow(
    new Error('DATABASE_URL_FILE: the file cannot be read (there is no such file)'),
  )
  expect(read({ DATABASE_URL_FILE: folder })).toThrow(new Error('DATABASE_URL_FILE: the file cannot be read (EISDIR)'))
  expect(read({ DATABASE_URL_FILE: await file(URL), DATABASE_URL: URL })).toThrow(
    new Error('DATABASE_URL and DATABASE_URL_FILE: set one of them'),
  )
})

const node = (script: string): string => JSON.stringify([process.execPath, '-e', script])

it('takes a master key that a program prints, without a shell, and hands it no secret', async () => {
  const withheld = ['DATABASE_URL', 'PGPASSWORD', 'ROLLCALL_CLIENT_SECRET', 'ROLLCALL_OPERATOR_TOKEN']
  const seen = [...withheld, 'VAULT'].map((name) => `process.env.${name}`).join(' ?? ')
  const config = readConfig({
    ...Object.fromEntries(withheld.map((name) => [name, URL])),
    VAULT: 'ab'.repeat(32),
    ROLLCALL_MASTER_KEY_COMMAND: node(`console.log(${seen})`),
  })
  expect(config.masterKey?.export().toString('hex')).toBe('ab'.repeat(32))
  const script = join(folder, 'print.cjs')
  await writeFile(script, `console.log('cd'.repeat(process.argv[2] === '$(id);' ? 32 : 0))`)
  const words = readConfig({ ROLLCALL_NEW_MASTER_KEY_COMMAND: `${process.execPath} ${script}  $(id);` })
  expect(words.newMasterKey?.export().toString('hex')).toBe('cd'.repeat(32))
})

it.each([
  [node('process.stdout.write("secret"); process.exit(3)'), 'the program ended with status 3'],
  [node('process.kill(process.pid)'), 'the program ended with SIGTERM'],
  [node(''), 'the program printed nothing'],
  [node('console.log("secret".repeat(1000))'), 'the program printed more than 4096 bytes'],
  ['/nowhere/vault get key', 'there is no such program'],
  ['["vault", 1]', 'must be a program with its arguments, or a JSON array of texts'],
  ['[]', 'must be a program with its arguments, or a JSON array of texts'],
  ['["vault"', 'must be a program with its arguments, or a JSON array of texts'],
])('refuses the program %j without quoting what it prints', (command, message) => {
  expect(() => readConfig({ ROLLCALL_MASTER_KEY_COMMAND: command })).toThrow(new Error(`ROLLCALL_MASTER_KEY_COMMAND: ${message}`))
})

it('refuses a master key that is given in two ways, and a program that prints none', async () => {
  const twice = { ROLLCALL_MASTER_KEY_COMMAND: 'vault', ROLLCALL_MASTER_KEY_FILE: await file('ab'.repeat(32)) }
  expect(() => readConfig(twice)).toThrow(new Error('ROLLCALL_MASTER_KEY_FILE and ROLLCALL_MASTER_KEY_COMMAND: set one of them'))
  expect(() => readConfig({ ROLLCALL_MASTER_KEY_COMMAND: node('console.log("secret")') })).toThrow(
    new Error('what ROLLCALL_MASTER_KEY_COMMAND prints must be 32 bytes as base64, base64url or hexadecimal'),
  )
})

it('names the file of an address that is none', async () => {
  const path = await file('secret')
  expect(() => readConfig({ DATABASE_URL_FILE: path })).toThrow(
    new Error('the content of DATABASE_URL_FILE must be an address such as postgres://user:password@host/database'),
  )
})

const NAME = 'ROLLCALL_MASTER_KEY_COMMAND'
const shell = (script: string): string => JSON.stringify(['sh', '-c', script])
/** Processes that a program has left, by the file in which it wrote them. */
const left = (path: string): number[] => (existsSync(path) ? readFileSync(path, 'utf8').trim().split(/\s+/).map(Number) : [])

/** One that has ended may wait for its parent to read its end. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

it('ends a program that takes too long, with all that it has started', async () => {
  const pids = join(folder, 'late')
  const hanging = shell(`sleep 300 & echo $$ $! > ${pids}; wait`)
  expect(() => runSecretCommand(NAME, hanging, process.env, 2_000)).toThrow(
    new Error(`${NAME}: the program took longer than 2 seconds`),
  )
  await expect.poll(() => left(pids).filter(isAlive)).toEqual([])
})

it.each([
  ['ab'.repeat(32), (key: string) => `echo ${key}`],
  [`${'Z'.repeat(42)}Y`, (key: string) => `printf %s ${key}`],
])('takes a whole key of a program that leaves a process with its output open: %s', (key, print) => {
  const pids = join(folder, key)
  try {
    const program = shell(`sleep 300 & echo $! > ${pids}; ${print(key)}`)
    // Long enough for any machine: the time limit is not waited for.
    expect(runSecretCommand(NAME, program, process.env, 300_000)).toBe(key)
    expect(left(pids).filter(isAlive)).toHaveLength(1)
  } finally {
    for (const pid of left(pids)) process.kill(pid)
  }
})

it('takes no beginning of a key: it waits for the rest, or refuses', () => {
  const [half, key] = ['ab'.repeat(22), 'ab'.repeat(32)]
  const slow = shell(`printf %s ${half.slice(1)}; (sleep 1; echo ${key.slice(43)}) & exit 0`)
  expect(runSecretCommand(NAME, slow, process.env, 300_000)).toBe(half.slice(1) + key.slice(43))
  const never = shell(`printf %s ${half}; sleep 300 & exit 0`)
  expect(() => runSecretCommand(NAME, never, process.env, 2_000)).toThrow(
    new Error(`${NAME}: the program took longer than 2 seconds`),
  )
})
