import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@rollcall/settings/config'
import { masterKeySource, openVault } from '@rollcall/settings/storage'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { generateMasterKey, MasterKeyError, masterKeyFromEnvironment, masterKeyFromFile, masterKeyText } from './master-key.ts'
import { findMasterKeyRecord } from './store/master-keys.ts'
import { createVault } from './vault.ts'

let database: TestDatabase
let directory: string
let path: string

beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.close())

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-vault-'))
  path = join(directory, 'master-key')
})
afterEach(async () => {
  await database.db.pool.query('delete from master_key')
  await rm(directory, { recursive: true })
})

const place = { table: 'own_key', id: 'k' }
const fromEnvironment = (masterKey = generateMasterKey()) => masterKeyFromEnvironment({ masterKey, newMasterKey: undefined })

describe('a master key of the environment', () => {
  test("becomes the database's, and opens it again", async () => {
    const source = fromEnvironment()
    const sealed = await (await createVault(database.db, source)).encrypt('own key', place, Buffer.from('x'))
    const again = await createVault(database.db, source)
    expect((await again.decrypt('own key', place, sealed)).toString()).toBe('x')
  })

  test('is refused when it is another one, and changes nothing', async () => {
    await createVault(database.db, fromEnvironment())
    const before = await findMasterKeyRecord(database.db)
    await expect(createVault(database.db, fromEnvironment())).rejects.toThrow(
      new MasterKeyError(
        'ROLLCALL_MASTER_KEY is not the master key of this database; ' +
          'without it nothing that is encrypted there can be read (docs/keys.md)',
      ),
    )
    expect(await findMasterKeyRecord(database.db)).toEqual(before)
  })

  test('is asked for when it is missing', async () => {
    const config = readConfig({ DATABASE_URL: 'postgres://nobody@nowhere/nothing', ROLLCALL_DATA: directory })
    await expect(openVault(config, database.db)).rejects.toThrow(/^ROLLCALL_MASTER_KEY is not set, and with/)
    await createVault(database.db, fromEnvironment())
    await expect(openVault(config, database.db)).rejects.toThrow(
      new MasterKeyError(
        'the master key of this database is missing: set ROLLCALL_MASTER_KEY; ' +
          'without it nothing that is encrypted there can be read (docs/keys.md)',
      ),
    )
    expect(await readdir(directory)).toEqual([])
  })

  test('counts before the file', async () => {
    const key = generateMasterKey()
    const env = { ROLLCALL_DATA: directory, ROLLCALL_MASTER_KEY: masterKeyText(key) }
    await openVault(readConfig(env), database.db)
    expect(await readdir(directory)).toEqual([])
    expect(masterKeySource(readConfig(env)).name).toBe('ROLLCALL_MASTER_KEY')
  })

  test('of several nodes with keys of their own, one starts', async () => {
    const nodes = await Promise.allSettled([1, 2, 3, 4].map(() => createVault(database.db, fromEnvironment())))
    expect(nodes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
  })

  test('of a database whose check value was moved from another version is refused', async () => {
    const source = fromEnvironment()
    await createVault(database.db, source)
    await database.db.pool.query('update master_key set version = 2, check_value = set_byte(check_value, 0, 2)')
    await expect(createVault(database.db, source)).rejects.toThrow('is not the master key')
  })
})

describe('a file beside the embedded database', () => {
  test('is made once, for its owner only, by however many processes start at once', async () => {
    const config = readConfig({ ROLLCALL_DATA: directory })
    await Promise.all([1, 2, 3, 4].map(() => openVault(config, database.db)))
    expect(await readdir(directory)).toEqual(['master-key'])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(await readFile(path, 'utf8')).toMatch(/^[\w-]{43}\n$/)
  })

  test('is not made anew over a database that is sealed already', async () => {
    await createVault(database.db, masterKeyFromFile(path))
    await rm(path)
    await expect(createVault(database.db, masterKeyFromFile(path))).rejects.toThrow(
      new MasterKeyError(
        `the master key of this database is missing: bring ${path} back, or set ROLLCALL_MASTER_KEY; ` +
          'without it nothing that is encrypted there can be read (docs/keys.md)',
      ),
    )
    expect(await readdir(directory)).toEqual([])
  })

  test('that is another one is refused and stays', async () => {
    await createVault(database.db, fromEnvironment())
    const text = `${masterKeyText(generateMasterKey())}\n`
    await writeFile(path, text, { mode: 0o600 })
    await expect(createVault(database.db, masterKeyFromFile(path))).rejects.toThrow(
      `${path} is not the master key of this database`,
    )
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  test.each([0o640, 0o604, 0o620])('with mode %o is refused', async (mode) => {
    await createVault(database.db, masterKeyFromFile(path))
    await chmod(path, mode)
    await expect(createVault(database.db, masterKeyFromFile(path))).rejects.toThrow(
      new MasterKeyError(`${path} may be read or written by others than its owner: chmod 600 ${path}`),
    )
  })

  test('that was cut short is refused', async () => {
    await writeFile(path, 'abc', { mode: 0o600 })
    await expect(createVault(database.db, masterKeyFromFile(path))).rejects.toThrow(
      new MasterKeyError(`${path} holds no master key: restore it from a backup`),
    )
    expect(await findMasterKeyRecord(database.db)).toBeNull()
  })
})
