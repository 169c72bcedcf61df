import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'

let env: Record<string, string>
let close: () => Promise<void>
let added: { client_id: string; client_secret: string }

beforeAll(async () => {
  const database = await testDatabase()
  close = database.close
  env = { DATABASE_URL: databaseUrl(database.connection) }
  const limits = ['--rate-limit', 'unlimited', '--concurrency-limit', '3']
  added = await rollcallJson(['participant', 'add', 'a.example', '--name', 'A', ...limits], env)
})
afterAll(() => close())

const participant = (...words: string[]) => rollcallJson(['participant', ...words], env)
const refusal = async (...words: string[]) => {
  const { code, stdout, stderr } = await rollcall(['participant', ...words], env)
  expect(stdout).toBe('')
  return { code, stderr }
}

test('a participant begins with its limits, and must sign', async () => {
  expect(added).toMatchObject({ rate_limit: 'unlimited', concurrency_limit: 3, signature_policy: 'required' })
  expect(await participant('policy', 'a.example')).toEqual({
    sender_id: 'a.example',
    signature_policy: 'required',
    allow_unsigned: false,
    signature_profile: { layout: 'parameters', canonical_form: 'rfc8785', digest_prefix: '', algorithms: ['EdDSA'] },
    encryption_policy: 'allowed',
    jwks_uri: null,
  })
})

test('a policy is changed word by word', async () => {
  const unsigned = ['--signature', 'if-present', '--allow-unsigned']
  await participant('policy', 'a.example', ...unsigned, '--encryption', 'required', '--profile', 'jws,RS256')
  const jwks_uri = 'https://8.8.8.8/jwks.json'
  expect(await participant('policy', 'a.example', '--jwks-uri', jwks_uri)).toMatchObject({
    signature_policy: 'if-present',
    signature_profile: { layout: 'jws', algorithms: ['RS256'] },
    encryption_policy: 'required',
    jwks_uri,
  })
  const back = ['--jwks-uri', 'none', '--signature', 'required', '--profile', 'default']
  expect(await participant('policy', 'a.example', ...back)).toMatchObject({
    signature_policy: 'required',
    allow_unsigned: false,
    signature_profile: { layout: 'parameters' },
    jwks_uri: null,
  })
})

test('what weakens it must be said in full', async () => {
  expect(await refusal('policy', 'a.example', '--signature', 'off')).toEqual({
    code: 1,
    stderr: 'rollcall: signature_policy off takes unsigned messages, so it needs allow_unsigned: true\n',
  })
})

test('a key set is at an address that the guard would go to', async () => {
  const inside = 'http://127.0.0.1:9999/jwks.json'
  expect(await refusal('policy', 'a.example', '--jwks-uri', inside)).toEqual({
    code: 1,
    stderr: 'rollcall: the address must be https; rollcall participant host allow with --plain-http permits http to that host\n',
  })
  const words = ['--port', '9999', '--plain-http', '--loopback']
  const row = { host: '127.0.0.1', ports: [9999], plainHttp: true, loopback: true }
  expect(await participant('host', 'allow', 'a.example', '127.0.0.1', ...words)).toEqual([row])
  expect(await participant('policy', 'a.example', '--jwks-uri', inside)).toMatchObject({ jwks_uri: inside })
  await participant('policy', 'a.example', '--jwks-uri', 'none')
})

test('hosts are replaced, listed and removed', async () => {
  const any = { host: '127.0.0.1', ports: 'any', loopback: true }
  expect(await participant('host', 'allow', 'a.example', '127.0.0.1', '--port', 'any', '--loopback')).toEqual([any])
  const inside = { host: 'spmis.internal', private: true }
  expect(await participant('host', 'allow', 'a.example', 'spmis.internal', '--private')).toEqual([any, inside])
  expect(await participant('host', 'remove', 'a.example', '127.0.0.1')).toEqual([inside])
  expect(await participant('host', 'list', 'a.example')).toEqual([inside])
  expect(await refusal('host', 'remove', 'a.example', '127.0.0.1')).toEqual({
    code: 1,
    stderr: 'rollcall: nothing is allowed for 127.0.0.1\n',
  })
  expect(await refusal('host', 'allow', 'a.example', '*.internal')).toEqual({
    code: 1,
    stderr: 'rollcall: outgoing: an allowed host must be written as in an address, in lower case, and IPv6 without brackets\n',
  })
})

test.each([
  ['169.254.169.254', ['--private'], 'is in the network "cloud metadata", which no setting opens'],
  ['0.0.0.0', ['--loopback'], 'is in the network "unspecified", which no setting opens'],
  ['224.0.0.1', ['--private'], 'is in the network "multicast", which no setting opens'],
  ['fe80::1', ['--private', '--loopback'], 'is in the network "link-local", which no setting opens'],
  ['::ffff:a9fe:a9fe', ['--private'], 'is in the network "cloud metadata", which no setting opens'],
  ['10.1.2.3', ['--loopback'], 'is in the network "private", which this does not open: add --private'],
  ['127.0.0.1', [], 'is in the network "loopback", which this does not open: add --loopback'],
])('%s, which no request would reach, is refused with the reason', async (host, words, reason) => {
  expect(await refusal('host', 'allow', 'a.example', host, ...words)).toEqual({
    code: 1,
    stderr: `rollcall: ${host} ${reason}\n`,
  })
})

test('a new secret is shown once and differs', async () => {
  const rotated = await participant('secret', 'rotate', 'a.example')
  expect(rotated).toEqual({
    sender_id: 'a.example',
    client_id: added.client_id,
    client_secret: expect.stringMatching(/^[\w-]{43}$/),
  })
  expect(rotated.client_secret).not.toBe(added.client_secret)
})
