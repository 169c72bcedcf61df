import { Writable } from 'node:stream'
import { openDatabase } from '@rollcall/database/database'
import { createLog } from '@rollcall/observe/log'
import { createAccessTokenIssuer } from '@rollcall/participants/directory/tokens'
import { DEFAULT_SIGNATURE_PROFILE, sign } from '@rollcall/protocol'
import { CompactEncrypt, type CryptoKey, calculateJwkThumbprint, compactDecrypt, importJWK, type JWK } from 'jose'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type TestClock, testClock } from '../../observe/test/clock.ts'
import { type TestDatabase, testDatabase } from '../test/postgres.ts'
import { generateMasterKey, MasterKeyError, type MasterKeySource, masterKeyFromEnvironment } from './master-key.ts'
import { ensureAndLoadOwnKeys, type OwnKeys } from './own-keys.ts'
import { revokeOwnKey, rotateOwnKeys } from './rotation.ts'
import { createVault, type Vault } from './vault.ts'

let database: TestDatabase
let source: MasterKeySource
let vault: Vault
let keys: OwnKeys
let clock: TestClock
let logged: string

const log = createLog({
  level: 'debug',
  destination: new Writable({
    write(chunk, _encoding, done) {
      logged += String(chunk)
      done()
    },
  }),
})

beforeEach(async () => {
  logged = ''
  database = await testDatabase()
  clock = testClock()
  source = masterKeyFromEnvironment({ masterKey: generateMasterKey(), newMasterKey: undefined })
  vault = await createVault(database.db, source)
  keys = await ensureAndLoadOwnKeys(database.db, vault, log, clock)
})
afterEach(() => database.close())

/** Within so many milliseconds every node has seen a change. */
const SECOND = 1_000

async function kidsOf(node: OwnKeys): Promise<(string | undefined)[]> {
  return (await node.jwks()).keys.map(({ kid }) => kid)
}

const bytes = Buffer.from('what is signed')

/** Signs with the active key. */
async function signed(node: OwnKeys): Promise<{ kid: string; signature: ArrayBuffer }> {
  const { kid, privateKey } = await node.signing()
  return { kid, signature: await crypto.subtle.sign('Ed25519', privateKey, bytes) }
}

async function verifies(node: OwnKeys, { kid, signature }: { kid: string; signature: ArrayBuffer }) {
  const key = await node.verification(kid)
  return key !== null && crypto.subtle.verify('Ed25519', key.publicKey, signature, bytes)
}

describe('the key set', () => {
  test('has the public members of what verifies and decrypts, the key that signs first, and nothing else', async () => {
    const { keys: published } = await keys.jwks()
    expect(published.map(({ use, alg, kty }) => `${use} ${alg} ${kty}`)).toEqual([
      ...['sig EdDSA OKP', 'sig EdDSA OKP'],
      ...['enc RSA-OAEP-256 RSA', 'enc RSA-OAEP-256 RSA', 'enc ECDH-ES+A256KW EC', 'enc ECDH-ES+A256KW EC'],
    ])
    const members: Record<string, string[]> = {
      OKP: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
      RSA: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
      EC: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    }
    for (const jwk of published) {
      expect(Object.keys(jwk).sort()).toEqual(members[jwk.kty ?? ''])
      expect(jwk.kid).toBe(await calculateJwkThumbprint(jwk))
    }
    const active = (await keys.signing()).kid
    expect(published[0]?.kid).toBe(active)
  })

  test('goes through a rotation: active, next, retired, then gone', async () => {
    const [sig] = await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    clock.pass(SECOND)
    const sigs = (await keys.jwks()).keys.filter(({ use }) => use === 'sig').map(({ kid }) => kid)
    expect(sigs).toEqual([sig?.active, sig?.next, sig?.retired])
    await database.db.pool.query(`update own_key set expires_at = now() where state = 'retired'`)
    clock.pass(SECOND)
    expect(await kidsOf(keys)).not.toContain(sig?.retired)
    expect(await keys.verification(sig?.retired ?? '')).toBeNull()
  })

  test('tells nobody of the keys of tokens, and signatures are not verified with them', async () => {
    const { kid } = await keys.tokens.signing()
    expect(await kidsOf(keys)).not.toContain(kid)
    expect(await keys.verification(kid)).toBeNull()
    expect(await keys.tokens.verification((await keys.signing()).kid)).toBeNull()
  })
})

describe('use', () => {
  test('what is signed is verified with what is published', async () => {
    const made = await signed(keys)
    const jwk = (await keys.jwks()).keys.find(({ kid }) => kid === made.kid)
    const publicKey = (await importJWK(jwk as JWK)) as CryptoKey
    expect(await crypto.subtle.verify('Ed25519', publicKey, made.signature, bytes)).toBe(true)
    expect(await verifies(keys, made)).toBe(true)
    expect(await keys.verification('stranger')).toBeNull()
  })

  test('what is encrypted for a published key is decrypted, also for the next and a retired one', async () => {
    const { keys: published } = await keys.jwks()
    const made = await Promise.all(
      published
        .filter(({ use }) => use === 'enc')
        .map(async ({ kid = '', alg = '', ...jwk }) => {
          const header = { alg, enc: 'A256GCM', kid }
          return { kid, jwe: await new CompactEncrypt(bytes).setProtectedHeader(header).encrypt(jwk) }
        }),
    )
    expect(made).toHaveLength(4)
    const decrypted = async () => {
      for (const { kid, jwe } of made) {
        const key = await keys.decryption(kid)
        if (key === null) throw new Error('no key')
        expect(Buffer.from((await compactDecrypt(jwe, key)).plaintext)).toEqual(bytes)
      }
    }
    await decrypted()
    await rotateOwnKeys(database.db, vault)
    clock.pass(SECOND)
    await decrypted()
    // The set has no retired encryption key: each of its places is for a key that peers need.
    expect((await keys.jwks()).keys.filter(({ use }) => use === 'enc')).toHaveLength(4)
    keys = await ensureAndLoadOwnKeys(database.db, vault, log, clock)
    await decrypted()
    expect(await keys.decryption('stranger')).toBeNull()
    expect(await keys.decryption((await keys.signing()).kid)).toBeNull()
  })

  test('no private key can be taken out of the process', async () => {
    const { keys: published } = await keys.jwks()
    const encryption = await Promise.all(published.filter(({ use }) => use === 'enc').map(({ kid = '' }) => keys.decryption(kid)))
    const all = [(await keys.signing()).privateKey, (await keys.tokens.signing()).privateKey, ...encryption]
    expect(all.map((key) => key?.extractable)).toEqual(all.map(() => false))
  })

  test('Ed25519 signs on the thread that asks, ES256 on another', async () => {
    const thread = vi.spyOn(crypto.subtle, 'sign')
    for (const [algorithm, times] of [['EdDSA', 0] as const, ['ES256', 1] as const]) {
      const key = { sender_id: 'civil', ...(await keys.signing(algorithm)) }
      const profile = { ...DEFAULT_SIGNATURE_PROFILE, algorithms: [algorithm] }
      const life = { created: 1_767_225_600, expires: 1_767_225_900 }
      await sign({ header: { sender_id: 'civil' }, message: {}, profile, key, namespace: 'registry', ...life })
      expect(thread).toHaveBeenCalledTimes(times)
    }
    thread.mockRestore()
  })
})

describe('several nodes', () => {
  let other: OwnKeys
  let close: () => Promise<void>
  beforeEach(async () => {
    const db = openDatabase(database.connection)
    close = () => db.close()
    other = await ensureAndLoadOwnKeys(db, await createVault(db, source), log, clock)
  })
  afterEach(() => close())

  test('have the same keys, and agree within a second of a rotation', async () => {
    expect(await other.jwks()).toEqual(await keys.jwks())
    const before = await signed(keys)
    const [sig] = await rotateOwnKeys(database.db, vault)
    // The node that has not yet heard of it verifies what the other signs: the next key was published before.
    const { kid, signature } = await signed(await ensureAndLoadOwnKeys(database.db, vault, log, clock))
    expect(kid).toBe(sig?.active)
    expect(await verifies(other, { kid, signature })).toBe(true)
    clock.pass(SECOND)
    expect((await keys.signing()).kid).toBe(sig?.active)
    expect((await other.signing()).kid).toBe(sig?.active)
    expect(await other.jwks()).toEqual(await keys.jwks())
    expect(await verifies(other, before)).toBe(true)
  })

  test('refuse a revoked key within a second, however much was verified with it', async () => {
    const made = await signed(keys)
    expect(await verifies(other, made)).toBe(true)
    await revokeOwnKey(database.db, vault, made.kid)
    clock.pass(SECOND)
    expect(await verifies(keys, made)).toBe(false)
    expect(await verifies(other, made)).toBe(false)
    expect(await kidsOf(other)).not.toContain(made.kid)
    expect((await other.signing()).kid).not.toBe(made.kid)
  })

  test('refuse the tokens of a revoked key within a second, also those verified before', async () => {
    const nodes = [keys, other].map((node) => createAccessTokenIssuer(node.tokens, { lifetime: 60 }))
    const token =
      (await nodes[0]?.issue({ sender_id: 'spmis.example', client_id: 'c1', environment: 'live' }))?.access_token ?? ''
    const verified = () => Promise.all(nodes.map((tokens) => tokens.verify(token)))
    expect(await verified()).toMatchObject([{ sender_id: 'spmis.example' }, { sender_id: 'spmis.example' }])
    await rotateOwnKeys(database.db, vault)
    clock.pass(SECOND)
    expect(await verified()).toMatchObject([{ sender_id: 'spmis.example' }, { sender_id: 'spmis.example' }])
    const [, payload] = token.split('.')
    expect(payload).toBeTypeOf('string')
    const { kid } = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())
    await revokeOwnKey(database.db, vault, kid)
    clock.pass(SECOND)
    expect(await verified()).toEqual([null, null])
  })
})

describe('a row that was altered', () => {
  const alter = (statement: string, values: unknown[] = []) => database.db.pool.query(statement, values)
  const refused = async (kid: string) => {
    await expect(ensureAndLoadOwnKeys(database.db, vault, log, clock)).rejects.toThrow(
      new MasterKeyError(
        `the own key ${kid} cannot be decrypted: its row was altered; revoke it, and another takes its place (docs/keys.md)`,
      ),
    )
  }

  test('keeps a server from starting', async () => {
    const { kid } = await keys.signing()
    await alter('update own_key set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where kid = $1', [kid])
    await refused(kid)
  })

  test('by moving a sealed key into another row does so too', async () => {
    const { kid } = await keys.signing()
    await alter(`update own_key set sealed = (select sealed from own_key where use = 'sig' and state = 'next') where kid = $1`, [
      kid,
    ])
    await refused(kid)
  })

  test('does not end a server that runs, which says so once and has no use for the key', async () => {
    await rotateOwnKeys(database.db, vault, ({ use }) => use === 'sig')
    await alter(`update own_key set sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) where use = 'sig' and state = 'next'`)
    clock.pass(SECOND)
    await keys.signing()
    clock.pass(SECOND)
    await keys.signing()
    expect(logged.match(/an own key cannot be decrypted/g)).toHaveLength(1)
    expect(logged).toContain('"error":"DecryptionError"')
  })

  test('or inserted is no key: nothing that is not sealed is verified with or published', async () => {
    const published = await keys.jwks()
    const [version] = (await database.db.pool.query('select version from master_key')).rows
    await alter(
      `insert into own_key (kid, use, algorithm, state, sealed, expires_at) values
        ('theirs', 'sig', 'EdDSA', 'retired', null, now() + interval '1 hour'),
        ('forged', 'token', 'EdDSA', 'retired', $1, now() + interval '1 hour')`,
      [Buffer.concat([Buffer.of(version.version), Buffer.from('{"kty":"OKP","crv":"Ed25519","x":"AAAA"}')])],
    )
    clock.pass(SECOND)
    expect(await keys.jwks()).toEqual(published)
    expect(await keys.verification('theirs')).toBeNull()
    expect(await keys.tokens.verification('forged')).toBeNull()
    await refused('forged')
  })
})
