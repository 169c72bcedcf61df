import type { JWK } from 'jose'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { answerOf, post, type TestServer, testServer } from '../../test/server.ts'
import { addRegistry } from '../admin/registries/registries.ts'

let server: TestServer

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  await addRegistry(server.database, { kind: 'social', namespace: 'qualified', qualified_kids: true })
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
  expect(answer.body.keys).toContainEqual(
    expect.objectContaining({ kid, kty: 'OKP', crv: 'Ed25519', use: 'sig', alg: 'EdDSA' }),
  )
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

it('names each key a second time in the set of a registry that asks for it, up to 20 keys', async () => {
  const own = async () => (await get('/qualified/.well-known/jwks.json')).body.keys
  const { keys } = (await get('/.well-known/jwks.json')).body
  expect(await own()).toEqual([
    ...keys,
    ...keys.map((key: JWK) => ({ ...key, kid: `qualified.rollcall|${key.kid}|${key.alg}` })),
  ])
  expect((await get('/civil/.well-known/jwks.json')).body.keys).toEqual(keys)
  const many = Array.from({ length: 12 }, (_, at) => ({ kid: `k-${at}`, alg: 'EdDSA', kty: 'OKP' }))
  const jwks = vi.spyOn(server.context.keys, 'jwks').mockResolvedValue({ keys: many })
  expect(await own()).toHaveLength(20)
  jwks.mockRestore()
})

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
