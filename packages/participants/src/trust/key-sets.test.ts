import { gzipSync } from 'node:zlib'
import { createLog } from '@rollcall/observe/log'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type KeyPair, keyPair } from '../../../core/test/key-pairs.ts'
import { json, type KeySetServer, keySetServer } from '../../test/key-set-server.ts'
import { createParticipantGuards, type ParticipantGuards } from '../egress/address-guard.ts'
import { createKeySetFetcher } from './key-sets.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

let server: KeySetServer
let guards: ParticipantGuards
let one: KeyPair
let two: KeyPair
let logged: string[]
let time: number
let nextId = 1

beforeAll(async () => {
  server = await keySetServer()
  guards = createParticipantGuards({ resolve: () => Promise.reject(new Error('no name is resolved here')) })
  one = keyPair('Ed25519')
  two = keyPair('RSA')
})
beforeEach(() => {
  logged = []
  time = 1_000_000
})
afterAll(async () => {
  await guards.close()
  await server.close()
})

/** The key sets of a node that knows nothing yet, and a participant of its own. */
function fresh(changes: Parameters<KeySetServer['owner']>[1] = {}, timeoutMs = 5_000) {
  const log = createLog({ destination: { write: (line: string) => logged.push(line) } })
  const sets = createKeySetFetcher({ guardOf: guards.of, log, clock: { now: () => time }, timeoutMs })
  const owner = server.owner(nextId++, changes)
  const start = server.asked
  const get = async (kid: string | null = null) => (await sets.get(owner, kid)).map((key) => key.kid)
  return { sets, owner, get, asked: () => server.asked - start }
}
const problems = () => logged.map((line) => (JSON.parse(line) as { problem?: string }).problem)

test('keys come in their order, with the uses and algorithms that they name', async () => {
  const encryption = keyPair('X25519')
  server.publish({
    keys: [
      { ...one.jwk, kid: 'a.example|one|ed25519', use: 'sig', alg: 'EdDSA', colour: 'red' },
      { ...two.jwk, kid: 'two' },
      { ...encryption.jwk, kid: 'three', use: 'enc' },
    ],
    issuer: 'a.example',
  })
  const { sets, owner } = fresh()
  expect(await sets.get(owner, null)).toMatchObject([
    { kid: 'one', use: 'sig', algorithm: 'EdDSA', public_jwk: one.jwk },
    { kid: 'two', use: 'sig', algorithm: 'RS256', public_jwk: two.jwk },
    { kid: 'three', use: 'enc', algorithm: 'ECDH-ES+A256KW', public_jwk: encryption.jwk },
  ])
  expect(logged).toEqual([])
})

test('keys for something else do not count', async () => {
  server.publish({
    keys: [
      { kty: 'AKP', alg: 'ML-DSA-65', pub: 'AAAA', kid: 'later' },
      { ...two.jwk, alg: 'PS256', kid: 'other' },
      { ...one.jwk, kid: 7 },
      { ...one.jwk, kid: 'one' },
      { ...one.jwk, kid: 'one' },
    ],
  })
  expect(await fresh().get()).toEqual(['one'])
})

test('a key may be published under several names', async () => {
  server.publish({
    keys: [
      { ...one.jwk, kid: 'one' },
      { ...one.jwk, kid: 'another' },
    ],
  })
  expect(await fresh().get()).toEqual(['one', 'another'])
})

test('without jwks_uri there is nothing, and nobody is asked', async () => {
  const { get, asked } = fresh({ jwks_uri: null })
  expect(await get('one')).toEqual([])
  expect(asked()).toBe(0)
})

describe('a set is not taken', () => {
  test.each<[string, Parameters<KeySetServer['publish']>[0], string]>([
    ['that is large', { keys: [], padding: 'x'.repeat(256 * 1024) }, 'the answer is larger than allowed'],
    ['of many keys', { keys: Array(21).fill({ kty: 'RSA' }) }, 'the key set has more than 20 keys'],
    [
      'that is a redirect',
      (_request, response) => response.writeHead(302, { Location: '/elsewhere' }).end(),
      'the answer has status 302',
    ],
    ['that is not there', (_request, response) => response.writeHead(404).end(), 'the answer has status 404'],
    [
      'that is compressed',
      (_request, response) =>
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' }).end(gzipSync('{"keys":[]}')),
      'the answer is compressed, which was not asked for',
    ],
    [
      'of another type',
      json({ keys: [] }, 'text/html'),
      'the answer is not of type application/jwk-set+json or application/json',
    ],
    [
      'that is no JSON',
      (_request, response) => response.setHeader('Content-Type', 'application/json').end('{"keys":[],}'),
      'the key set is no JSON that is read here',
    ],
    [
      'that is no UTF-8',
      (_request, response) =>
        response.setHeader('Content-Type', 'application/json').end(Buffer.from('{"keys":[],"a":"\xff"}', 'latin1')),
      'the key set is no JSON that is read here',
    ],
    ['that is no set', { jwks: [] }, 'the key set must be an object whose member keys is a list of objects'],
    ['of no objects', { keys: ['x'] }, 'the key set must be an object whose member keys is a list of objects'],
    [
      'with a member twice',
      (_request, response) => response.setHeader('Content-Type', 'application/json').end('{"keys":[],"keys":[]}'),
      'the key set is no JSON that is read here',
    ],
    ['that hangs up', (request) => request.socket.destroy(), 'the connection cannot be made, or it broke'],
  ])('%s', async (_name, content, problem) => {
    server.publish(content)
    expect(await fresh().get()).toEqual([])
    expect(problems()).toEqual([problem])
  })

  test.each(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'])('with a key that has %s', async (member) => {
    server.publish({
      keys: [
        { ...one.jwk, kid: 'one' },
        { ...two.jwk, [member]: 'SECRET' },
      ],
    })
    expect(await fresh().get()).toEqual([])
    expect(problems()).toEqual(['the key set holds a private or symmetric key'])
    expect(logged.join()).not.toMatch(/SECRET/)
  })

  test('with a symmetric key, whatever it lacks', async () => {
    server.publish({
      keys: [
        { ...one.jwk, kid: 'one' },
        { kty: 'oct', kid: 'two' },
      ],
    })
    expect(await fresh().get()).toEqual([])
    expect(problems()).toEqual(['the key set holds a private or symmetric key'])
  })

  test('with two keys of one name', async () => {
    server.publish({
      keys: [
        { ...one.jwk, kid: 'one' },
        { ...two.jwk, kid: 'one' },
      ],
    })
    expect(await fresh().get()).toEqual([])
    expect(problems()).toEqual(['two keys of the key set have the same kid'])
  })
})

test('256 KB and 20 keys are taken', async () => {
  const keys = Array.from({ length: 20 }, () => ({ kty: 'AKP' }))
  const empty = JSON.stringify({ keys: [...keys, one.jwk].slice(1), padding: '' }).length
  server.publish({ keys: [...keys, one.jwk].slice(1), padding: 'x'.repeat(256 * 1024 - empty) })
  expect(await fresh().get()).toHaveLength(1)
})

test('an answer that never ends is not waited for', async () => {
  server.publish((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"keys":[')
  })
  expect(await fresh({}, 150).get()).toEqual([])
  expect(problems()).toEqual(['the answer did not come in time'])
})

test('an address that is refused opens no socket', async () => {
  server.publish({ keys: [one.jwk] })
  const connected = await server.connected()
  expect(await fresh({ outgoing: [] }).get()).toEqual([])
  expect(await fresh({ outgoing: [{ host: '127.0.0.1', ports: 'any', plainHttp: true }] }).get()).toEqual([])
  expect(problems()).toEqual(['the address must be https', 'the address must be reachable on the public network'])
  expect(await server.connected()).toBe(connected)
})

describe('how long a set is used', () => {
  test('10 minutes without asking again', async () => {
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    const { get, asked } = fresh()
    await get()
    time += 10 * MINUTE - 1
    expect(await get('one')).toEqual(['one'])
    expect(asked()).toBe(1)
    server.publish({ keys: [{ ...two.jwk, kid: 'two' }] })
    time += 1
    expect(await get('one')).toEqual(['two'])
    expect(asked()).toBe(2)
  })

  test('24 hours where it cannot be had, asking every 30 seconds', async () => {
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    const { get, asked } = fresh()
    await get()
    server.publish((_request, response) => response.writeHead(500).end())
    time += 10 * MINUTE
    expect(await get('one')).toEqual(['one'])
    time += 30 * SECOND - 1
    expect(await get('one')).toEqual(['one'])
    expect(asked()).toBe(2)
    time += 1
    await get('one')
    expect(asked()).toBe(3)
    time = 1_000_000 + 24 * HOUR
    expect(await get('one')).toEqual(['one'])
    time += 1
    expect(await get('one')).toEqual([])
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    time += 30 * SECOND
    expect(await get('one')).toEqual(['one'])
  })

  test('not a moment longer where a private key is published', async () => {
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    const { get } = fresh()
    await get()
    server.publish({ keys: [{ ...one.privateJwk, kid: 'one' }] })
    time += 10 * MINUTE
    expect(await get('one')).toEqual([])
    server.publish({ keys: [{ ...two.jwk, kid: 'two' }] })
    time += 30 * SECOND
    expect(await get()).toEqual(['two'])
  })

  test('until the operator registers another address', async () => {
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    const { sets, owner, get, asked } = fresh()
    await get()
    const moved = { ...owner, jwks_uri: `${owner.jwks_uri}?moved` }
    expect(await sets.get(moved, null)).toHaveLength(1)
    expect(asked()).toBe(2)
    expect(await sets.get({ ...owner, outgoing: [] }, null)).toEqual([])
  })
})

describe('an unknown kid', () => {
  test('has the set fetched again, once in 30 seconds', async () => {
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    const { get, asked } = fresh()
    await get('one')
    server.publish({ keys: [{ ...two.jwk, kid: 'two' }] })
    time += 30 * SECOND - 1
    expect(await get('two')).toEqual(['one'])
    expect(asked()).toBe(1)
    time += 1
    expect(await get('two')).toEqual(['two'])
    expect(asked()).toBe(2)
    for (const kid of ['x', 'y', 'z']) expect(await get(kid)).toEqual(['two'])
    expect(asked()).toBe(2)
    time += 30 * SECOND
    for (const kid of ['x', 'y', 'z']) expect(await get(kid)).toEqual(['two'])
    expect(asked()).toBe(3)
  })

  test('does not count against another participant', async () => {
    server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
    const { sets, owner, get, asked } = fresh()
    await get('x')
    expect(await sets.get(server.owner(nextId++), 'x')).toHaveLength(1)
    expect(await sets.get(owner, 'x')).toHaveLength(1)
    expect(asked()).toBe(2)
  })
})

test('those who need a set at once wait for one request', async () => {
  server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
  const { get, asked } = fresh()
  const answers = await Promise.all(['one', 'two', null, 'three'].map((kid) => get(kid)))
  expect(answers).toEqual([['one'], ['one'], ['one'], ['one']])
  expect(asked()).toBe(1)
})

test('who has what it needs does not wait for the others', async () => {
  server.publish({ keys: [{ ...one.jwk, kid: 'one' }] })
  const { get } = fresh()
  await get()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  server.publish((request, response) => {
    held.then(() => json({ keys: [{ ...two.jwk, kid: 'two' }] })(request, response))
  })
  time += MINUTE
  const waiting = get('two')
  expect(await get('one')).toEqual(['one'])
  release()
  expect(await waiting).toEqual(['two'])
})
