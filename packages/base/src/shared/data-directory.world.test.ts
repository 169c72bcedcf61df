import { chmod, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { readOrMakeMasterKeyFile } from '@rollcall/keys/master-key'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DataDirectoryError, makeDataDirectory } from './data-directory.ts'

let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'rollcall-data-'))
})

afterAll(() => rm(home, { recursive: true }))

const refusal = (directory: string, code: string): string =>
  `The data folder ${directory} cannot be written (${code}). Set ROLLCALL_DATA to a folder in which this user can make files.`

async function refused(directory: string): Promise<string> {
  const error = await makeDataDirectory(directory).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(DataDirectoryError)
  return (error as Error).message
}

test('it is made with the folders above it, and taken as it is when it is there', async () => {
  const directory = join(home, 'a', 'b')
  await Promise.all([makeDataDirectory(directory), makeDataDirectory(directory)])
  expect((await stat(directory)).isDirectory()).toBe(true)
  await makeDataDirectory(directory)
})

test('a file in its place, and one above it, are named', async () => {
  const file = join(home, 'file')
  await writeFile(file, '', { mode: 0o755 })
  expect(await refused(file)).toBe(refusal(file, 'ENOTDIR'))
  expect(await refused(join(file, 'below'))).toBe(refusal(join(file, 'below'), 'ENOTDIR'))
})

test('a link that leads nowhere is named', async () => {
  const link = join(home, 'link')
  await symlink(join(home, 'nowhere'), link)
  expect(await refused(link)).toBe(refusal(link, 'ENOENT'))
})

test('a folder in which this user may not write is named', async () => {
  const directory = join(home, 'closed')
  await makeDataDirectory(directory)
  await chmod(directory, 0o555)
  // Root writes everywhere.
  if (process.getuid?.() === 0) await makeDataDirectory(directory)
  else expect(await refused(directory)).toBe(refusal(directory, 'EACCES'))
})

// A file system in which Node's own recursive mkdir never ends.
test.runIf(process.platform === 'linux')('nothing hangs where nothing can be made', async () => {
  expect(await refused('/proc/rollcall')).toBe(refusal('/proc/rollcall', 'ENOENT'))
  await expect(openEmbeddedPostgres('/proc/rollcall')).rejects.toThrow(refusal('/proc/rollcall', 'ENOENT'))
  await expect(readOrMakeMasterKeyFile('/proc/rollcall/master-key')).rejects.toThrow(refusal('/proc/rollcall', 'ENOENT'))
})
