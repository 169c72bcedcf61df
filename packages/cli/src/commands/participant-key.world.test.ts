import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'

let env: Record<string, string>
let close: () => Promise<void>
let folder: string

beforeAll(async () => {
  const database = await testDatabase()
  close = database.close
  env = { DATABASE_URL: databaseUrl(database.connection) }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-keys-'))
  for (const name of ['a', 'b']) await rollcallJson(['participant', 'add', `${name}.example`, '--name', name], env)
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await close()
})

const file = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text)
  return path
}
const key = (...words: string[]) => rollcallJson(['participant', 'key', ...words], env)

test('keys come as PEM, JWK or JWK set, and are listed, the newest first', async () => {
  const [ed, rsa, x] = [keyPair('Ed25519'), keyPair('RSA'), keyPair('X25519')]
  const pem = await file('ed.pem', ed.pem)
  const times = ['--from', '2020-01-01', '--until', '2999-01-01']
  const [added] = await key('add', 'a.example', pem, '--kid', 'one', ...times)
  expect(added).toEqual({
    kid: 'one',
    use: 'sig',
    algorithm: 'EdDSA',
    state: 'live',
    thumbprint: expect.stringMatching(/^[\w-]{43}$/),
    valid_from: '2020-01-01T00:00:00.000Z',
    valid_until: '2999-01-01T00:00:00.000Z',
    revoked_at: null,
  })
  const set = JSON.stringify({
    keys: [
      { ...rsa.jwk, kid: 'two', use: 'enc' },
      { ...x.jwk, kid: 'three' },
    ],
  })
  const { code, stdout } = await rollcall(['participant', 'key', 'add', 'a.example', '-'], env, set)
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: 'a.example has key two (enc, RSA-OAEP-256)\na.example has key three (enc, ECDH-ES+A256KW)\n',
  })
  const [changed] = await key('add', 'a.example', pem, '--kid', 'uno', '--until', 'never')
  expect(changed).toEqual({ ...added, kid: 'uno', valid_until: null })
  const listed = await key('list', 'a.example')
  expect(listed.map((row: { kid: string }) => row.kid)).toEqual(['three', 'two', 'uno'])
})

test('a revoked key is refused within the command that adds it again', async () => {
  const pem = await file('revoked.pem', keyPair('Ed25519').pem)
  await key('add', 'b.example', pem, '--kid', 'gone')
  expect(await key('revoke', 'b.example', 'gone')).toMatchObject({ kid: 'gone', state: 'revoked' })
  const again = await rollcall(['participant', 'key', 'add', 'b.example', pem], env)
  expect(again).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: this key was revoked, and a revoked key cannot be registered again; make a new key\n',
  })
})

test.each([
  ['default', 'parameters,rfc8785,RS256'],
  ['parameters,sorted-escaped,SHA-256=,ES256', 'parameters,sorted-escaped,SHA-256=,RS256'],
])('an RSA key beside the profile %s is refused as long as the profile does not accept it', async (profile, advised) => {
  const pem = await file('rsa.pem', keyPair('RSA').pem)
  await rollcallJson(['participant', 'policy', 'b.example', '--profile', profile], env)
  const accepted = profile === 'default' ? 'EdDSA' : 'ES256'
  expect(await rollcall(['participant', 'key', 'add', 'b.example', pem], env)).toEqual({
    code: 1,
    stdout: '',
    stderr:
      `rollcall: the key is for RS256, and the signature profile of b.example accepts ${accepted} only; ` +
      `if it signs with this key, first run rollcall participant policy b.example --profile ${advised}; ` +
      'if the key is for encryption, add --use enc\n',
  })
  // The advice in the refusal works.
  expect(await key('add', 'b.example', pem, '--use', 'enc')).toMatchObject([{ use: 'enc' }])
  await rollcallJson(['participant', 'policy', 'b.example', '--profile', advised], env)
  expect(await key('add', 'b.example', pem, '--use', 'sig')).toMatchObject([{ algorithm: 'RS256' }])
  await rollcallJson(['participant', 'policy', 'b.example', '--profile', 'default'], env)
})

test('a key that the layout of the profile cannot carry: the default layout is named', async () => {
  await rollcallJson(['participant', 'policy', 'b.example', '--profile', 'raw-rsa,RS256'], env)
  const { code, stderr } = await rollcall(['participant', 'key', 'add', 'b.example', '-'], env, keyPair('Ed25519').pem)
  expect(code).toBe(1)
  expect(stderr).toContain('the key is for EdDSA, and the signature profile of b.example accepts RS256 only;')
  expect(stderr).toContain('rollcall participant policy b.example --profile EdDSA;')
  await rollcallJson(['participant', 'policy', 'b.example', '--profile', 'EdDSA'], env)
})

describe('is refused in one line, and nothing is registered', () => {
  const good = keyPair('Ed25519')
  const other = keyPair('P-256')
  const set = JSON.stringify({ keys: [other.jwk, good.privateJwk] })
  const cases: readonly [string, string, readonly string[], string][] = [
    ['a private PEM', good.privatePem, [], 'this is a private key: its owner keeps it'],
    ['a private JWK', JSON.stringify(good.privateJwk), [], 'this is a private key: its owner keeps it'],
    ['a set with a private key', set, [], 'this is a private key: its owner keeps it'],
    ['what is no key', 'hello', [], 'the file must hold a public key in PEM, a JWK or a JWK set'],
    [
      'a name for two',
      JSON.stringify({ keys: [good.jwk, other.jwk] }),
      ['--kid', 'x'],
      'one kid is given, for more than one key; give each key by itself',
    ],
    ['another use', good.pem, ['--use', 'enc'], 'kty: the key is not of a type and shape'],
    ['an end before its begin', good.pem, ['--until', '2000-01-01'], 'valid_until: must be later than valid_from'],
  ]
  test.each(cases)('%s', async (_name, text, words, message) => {
    const { code, stdout, stderr } = await rollcall(['participant', 'key', 'add', 'b.example', '-', ...words], env, text)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^rollcall: .*\n$/)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain(good.privateJwk.d)
  })

  test('a key of nobody, and a file that is not there', async () => {
    const nobody = await rollcall(['participant', 'key', 'add', 'c.example', '-'], env, good.pem)
    expect(nobody).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: no participant has sender_id c.example; the nearest is a.example\n',
    })
    const { code, stderr } = await rollcall(['participant', 'key', 'add', 'b.example', '/not/there'], env)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'rollcall: the file /not/there cannot be read: no such file or directory\n',
    })
  })
})
