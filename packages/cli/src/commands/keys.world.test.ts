import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@rollcall/database/database'
import { setMessagePolicy } from '@rollcall/participants/store/participants'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { askToken, search } from '../../test/ask.ts'
import { databaseUrl, printed, type Running, rollcall, rollcallJson, start } from '../../test/command.ts'

interface KeyRow {
  readonly kid: string
  readonly use: string
  readonly state: string
}

const newKey = (): string => randomBytes(32).toString('base64')

let env: { DATABASE_URL: string; ROLLCALL_MASTER_KEY: string }
let drop: () => Promise<void>
let running: Running
let base: string

beforeAll(async () => {
  const empty = await emptyDatabase()
  drop = empty.drop
  env = { DATABASE_URL: databaseUrl(empty.connection), ROLLCALL_MASTER_KEY: newKey() }
  running = start(['serve', '--json'], env)
  const [line] = await printed(running, /^.*\n/)
  base = JSON.parse(line).url
})
afterAll(async () => {
  await running.stop()
  await drop()
})

const list = (): Promise<KeyRow[]> => rollcallJson(['keys', 'list'], env)
const kids = (keys: readonly KeyRow[], use: string, state: string): string[] =>
  keys.filter((key) => key.use === use && key.state === state).map(({ kid }) => kid)

async function published(): Promise<string[]> {
  const { keys } = (await (await fetch(`${base}/.well-known/jwks.json`)).json()) as { keys: KeyRow[] }
  return keys.map(({ kid }) => kid)
}

test('the first start has made the keys, which are listed and published', async () => {
  const keys = await list()
  expect(keys.map(({ use, state }) => `${use} ${state}`).sort()).toEqual([
    ...['enc active', 'enc active', 'enc next', 'enc next', 'sig active', 'sig next'],
    ...['token active', 'token next'],
  ])
  expect(keys[0]).toEqual({
    kid: expect.stringMatching(/^[\w-]{43}$/),
    use: expect.any(String),
    algorithm: expect.any(String),
    state: expect.any(String),
    created_at: expect.stringMatching(/Z$/),
    activated_at: keys[0]?.state === 'active' ? expect.stringMatching(/Z$/) : null,
    retired_at: null,
    good_until: null,
    revoked_at: null,
  })
  const peers = keys.filter(({ use }) => use !== 'token').map(({ kid }) => kid)
  expect((await published()).sort()).toEqual(peers.sort())
  const { stdout } = await rollcall(['keys', 'list'], env)
  expect(stdout).toMatch(/^kid +use +algorithm +state +since +good_until\n/)
})

test('rotation and revocation under load: no request is refused, and peers see it', async () => {
  await rollcallJson(['registry', 'add', 'civil'], env)
  const peer = await rollcallJson(['participant', 'add', 'spmis.example', '--name', 'MIS'], env)
  await rollcallJson(['grant', 'set', 'spmis.example', 'civil', '--template', 'eligibility'], env)
  const db = openDatabase({ connectionString: env.DATABASE_URL })
  await setMessagePolicy(db, 'spmis.example', { signature_policy: 'if-present', allow_unsigned: true })
  await db.close()
  const token_url = `${base}/oauth2/client/token`
  const { token } = await askToken(token_url, peer)
  const registry = {
    namespace: 'civil',
    receiver_id: 'civil.rollcall',
    reg_type: 'Civil',
    reg_record_type: 'Person',
    samples: [{ identifier_type: 'UIN', identifier_value: '1' }],
  }
  const statuses = new Set<number>()
  const load = { over: false }
  const loading = (async () => {
    while (!load.over) {
      statuses.add((await search(base, token, 'spmis.example', registry)).status)
      const fresh = await askToken(token_url, peer)
      statuses.add((await search(base, fresh.token, 'spmis.example', registry)).status)
      await sleep(50)
    }
  })()
  const before = await list()
  const rotated = await rollcallJson(['keys', 'rotate'], env)
  await expect.poll(published, { timeout: 60_000 }).toContain(rotated[0].next)
  const after = await published()
  const again = await rollcallJson(['keys', 'rotate', '--use', 'sig'], env)
  load.over = true
  await loading
  expect([...statuses]).toEqual([200])

  expect(rotated).toHaveLength(4)
  expect(kids(before, 'sig', 'active')).toEqual([rotated[0].retired])
  expect(kids(before, 'sig', 'next')).toEqual([rotated[0].active])
  for (const { use, active, retired, next } of rotated) {
    for (const kid of [active, next]) expect(after.includes(kid)).toBe(use !== 'token')
    expect(after.includes(retired)).toBe(use === 'sig')
  }
  expect(again).toEqual([expect.objectContaining({ use: 'sig', active: rotated[0].next })])

  const revoked = await rollcallJson(['keys', 'revoke', again[0].active], env)
  expect(revoked).toMatchObject({ kid: again[0].active, state: 'revoked', revoked_at: expect.any(String) })
  await expect.poll(published, { timeout: 60_000 }).not.toContain(again[0].active)
  expect(kids(await list(), 'sig', 'active')).toEqual([again[0].next])
})

test('people are told when peers may not know the new keys yet', async () => {
  const { stdout } = await rollcall(['keys', 'rotate', '--use', 'sig'], env)
  expect(stdout).toMatch(/^use +algorithm +active +retired\nsig +EdDSA +[\w-]{43} +[\w-]{43}\n/)
  expect(stdout).toContain('Peers may use an older key set for 600 s,')
})

test.each([
  [['keys', 'revoke', 'stranger'], {}, 'none of our keys has the kid stranger'],
  [['keys', 'rotate-master'], {}, 'ROLLCALL_NEW_MASTER_KEY is not set; set it to the new master key (openssl rand -base64 32)'],
  [
    ['keys', 'rotate'],
    { ROLLCALL_MASTER_KEY: newKey() },
    'ROLLCALL_MASTER_KEY is not the master key of this database; without it nothing that is encrypted there can be read (docs/keys.md)',
  ],
  [
    ['serve'],
    { ROLLCALL_MASTER_KEY: newKey() },
    'ROLLCALL_MASTER_KEY is not the master key of this database; without it nothing that is encrypted there can be read (docs/keys.md)',
  ],
  [
    ['serve'],
    { ROLLCALL_MASTER_KEY: '' },
    'the master key of this database is missing: set ROLLCALL_MASTER_KEY; without it nothing that is encrypted there can be read (docs/keys.md)',
  ],
  [['serve'], { ROLLCALL_MASTER_KEY: 'secret' }, 'ROLLCALL_MASTER_KEY must be 32 bytes as base64, base64url or hexadecimal'],
])('rollcall %j with %j is refused in one line, and makes no key', async (words, changes, message) => {
  const before = await list()
  const { code, stdout, stderr } = await rollcall(words, { ...env, ...changes })
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
  expect(await list()).toEqual(before)
})

describe('rotate-master', () => {
  test('seals everything anew; the old key is refused, the new one starts', async () => {
    const next = { ...env, ROLLCALL_MASTER_KEY: newKey() }
    const both = { ...env, ROLLCALL_NEW_MASTER_KEY: next.ROLLCALL_MASTER_KEY }
    const before = await list()
    expect(await rollcallJson(['keys', 'rotate-master'], both)).toEqual({ version: 2, resealed: expect.any(Number) })
    expect(await rollcallJson(['keys', 'rotate-master'], both)).toEqual({ version: 2, resealed: 0 })
    expect((await rollcall(['keys', 'rotate'], env)).stderr).toContain('is not the master key')
    expect(await list()).toEqual(before)
    env = next
    const restarted = start(['serve'], env)
    await printed(restarted, /\n/)
    expect((await restarted.stop()).code).toBe(0)
    // The server that was started with the old key alone goes on with what it has opened.
    expect((await fetch(`${base}/.well-known/jwks.json`)).status).toBe(200)
  })
})
