import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { algorithmOfJwk, importSigningKey, type SignatureProfile, sign } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type KeyPair, keyPair } from '../../../core/test/key-pairs.ts'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { readProfile } from '../profile.ts'

const HEADER = { version: '1.0.0', message_id: 'm-1', sender_id: 'a.example', note: 'Ümit' }
const MESSAGE = { transaction_id: 't-1', amount: 1e-7 }

let folder: string
const ed = keyPair('Ed25519')
const rsa = keyPair('RSA')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-probe-'))
  await writeFile(join(folder, 'keys.json'), JSON.stringify({ keys: [{ ...ed.jwk, kid: 'one' }, rsa.jwk] }))
})
afterAll(() => rm(folder, { recursive: true }))

/** An envelope as a participant with this profile would send it. */
async function message(pair: KeyPair, profile: SignatureProfile, kid = 'one'): Promise<string> {
  const algorithm = algorithmOfJwk(pair.jwk)
  if (algorithm === null) throw new Error('not a key for signatures')
  const privateKey = await importSigningKey(pair.privateJwk, algorithm)
  const key = { sender_id: HEADER.sender_id, kid, algorithm, privateKey }
  const times = { created: 1_000, expires: 1_300 }
  const signature = await sign({ header: HEADER, message: MESSAGE, profile, key, namespace: 'x', ...times })
  return JSON.stringify({ signature, header: HEADER, message: MESSAGE })
}

/** Runs `keys probe` without a database, which is not needed where the key is given. */
const probe = (text: string, ...words: string[]) =>
  rollcall(['keys', 'probe', '-', '--key', join(folder, 'keys.json'), '--json', ...words], {}, text)

describe('finds the profile of a message', () => {
  test.each([
    ['parameters,rfc8785,EdDSA', ed],
    ['parameters,sorted-escaped,BLAKE-512=,EdDSA', ed],
    ['jws-detached,sorted-escaped,RS256', rsa],
    ['raw-rsa,sorted-escaped,RS256', rsa],
    ['parameters,sorted-unescaped,EdDSA', ed],
  ])('%s', async (profile, pair) => {
    const { code, stdout } = await probe(await message(pair, readProfile(profile)))
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ profile }))
    expect(new Set(JSON.parse(stdout).map((row: { profile: string }) => row.profile.split(',')[0])).size).toBe(1)
  })
})

test('it says what else is to be known', async () => {
  const text = (await message(ed, readProfile('default'), 'other')).replaceAll('a.example|', 'b.example|')
  const { code, stdout } = await probe(text)
  expect(code).toBe(0)
  // It has no number that the two write in different ways.
  expect(JSON.parse(stdout)).toEqual(
    ['parameters,rfc8785,EdDSA', 'parameters,sorted-unescaped,EdDSA'].map((profile) => ({
      profile,
      kid: 'one',
      thumbprint: expect.any(String),
      namespace: 'x',
      remarks: [
        'the signature calls the key other, and it is registered as one',
        "kidId must name the sender_id of the header's sender_id",
      ],
    })),
  )
})

test('with the registered keys it needs no file', async () => {
  const { connection, close } = await testDatabase()
  const env = { DATABASE_URL: databaseUrl(connection) }
  const path = join(folder, 'message.json')
  await writeFile(path, await message(ed, readProfile('default')))
  await rollcallJson(['participant', 'add', 'a.example', '--name', 'A'], env)
  const none = await rollcall(['keys', 'probe', path], env)
  expect(none).toMatchObject({
    code: 1,
    stderr: 'rollcall: a.example has no valid registered key; give its public key with --key\n',
  })
  const registered = await rollcall(['participant', 'key', 'add', 'a.example', '-', '--kid', 'one'], env, ed.pem)
  expect(registered.code).toBe(0)
  expect(await rollcall(['keys', 'probe', path], env)).toEqual({
    code: 0,
    stdout:
      'verifies: parameters,rfc8785,EdDSA with key one, namespace x\n' +
      "  rollcall participant policy 'a.example' --profile parameters,rfc8785,EdDSA\n" +
      'verifies: parameters,sorted-unescaped,EdDSA with key one, namespace x\n' +
      "  rollcall participant policy 'a.example' --profile parameters,sorted-unescaped,EdDSA\n",
    stderr: '',
  })
  await close()
})

test('what no profile verifies is said layout by layout', async () => {
  const forged = (await message(ed, readProfile('default'))).replace('m-1', 'm-2')
  const { code, stdout } = await probe(forged)
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toEqual({
    matches: [],
    problems: {
      parameters: 'no key verifies it in any canonical form and digest',
      jws: expect.any(String),
      'jws-detached': expect.any(String),
      'raw-rsa': 'the signature must be canonical base64',
    },
  })
})

test.each([
  ['{', 'rollcall: the message file cannot be read as JSON: '],
  ['{"header":{}}', 'rollcall: the header of the message has no sender_id\n'],
])('%s is no message', async (text, line) => {
  const { code, stdout, stderr } = await probe(text)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(line)
})
