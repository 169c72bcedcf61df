import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
const { get, post, refusal } = await adminCaller(server)

it('a token is made, is in one answer alone, and ends', async () => {
  const { status, body } = await post('/operators', {
    name: 'crvs',
    roles: ['publish'],
    registries: ['civil'],
  })
  expect([status, body.registries]).toEqual([201, ['civil']])
  const listed = await get('/operators')
  expect(listed.body).toContainEqual(
    expect.objectContaining({ name: 'crvs', roles: ['publish'], live: true, revoked_at: null }),
  )
  expect(JSON.stringify(listed.body)).not.toContain(body.token)
  expect(await refusal('/registries', undefined, body.token)).toBe(
    '403 err.request.forbidden this call needs the role read',
  )
  expect((await post('/operators/revoke', { name: 'crvs' })).body).toEqual({ name: 'crvs', sessions: 0 })
  expect(await refusal('/registries', undefined, body.token)).toMatch(/^401 err\.request\.unauthorized /)
  expect(await refusal('/operators/revoke', { name: 'crvs' })).toBe(
    '404 err.request.not_found no live token is named crvs',
  )
})

it.each([
  [{ name: 'x', roles: [] }, /^400 err\.request\.bad roles: /],
  [{ name: 'x', roles: ['root'] }, /^400 err\.request\.bad roles\[0\]: /],
  [
    { name: 'x', roles: ['read'], authority: 'https://consent.example' },
    /^400 err\.request\.bad authority: is for a token with the role consent, and no other role$/,
  ],
])('%j is refused', async (body, message) => {
  expect(await refusal('/operators', body)).toMatch(message)
})
