/** Traces of an attack: a few lines and counters, and a limit for its address. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bearer, post, searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

const FAILURES = 8

let server: TestServer
let peer: TestParticipant

beforeAll(async () => {
  server = await testServer({ ROLLCALL_BEHIND_TLS_PROXY: '1', limits: { address_failures: FAILURES } })
  peer = await server.participant('eve.example', { signature_policy: 'required', allow_unsigned: false })
  await server.registry('civil', [])
})

afterAll(() => server.close())

const url = () => `${server.url}/civil/v1.0.0/registry/sync/search`
const body = (sender_id = peer.sender_id) => searchRequest(sender_id, { type: 'UIN', value: 'secret-word' })
const from = (address: string) => ({ 'X-Forwarded-For': address })

function lines(refusal: string): object[] {
  return server
    .logged()
    .split('\n')
    .filter((line) => line.includes('requests were refused'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.refusal === refusal)
}

const counted = async (refusal: string, participant: string): Promise<number> => {
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text()
  const line = metrics
    .split('\n')
    .find((text) => text.startsWith(`rollcall_refusals_total{refusal="${refusal}",participant="${participant}"}`))
  return Number(line?.split(' ').at(-1) ?? 0)
}

describe('one line for many', () => {
  it.each<[string, number, () => object]>([
    ['err.signature.missing', 401, () => body()],
    ['err.signature.invalid', 401, () => ({ ...body(), signature: 'forged' })],
    ['err.sender_id.invalid', 403, () => body('ada.example')],
  ])('%s of a participant', async (refusal, status, message) => {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const answer = await post(url(), message(), { ...bearer(peer), ...from('203.0.113.1') })
      expect([answer.status, answer.body.errors[0].code]).toEqual([status, refusal])
    }
    expect(lines(refusal)).toEqual([
      expect.objectContaining({ level: 'warn', refusal, participant: 'eve.example', address: '203.0.113.1', count: 1 }),
    ])
    expect(await counted(refusal, 'eve.example')).toBe(20)
    expect(server.logged()).not.toContain('secret-word')
  })

  it('a wrong secret of a client that there is, and one of nobody', async () => {
    const ask = (client_id: string) =>
      post(
        `${server.url}/oauth2/client/token`,
        JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret: 'x' }),
        from('203.0.113.2'),
      )
    expect((await ask(peer.client_id)).status).toBe(401)
    expect((await ask('nobody')).status).toBe(401)
    expect(lines('token.invalid_client')).toEqual([
      expect.objectContaining({ level: 'warn', participant: 'eve.example', address: '203.0.113.2' }),
      expect.objectContaining({ level: 'warn', participant: null, address: '203.0.113.2' }),
    ])
    expect(await counted('token.invalid_client', '')).toBe(1)
  })
})

describe('an address without a good token', () => {
  const guess = (address: string) => post(url(), body(), { Authorization: 'Bearer x.y.z', ...from(address) })
  const token = (address: string, client_secret = peer.secret) =>
    post(
      `${server.url}/oauth2/client/token`,
      JSON.stringify({ grant_type: 'client_credentials', client_id: peer.client_id, client_secret }),
      from(address),
    )

  it('has so many tries a minute, then 429, and gets no token; others do, and good tokens count', async () => {
    const address = '2001:db8:1:2::'
    for (let attempt = 0; attempt < FAILURES; attempt += 1) {
      expect((await guess(`${address}${attempt + 1}`)).status).toBe(401)
    }
    const answer = await guess(`${address}ffff`)
    expect([answer.status, answer.body.errors[0]]).toEqual([
      429,
      {
        code: 'err.request.too_many_requests',
        message: 'too many requests without a good access token from this address; try again later',
      },
    ])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    const refused = await token(`${address}1`)
    expect([refused.status, refused.body]).toEqual([
      429,
      { error: 'temporarily_unavailable', error_description: 'too many failed requests; try again later' },
    ])
    expect((await token('2001:db8:1:3::1')).status).toBe(200)
    // Its signature is missing, so it was let in.
    const known = await post(url(), body(), { ...bearer(peer), ...from(`${address}1`) })
    expect(known.body.errors[0].code).toBe('err.signature.missing')
  })

  it('cannot get round it by asking for tokens instead, in the name of whomever', async () => {
    const address = '203.0.113.9'
    for (let attempt = 0; attempt < FAILURES; attempt += 1) {
      expect((await token(address, `wrong ${attempt}`)).status).toBe(401)
    }
    expect((await token(address, 'wrong again')).status).toBe(429)
    expect((await guess(address)).status).toBe(429)
  })
})
