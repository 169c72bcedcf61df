import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from './config.ts'

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
  ['secret', 'ROLLCALL_MASTER_KEY must be 32 bytes as base64, base64url or hexadecimal'],
])('refuses a file of %j without quoting it', async (text, message) => {
  const path = await file(text)
  expect(() => readConfig({ ROLLCALL_MASTER_KEY_FILE: path })).toThrow(new Error(message))
})

it('refuses a file that cannot be read, and a secret that is given twice', async () => {
  const read = (env: Record<string, string>) => () => readConfig(env)
  expect(read({ DATABASE_URL_FILE: join(folder, 'missing') })).toThrow(
    new Error('DATABASE_URL_FILE: the file cannot be read (there is no such file)'),
  )
  expect(read({ DATABASE_URL_FILE: folder })).toThrow(
    new Error('DATABASE_URL_FILE: the file cannot be read (EISDIR)'),
  )
  expect(read({ DATABASE_URL_FILE: await file(URL), DATABASE_URL: URL })).toThrow(
    new Error('DATABASE_URL and DATABASE_URL_FILE: set one of them'),
  )
})
