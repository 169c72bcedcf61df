import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StoreRefusal } from '@rollcall/database/refusal'
import { createLog } from '@rollcall/observe/log'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestClock, testClock } from '../../observe/test/clock.ts'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { createBodyEncryption } from './bodies.ts'
import { DecryptionError, decryptValue, encryptValue } from './encrypted-value.ts'
import {
  generateMasterKey,
  MasterKeyError,
  type MasterKeySource,
  masterKeyFromEnvironment,
  masterKeyFromFile,
  readMasterKeyFile,
} from './master-key.ts'
import { ensureAndLoadOwnKeys, type OwnKeys } from './own-keys.ts'
import { rotateOwnKeys } from './rotation.ts'
import { findMasterKeyRecord, replaceMasterKey } from './store/master-keys.ts'
import { createVault, currentMasterKey, masterKeyRecord, rotateMasterKey, type Vault } from './vault.ts'

let database: TestDatabase
let directory: string
let path: string
let clock: TestClock
const log = createLog({ level: 'silent' })

beforeEach(async () => {
  clock = testClock()
  database = await testDatabase()
  directory = await mkdtemp(join(tmpdir(), 'rollcall-rotate-'))
  path = join(directory, 'master-key')
})
afterEach(async () => {
  await database.close()
  await rm(directory, { recursive: true })
})

interface Filled {
  readonly vault: Vault
  readonly keys: OwnKeys
  readonly body: Buffer
}

/** A database with own keys and a body. */
async function fill(source: MasterKeySource): Promise<Filled> {
  const vault = await createVault(database.db, source)
  const keys = await ensureAndLoadOwnKeys(database.db, vault, log, clock)
  return { vault, keys, body: await createBodyEncryption(database.db, vault).encryptBody('kept', 'a') }
}

/** Starts a server with this source, as a new node with nothing in memory does. */
async function startWith(source: MasterKeySource, body: Buffer): Promise<string> {
  const vault = await createVault(database.db, source)
  const keys = await ensureAndLoadOwnKeys(database.db, vault, log)
  await keys.signing()
  return createBodyEncryption(database.db, vault).decryptBody(body, 'a')
}

/** Four keys that are active, four that are next, and a day's. */
const SEALED_VALUES = 9

const versions = async (): Promise<number[]> => {
  const { rows } = await database.db.pool.query<{ version: number }>(
    `select distinct get_byte(sealed, 0) as version from own_key where sealed is not null
     union select get_byte(sealed, 0) from body_key union select version from master_key`,
  )
  return rows.map(({ version }) => version)
}

/** The files of earlier keys beside the file of the key, which is the only other one. */
async function earlierKeyFiles(): Promise<string[]> {
  const [first, ...earlier] = (await readdir(directory)).toSorted()
  expect(first).toBe('master-key')
  for (const name of earlier) expect(name).toMatch(/^master-key\.before-\d{8}T\d{9}Z$/)
  return earlier
}

test('with a file: a fresh key, everything sealed anew, the old key opens nothing', async () => {
  const { body } = await fill(masterKeyFromFile(path))
  const old = await currentMasterKey(database.db, masterKeyFromFile(path))
  const jwks = await (
    await ensureAndLoadOwnKeys(database.db, await createVault(database.db, masterKeyFromFile(path)), log)
  ).jwks()
  expect(await rotateMasterKey(database.db, masterKeyFromFile(path))).toEqual({ version: 2, resealed: SEALED_VALUES })
  const [kept = '', ...others] = await earlierKeyFiles()
  expect(others).toEqual([])
  expect((await readMasterKeyFile(join(directory, kept)))?.equals(old.key)).toBe(true)
  expect(await versions()).toEqual([2])
  expect(await startWith(masterKeyFromFile(path), body)).toBe('kept')
  const vault = await createVault(database.db, masterKeyFromFile(path))
  expect(await (await ensureAndLoadOwnKeys(database.db, vault, log)).jwks()).toEqual(jwks)
  await expect(
    createVault(database.db, masterKeyFromEnvironment({ masterKey: old.key, newMasterKey: undefined })),
  ).rejects.toThrow(MasterKeyError)
})

test('with the environment: the new key is given; called again it says that it is done', async () => {
  const [masterKey, newKey] = [generateMasterKey(), generateMasterKey()]
  const source = masterKeyFromEnvironment({ masterKey, newMasterKey: newKey })
  const { body } = await fill(masterKeyFromEnvironment({ masterKey, newMasterKey: undefined }))
  expect(await rotateMasterKey(database.db, source)).toEqual({ version: 2, resealed: SEALED_VALUES })
  expect(await rotateMasterKey(database.db, source)).toEqual({ version: 2, resealed: 0 })
  expect(await startWith(masterKeyFromEnvironment({ masterKey: newKey, newMasterKey: undefined }), body)).toBe('kept')
})

test('nobody says which the next key is', async () => {
  const source = masterKeyFromEnvironment({ masterKey: generateMasterKey(), newMasterKey: undefined })
  await fill(source)
  await expect(rotateMasterKey(database.db, source)).rejects.toThrow(
    new MasterKeyError('ROLLCALL_NEW_MASTER_KEY is not set; set it to the new master key (openssl rand -base64 32)'),
  )
})

test('versions begin anew after the last, and 0 is none', async () => {
  const source = masterKeyFromFile(path)
  const vault = await createVault(database.db, source)
  const { key } = await currentMasterKey(database.db, source)
  await replaceMasterKey(database.db, 1, masterKeyRecord({ version: 255, key }), () => Buffer.alloc(0))
  const sealed = await vault.encrypt('p', { table: 't', id: 'i' }, Buffer.from('x'))
  expect(sealed[0]).toBe(255)
  expect((await rotateMasterKey(database.db, source)).version).toBe(1)
})

describe('interrupted', () => {
  test('while sealing: nothing has changed, and another try does it all', async () => {
    const source = masterKeyFromFile(path)
    const { body } = await fill(source)
    const old = await currentMasterKey(database.db, source)
    const next = { version: 2, key: await source.next() }
    let done = 0
    const dying = replaceMasterKey(database.db, 1, masterKeyRecord(next), ({ table, purpose }, id, sealed) => {
      done += 1
      if (done === 5) throw new Error('the process ends here')
      const context = { table, id }
      return encryptValue(next, purpose, context, decryptValue(old, purpose, context, sealed))
    })
    await expect(dying).rejects.toThrow('the process ends here')
    expect(await versions()).toEqual([1])
    expect(await readdir(directory)).toEqual(['master-key', 'master-key.new'])
    expect(await startWith(source, body)).toBe('kept')
    expect(await rotateMasterKey(database.db, source)).toEqual({ version: 2, resealed: SEALED_VALUES })
    expect(await earlierKeyFiles()).toHaveLength(1)
    expect(await startWith(source, body)).toBe('kept')
  })

  test('between the commit and the change of files: the next start finds the new key and settles', async () => {
    const source = masterKeyFromFile(path)
    const { body } = await fill(source)
    const before = await readFile(path, 'utf8')
    await rotateMasterKey(database.db, { ...source, settle: async () => undefined })
    expect(await readdir(directory)).toEqual(['master-key', 'master-key.new'])
    expect(await readFile(path, 'utf8')).toBe(before)
    expect(await Promise.all([1, 2, 3].map(() => startWith(source, body)))).toEqual(['kept', 'kept', 'kept'])
    expect(await earlierKeyFiles()).toHaveLength(1)
  })
})

test('several at once take turns, in the database and in the file', async () => {
  const source = masterKeyFromFile(path)
  const { body } = await fill(source)
  const done = await Promise.all([1, 2, 3].map(() => rotateMasterKey(database.db, source)))
  expect(done.map(({ version }) => version).sort()).toEqual([2, 3, 4])
  expect(await versions()).toEqual([4])
  expect(await earlierKeyFiles()).toHaveLength(3)
  expect(await startWith(source, body)).toBe('kept')
})

test('in the database alone, a replacement that comes too late is refused', async () => {
  const source = masterKeyFromFile(path)
  await fill(source)
  await rotateMasterKey(database.db, source)
  const late = masterKeyRecord({ version: 2, key: generateMasterKey() })
  await expect(replaceMasterKey(database.db, 1, late, () => Buffer.alloc(0))).rejects.toThrow(
    new StoreRefusal('another command replaced the master key at the same time; run this command again'),
  )
  expect(await versions()).toEqual([2])
})

test('a damaged value stops it, before anything has changed', async () => {
  const source = masterKeyFromFile(path)
  await fill(source)
  await database.db.pool.query('update body_key set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)')
  const before = await findMasterKeyRecord(database.db)
  await expect(rotateMasterKey(database.db, source)).rejects.toThrow(DecryptionError)
  expect(await findMasterKeyRecord(database.db)).toEqual(before)
  expect(await versions()).toEqual([1])
})

describe('a server that runs meanwhile', () => {
  test('goes on, when it can find the new key', async () => {
    const source = masterKeyFromFile(path)
    const { vault, keys, body } = await fill(source)
    await rotateMasterKey(database.db, masterKeyFromFile(path))
    expect(await createBodyEncryption(database.db, vault).decryptBody(body, 'a')).toBe('kept')
    await rotateOwnKeys(database.db, vault)
    expect(await versions()).toEqual([2])
    clock.pass(600)
    await keys.signing()
  })

  test('goes on signing with what it has opened, when it cannot; within seconds it seals and opens nothing', async () => {
    const masterKey = generateMasterKey()
    const { vault, keys, body } = await fill(masterKeyFromEnvironment({ masterKey, newMasterKey: undefined }))
    const { kid } = await keys.signing()
    const bodies = createBodyEncryption(database.db, vault, clock)
    expect(await bodies.decryptBody(body, 'a')).toBe('kept')
    await rotateMasterKey(database.db, masterKeyFromEnvironment({ masterKey, newMasterKey: generateMasterKey() }))
    clock.pass(6_000)
    expect((await keys.signing()).kid).toBe(kid)
    await expect(rotateOwnKeys(database.db, vault)).rejects.toThrow(MasterKeyError)
    await expect(bodies.encryptBody('new', 'a')).rejects.toThrow(MasterKeyError)
    await expect(bodies.decryptBody(body, 'a')).rejects.toThrow(MasterKeyError)
  })

  test('seals bodies of new days and makes own keys, of which none is lost', async () => {
    const source = masterKeyFromFile(path)
    const { vault } = await fill(source)
    const bodies = createBodyEncryption(database.db, vault)
    const sealing = (async () => {
      const sealed: Buffer[] = []
      for (let day = 10; day < 30; day += 1) sealed.push(await bodies.encryptBody('kept', 'a', `2026-01-${day}`))
      return sealed
    })()
    // The key is replaced twice. Each replacement can refuse a write once, and a write is tried three times.
    const rotating = (async () => {
      for (let times = 0; times < 2; times += 1) await rotateMasterKey(database.db, masterKeyFromFile(path))
    })()
    const own = rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    const [sealed] = await Promise.all([sealing, rotating, own])
    expect(await versions()).toEqual([3])
    for (const body of sealed) expect(await startWith(masterKeyFromFile(path), body)).toBe('kept')
  })

  test('the database refuses a value that was sealed with the replaced key', async () => {
    const { vault } = await fill(masterKeyFromFile(path))
    const stale = await vault.encrypt('body key', { table: 'body_key', id: '2020-01-01' }, Buffer.alloc(32))
    await rotateMasterKey(database.db, masterKeyFromFile(path))
    await expect(
      database.db.pool.query('insert into body_key (day, sealed) values ($1, $2)', ['2020-01-01', stale]),
    ).rejects.toThrow('body_key_master_version_fkey')
  })
})
