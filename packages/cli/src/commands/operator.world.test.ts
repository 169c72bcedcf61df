import { addConsentAuthority } from '@rollcall/admin/consents/authorities'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { type TestServer, testServer } from '../../../server/test/server.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'

let server: TestServer
let env: Record<string, string>

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  env = { DATABASE_URL: databaseUrl(server.database.connection) }
})
afterAll(() => server.close())

const operator = (...words: string[]) => rollcall(['operator', ...words], env)

/** The status with which the admin API answers a token. */
async function asked(token: string): Promise<number> {
  const response = await fetch(`${server.adminUrl}/admin/v1/participants`, { headers: { Authorization: `Bearer ${token}` } })
  await response.body?.cancel()
  return response.status
}

test('a token is printed once, opens the admin API, and is refused once it is revoked', async () => {
  const { code, stdout } = await operator('add', 'console', '--role', 'read', 'publish')
  expect(code).toBe(0)
  const [, token = ''] = /^added console, until \S+\ntoken {2}(\S+)\nThe token is not stored/.exec(stdout) ?? []
  expect(await asked(token)).toBe(200)
  const listed = await operator('list')
  expect(listed.stdout).toMatch(/^console +read publish +all +- +yes/m)
  expect(listed.stdout).not.toContain(token)
  expect(await operator('revoke', 'console')).toMatchObject({ code: 0, stdout: 'console is revoked\n' })
  expect(await asked(token)).toBe(401)
  expect((await operator('revoke', 'console')).stderr).toBe('rollcall: no live token is named console\n')
})

test('a token may be bound to registries, and ends when it is said', async () => {
  const words = ['operator', 'add', 'crvs', '--role', 'publish', '--registry', 'civil']
  const added = await rollcallJson([...words, '--expires', tomorrow()], env)
  expect(added).toMatchObject({
    name: 'crvs',
    roles: ['publish'],
    registries: ['civil'],
    expires_at: `${tomorrow()}T00:00:00.000Z`,
  })
})

test('a token may be bound to a consent authority', async () => {
  const name = 'https://consent.example'
  await addConsentAuthority(acting(server.database), { name, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] })
  const words = ['operator', 'add', 'consent-service', '--role', 'consent', '--authority', name]
  expect(await rollcallJson(words, env)).toMatchObject({ roles: ['consent'], authority: name })
  expect((await operator('list')).stdout).toMatch(/^consent-service +consent +all +https:\/\/consent\.example +yes/m)
})

const tomorrow = (): string => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)

test.each([
  [['add', 'x'], 2, /--role <role\.\.\.>' not specified/],
  [['add', 'x', '--role', 'root'], 2, /Allowed choices are read, publish, consent, operate, audit, own/],
  [['add', 'x', '--role', 'read', '--expires', '2020-01-01'], 1, /^rollcall: expires_at: must be in the future/],
  [
    ['add', 'x', '--role', 'consent', '--authority', 'nobody'],
    1,
    /^rollcall: authority: no such consent authority is registered/,
  ],
  [['add', 'x', '--role', 'read', '--registry', 'nowhere'], 1, /^rollcall: there is no registry at nowhere/],
])('%j is refused', async (words, expected, message) => {
  const { code, stderr } = await operator(...words)
  expect(code).toBe(expected)
  expect(stderr).toMatch(message)
})

test('a link signs in to the console once; who is signed in is listed, until the token is revoked', async () => {
  await operator('add', 'amina', '--role', 'read')
  const { stdout } = await rollcall(['operator', 'link', 'amina'], {
    ...env,
    ROLLCALL_CONSOLE_URL: 'https://console.example.org/',
  })
  const [, code] = /^https:\/\/console\.example\.org\/#\/sign-in\/(\S+)\nIt signs in as amina, once, until /.exec(stdout) ?? []
  const signIn = async (): Promise<number> => {
    const response = await fetch(`${server.adminUrl}/admin/v1/session`, {
      method: 'POST',
      body: JSON.stringify({ code }),
      headers: { 'Rollcall-Console': '1', 'Content-Type': 'application/json' },
    })
    await response.body?.cancel()
    return response.status
  }
  expect([await signIn(), await signIn()]).toEqual([201, 401])
  expect(await rollcallJson(['operator', 'sessions'], env)).toMatchObject([{ name: 'amina', provider: null }])
  const [{ id }] = await rollcallJson(['operator', 'sessions'], env)
  expect((await operator('sign-out', 'amina', '--session', String(id + 1))).stderr).toBe(
    'rollcall: amina is not signed in by this session\n',
  )
  expect((await operator('sign-out', 'amina', '--session', String(id))).stdout).toBe('amina is signed out; sessions ended: 1\n')
  expect((await operator('sign-out', 'amina')).stderr).toBe('rollcall: amina is not signed in\n')
  expect((await operator('revoke', 'amina')).stdout).toBe('amina is revoked\n')
  expect((await operator('sessions')).stdout).toBe('nobody is signed in\n')
  expect((await operator('link', 'amina')).stderr).toBe('rollcall: no live token is named amina\n')
})
