import { describe, expect, it } from 'vitest'
import { civilServer } from '../../test/civil.ts'
import { expectFault } from '../../test/expectations.ts'
import { bearer, post, searchRequest } from '../../test/server.ts'

const { server, peer } = await civilServer()

describe('what is not there', () => {
  it.each([
    '/nowhere/v1.0.0/registry/sync/search',
    '/civil/v2.0.0/registry/sync/search',
    `/${'x'.repeat(500)}/v1.0.0/registry/sync/search`,
    '/civil/v1.0.0/registry/sync/search/..%2f..%2fetc',
    "/civil'--/v1.0.0/registry/sync/search",
    '/%00/v1.0.0/registry/sync/search',
  ])('%s', async (path) => {
    expectFault(
      await post(`${server.url}${path}`, searchRequest(peer.sender_id, { type: 'UIN', value: '1' }), bearer(peer)),
      404,
      'err.request.not_found',
      'there is no such namespace or path here',
    )
  })

  it.each([
    'registry/sync/enrolled',
    'registry/enrollments/updates',
    'registry/sync/get-disability-details',
    'sync/check-enrollment',
  ])('%s is not served, which is told to those with a token', async (path) => {
    const url = `${server.url}/civil/v1.0.0/${path}`
    const refused = 'this operation is not served by this registry'
    expectFault(await post(url, 'not read', bearer(peer)), 404, 'err.request.not_found', refused)
    const nobody = await post(url, {})
    const required = 'Authorization: a bearer token is required'
    expectFault(nobody, 401, 'err.request.unauthorized', required)
    const elsewhere = await post(`${server.url}/nowhere/v1.0.0/${path}`, {}, bearer(peer))
    expectFault(elsewhere, 404, 'err.request.not_found', 'there is no such namespace or path here')
  })

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('method %s', async (method) => {
    const response = await fetch(`${server.url}/civil/v1.0.0/registry/sync/search`, { method })
    expect(response.headers.get('allow')).toBe('POST')
    const answer = { status: response.status, headers: response.headers, body: await response.json() }
    expectFault(answer, 405, 'err.request.bad', 'the method must be POST')
  })
})
