import { afterAll, expect, it } from 'vitest'
import { adminCaller } from '../../../test/admin-api.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
const { get, post, refusal, tokens } = await adminCaller(server)

it('a token is made, is in one answer alone, and ends', async () => {
  const { status, body } = await post('/operators', { name: 'crvs', roles: ['publish'], registries: ['civil'] })
  expect([status, body.registries]).toEqual([201, ['civil']])
  const listed = await get('/operators')
  expect(listed.body).toContainEqual(expect.objectContaining({ name: 'crvs', roles: ['publish'], live: true, revoked_at: null }))
  expect(JSON.stringify(listed.body)).not.toContain(body.token)
  expect(await refusal('/registries', undefined, body.token)).toBe('403 err.request.forbidden this call needs the role read')
  expect((await post('/operators/revoke', { name: 'crvs' })).body).toEqual({ name: 'crvs', sessions: 0, proposals: 0 })
  expect(await refusal('/registries', undefined, body.token)).toMatch(/^401 err\.request\.unauthorized /)
  expect(await refusal('/operators/revoke', { name: 'crvs' })).toBe('404 err.request.not_found no live token is named crvs')
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

it('who is signed in is listed without secrets, and is signed out, by session or by name', async () => {
  expect((await get('/operators/sessions')).body).toEqual([])
  const signIn = async (token: string): Promise<string> => {
    const answer = await fetch(`${server.adminUrl}/admin/v1/session`, {
      method: 'POST',
      body: JSON.stringify({ token }),
      headers: { 'Rollcall-Console': '1', 'Content-Type': 'application/json' },
    })
    await answer.body?.cancel()
    return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
  const seen = async (Cookie: string): Promise<number> => {
    const answer = await fetch(`${server.adminUrl}/admin/v1/session`, { headers: { 'Rollcall-Console': '1', Cookie } })
    await answer.body?.cancel()
    return answer.status
  }
  const [first, second, other] = [...[await signIn(tokens.read), await signIn(tokens.read), await signIn(tokens.audit)]]
  const { body } = await get('/operators/sessions')
  const row = {
    id: expect.any(Number),
    provider: null,
    created_at: expect.any(String),
    seen_at: expect.any(String),
    ends_at: expect.any(String),
  }
  expect(body).toEqual([
    { name: 'test-audit', ...row },
    { name: 'test-read', ...row },
    { name: 'test-read', ...row },
  ])
  const secrets = [first, second, other].map((cookie = '') => cookie.split('_').slice(2).join('_'))
  for (const secret of secrets) {
    expect(secret).toHaveLength(43)
    expect(JSON.stringify(body)).not.toContain(secret)
  }

  const end = '/operators/sessions/end'
  const [{ id: ofAudit }, { id: newest }] = body
  expect(await refusal(end, { name: 'test-read', id: ofAudit })).toBe(
    '404 err.request.not_found test-read is not signed in by this session',
  )
  expect((await post(end, { name: 'test-read', id: newest })).body).toEqual({ name: 'test-read', sessions: 1 })
  expect([await seen(first ?? ''), await seen(second ?? ''), await seen(other ?? '')]).toEqual([200, 401, 200])
  expect((await post(end, { name: 'test-read' })).body).toEqual({ name: 'test-read', sessions: 1 })
  expect([await seen(first ?? ''), await seen(other ?? '')]).toEqual([401, 200])
  expect(await refusal(end, { name: 'test-read' })).toBe('404 err.request.not_found test-read is not signed in')
  // The token itself is as it was.
  expect(await refusal(end, { id: newest })).toBe('400 err.request.bad name: is required')
  expect((await get('/registries', tokens.read)).status).toBe(200)
})
