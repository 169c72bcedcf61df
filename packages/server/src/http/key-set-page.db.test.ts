import { addRegistry } from '@rollcall/admin/registries/registries'
import { rotateOwnKeys } from '@rollcall/keys/rotation'
import { listValidOwnKeys } from '@rollcall/keys/store/own-keys'
import type { JWK } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { SPEC } from '../../../delivery/test/stranger/signing.ts'
import { byUin } from '../../test/granted.ts'
import { answerOf, post, postSearch, type TestServer, testServer } from '../../test/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  await addRegistry(acting(server.database), { kind: 'social', namespace: 'qualified', qualified_kids: true })
})
afterAll(() => server.close())

const get = async (path: string) => answerOf(await fetch(`${server.url}${path}`))

it('publishes our public keys, for caches too', async () => {
  const answer = await get('/.well-known/jwks.json')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
  expect(answer.body).toEqual(await server.context.keys.jwks())
  const { kid } = await server.context.keys.signing()
  expect(answer.body.keys).toContainEqual(expect.objectContaining({ kid, kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' }))
})

it('has nothing private in it', async () => {
  const { body } = await get('/.well-known/jwks.json')
  for (const jwk of body.keys) {
    for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']) expect(jwk).not.toHaveProperty(member)
  }
})

it('publishes the same below the namespace of each registry', async () => {
  expect((await get('/civil/.well-known/jwks.json')).body).toEqual((await get('/.well-known/jwks.json')).body)
})

const namesIn = async (path: string): Promise<readonly string[]> => (await get(path)).body.keys.map(({ kid }: JWK) => kid)

it('names each key for signatures a second time in the set of a registry that asks for it, as its signatures do', async () => {
  const { keys } = (await get('/.well-known/jwks.json')).body
  const own = (await get('/qualified/.well-known/jwks.json')).body.keys
  expect(own.slice(0, keys.length)).toEqual(keys)
  const qualified = keys.flatMap((key: JWK) =>
    key.use === 'sig' ? [{ ...key, kid: `qualified.rollcall|${key.kid}|ed25519` }] : [],
  )
  expect(own.slice(keys.length)).toEqual(qualified)
  expect(qualified).toHaveLength(2)
  expect((await get('/civil/.well-known/jwks.json')).body.keys).toEqual(keys)
})

it('leaves out retired keys where 20 are too few, and never one that signs, is encrypted for, or will be', async () => {
  const { context, database } = server
  const algorithms = ['EdDSA', 'ES256', 'RS256'] as const
  const participants = await Promise.all(
    algorithms.map((algorithm) =>
      server.participant(`${algorithm.toLowerCase()}.demo`, { signature_profile: { ...SPEC, algorithms: [algorithm] } }),
    ),
  )
  /** The names of the keys of answers in each algorithm. */
  const signed = () =>
    Promise.all(
      participants.map(async (participant) => {
        const { body } = await postSearch(server, participant, [{ search_criteria: byUin('1') }], 'qualified')
        return /kidId="([^"]+)"/.exec(body.signature)?.[1]
      }),
    )
  for (const algorithm of algorithms) await context.keys.signing(algorithm)
  const vault = await context.vault()
  for (let rotations = 0; rotations < 4; rotations += 1) {
    server.clock.pass(1_000)
    const current = (await listValidOwnKeys(database.db)).filter(({ use, state }) => use !== 'token' && state !== 'retired')
    const plain = current.map(({ kid }) => kid)
    const [names, own] = [await namesIn('/.well-known/jwks.json'), await namesIn('/qualified/.well-known/jwks.json')]
    for (const found of [names, own]) {
      expect(found.slice(0, 10).toSorted()).toEqual(plain.toSorted())
      expect(found.length).toBeLessThanOrEqual(20)
    }
    const kids = await signed()
    expect(kids.map((kid = '') => kid.split('|').slice(-1)[0])).toEqual(['ed25519', 'ES256', 'RS256'])
    expect(own.slice(10, 16)).toEqual(expect.arrayContaining(kids))
    await rotateOwnKeys(database.db, vault)
  }
}, 120_000)

it('knows no other namespaces', async () => {
  const answer = await get('/nowhere/.well-known/jwks.json')
  expect([answer.status, answer.body.message.error]).toEqual([
    404,
    { code: 'err.request.not_found', message: 'there is no such namespace or path here' },
  ])
  expect(answer.headers.get('cache-control')).toBe('no-store')
})

it('is only read', async () => {
  const answer = await post(`${server.url}/.well-known/jwks.json`, '{}')
  expect([answer.status, answer.body.message.error]).toEqual([
    405,
    { code: 'err.request.bad', message: 'the method must be GET or HEAD' },
  ])
  expect((await fetch(`${server.url}/.well-known/jwks.json`, { method: 'HEAD' })).status).toBe(200)
})
