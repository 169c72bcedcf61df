import { StoreRefusal } from '@rollcall/database/refusal'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { generateMasterKey, masterKeyFromEnvironment } from './master-key.ts'
import { decryptJwk, OWN_KEY_DEFINITIONS } from './own-key-definitions.ts'
import { ensureOwnKeys, revokeOwnKey, rotateOwnKeys } from './rotation.ts'
import { listOwnKeys, listValidOwnKeys, type OwnKey } from './store/own-keys.ts'
import { createVault, type Vault } from './vault.ts'

/** Those that every server has. */
const ALWAYS = OWN_KEY_DEFINITIONS.filter(({ onDemand }) => !onDemand)

let database: TestDatabase
let vault: Vault

beforeEach(async () => {
  database = await testDatabase()
  vault = await createVault(database.db, masterKeyFromEnvironment({ masterKey: generateMasterKey(), newMasterKey: undefined }))
})
afterEach(() => database.close())

const keysOf = async (use: string): Promise<OwnKey[]> => (await listOwnKeys(database.db)).filter((key) => key.use === use)

const inState = (keys: readonly OwnKey[], state: OwnKey['state']): string[] =>
  keys.filter((key) => key.state === state).map(({ kid }) => kid)

/** State, and what is left of the key. */
const stateOf = async (kid: string): Promise<[string | undefined, 'private' | 'public' | 'nothing']> => {
  const key = (await listOwnKeys(database.db)).find((candidate) => candidate.kid === kid)
  if (key === undefined || key.sealed === null) return [key?.state, 'nothing']
  return [key.state, (await decryptJwk(key, vault)).d === undefined ? 'public' : 'private']
}

test('each row gets an active key and the next, once, however many nodes start at once', async () => {
  await Promise.all([1, 2, 3].map(() => ensureOwnKeys(database.db, vault)))
  const keys = await listOwnKeys(database.db)
  expect(keys).toHaveLength(2 * ALWAYS.length)
  for (const { use, algorithm } of ALWAYS) {
    const states = keys.filter((key) => key.use === use && key.algorithm === algorithm).map(({ state }) => state)
    expect(states.sort()).toEqual(['active', 'next'])
  }
  await ensureOwnKeys(database.db, vault)
  expect(await listOwnKeys(database.db)).toEqual(keys)
})

test('a key that went missing is made, the others stay', async () => {
  await ensureOwnKeys(database.db, vault)
  await database.db.pool.query(`delete from own_key where use = 'sig' and state = 'next'`)
  const left = await listOwnKeys(database.db)
  await ensureOwnKeys(database.db, vault)
  const now = await listOwnKeys(database.db)
  expect(now).toHaveLength(left.length + 1)
  expect(now).toEqual(expect.arrayContaining([...left]))
})

describe('rotate', () => {
  test('next becomes active, active retires, a new next is made', async () => {
    await ensureOwnKeys(database.db, vault)
    const before = await keysOf('sig')
    const done = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    const after = await keysOf('sig')
    expect(inState(after, 'active')).toEqual(inState(before, 'next'))
    expect(inState(after, 'retired')).toEqual(inState(before, 'active'))
    const [next = ''] = inState(after, 'next')
    expect(before.map(({ kid }) => kid)).not.toContain(next)
    expect(done).toEqual([
      {
        use: 'sig',
        algorithm: 'EdDSA',
        retired: inState(before, 'active')[0],
        active: inState(before, 'next')[0],
        next,
        published_for: expect.any(Number),
      },
    ])
    expect(inState(await keysOf('enc'), 'retired')).toEqual([])
  })

  test('a retired signing key is its public half alone; what peers encrypted for is still decrypted', async () => {
    const done = await rotateOwnKeys(database.db, vault)
    expect(done.map(({ use, algorithm }) => ({ use, algorithm }))).toEqual(
      ALWAYS.map(({ use, algorithm }) => ({ use, algorithm })),
    )
    for (const { use, retired } of done) expect(await stateOf(retired)).toEqual(['retired', use === 'enc' ? 'private' : 'public'])
  })

  test('a retired key counts for the longest life of a signature and of caches, and not longer', async () => {
    const [{ retired = '' } = {}] = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    const { rows } = await database.db.pool.query(
      `select extract(epoch from expires_at - retired_at)::int as overlap from own_key where kid = $1`,
      [retired],
    )
    expect(rows[0].overlap).toBeGreaterThanOrEqual(3_600 + 600)
    const live = async () => (await listValidOwnKeys(database.db)).map(({ kid }) => kid)
    expect(await live()).toContain(retired)
    await database.db.pool.query(`update own_key set expires_at = now() where kid = $1`, [retired])
    expect(await live()).not.toContain(retired)
  })

  test('erases keys whose time is over', async () => {
    const [{ retired = '' } = {}] = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'enc')
    expect(await stateOf(retired)).toEqual(['retired', 'private'])
    await database.db.pool.query(`update own_key set expires_at = now() where kid = $1`, [retired])
    await rotateOwnKeys(database.db, vault, ({ use }) => use === 'token')
    expect(await stateOf(retired)).toEqual(['retired', 'nothing'])
  })

  test('several at once take turns: one active and one next each time', async () => {
    await ensureOwnKeys(database.db, vault)
    await Promise.all([1, 2, 3, 4].map(() => rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')))
    const keys = await keysOf('sig')
    expect(inState(keys, 'active')).toHaveLength(1)
    expect(inState(keys, 'next')).toHaveLength(1)
    expect(inState(keys, 'retired')).toHaveLength(4)
  })

  test('says for how long the new key was known', async () => {
    await ensureOwnKeys(database.db, vault)
    await database.db.pool.query(`update own_key set created_at = created_at - interval '1 day'`)
    const [first] = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    expect(first?.published_for).toBeGreaterThanOrEqual(86_400)
    const [second] = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    expect(second?.published_for).toBeLessThan(60)
  })
})

describe('revoke', () => {
  test.each(ALWAYS)(
    'the active $use key for $algorithm: the next takes its place, its private half is gone',
    async ({ use, algorithm }) => {
      await ensureOwnKeys(database.db, vault)
      const ofRow = async () => (await keysOf(use)).filter((key) => key.algorithm === algorithm)
      const before = await ofRow()
      const [active = ''] = inState(before, 'active')
      expect(await revokeOwnKey(database.db, vault, active)).toMatchObject({ kid: active, state: 'revoked' })
      const after = await ofRow()
      expect(inState(after, 'active')).toEqual(inState(before, 'next'))
      expect(inState(after, 'next')).toHaveLength(1)
      expect(inState(after, 'revoked')).toEqual([active])
      expect(await stateOf(active)).toEqual(['revoked', 'nothing'])
      expect((await listValidOwnKeys(database.db)).map(({ kid }) => kid)).not.toContain(active)
    },
  )

  test('the next key: another is made', async () => {
    await ensureOwnKeys(database.db, vault)
    const before = await keysOf('sig')
    const [next = ''] = inState(before, 'next')
    expect((await revokeOwnKey(database.db, vault, next)).state).toBe('revoked')
    const after = await keysOf('sig')
    expect(inState(after, 'active')).toEqual(inState(before, 'active'))
    expect(inState(after, 'next')).toHaveLength(1)
    expect(await stateOf(next)).toEqual(['revoked', 'nothing'])
  })

  test('a retired key: nothing else changes', async () => {
    const [{ retired = '' } = {}] = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    const before = await keysOf('sig')
    await revokeOwnKey(database.db, vault, retired)
    const after = await keysOf('sig')
    expect(inState(after, 'active')).toEqual(inState(before, 'active'))
    expect(inState(after, 'next')).toEqual(inState(before, 'next'))
    expect(inState(after, 'revoked')).toEqual([retired])
  })

  test('once more: nothing changes', async () => {
    await ensureOwnKeys(database.db, vault)
    const [active = ''] = inState(await keysOf('sig'), 'active')
    await revokeOwnKey(database.db, vault, active)
    const before = await listOwnKeys(database.db)
    expect((await revokeOwnKey(database.db, vault, active)).state).toBe('revoked')
    expect(await listOwnKeys(database.db)).toEqual(before)
  })

  test('one that is not ours is refused', async () => {
    await expect(revokeOwnKey(database.db, vault, 'stranger')).rejects.toThrow(
      new StoreRefusal('none of our keys has the kid stranger'),
    )
  })
})
