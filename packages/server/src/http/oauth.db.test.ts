import { newSecret } from '@rollcall/participants/directory/secrets'
import { addSecret } from '@rollcall/participants/store/client-secrets'
import { findClient, setParticipantStatus } from '@rollcall/participants/store/participants'
import { TokenError, validator } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { civilServer } from '../../test/civil.ts'
import { type Answer, answerOf, post, searchRequest, testServer } from '../../test/server.ts'

const { server, peer } = await civilServer([], { limits: { token_failures: 5 } })

const FORM = 'application/x-www-form-urlencoded'

async function ask(body: string, headers: Record<string, string> = {}, query = ''): Promise<Answer> {
  return post(`${server.url}/oauth2/client/token${query}`, body, { 'Content-Type': FORM, ...headers })
}

const form = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString()
const credentials = () => ({ client_id: peer.client_id, client_secret: peer.secret })
const basic = (id: string, secret: string) => ({ Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` })
const grant = { grant_type: 'client_credentials' }

const search = (token: string) =>
  post(`${server.url}/civil/v1.0.0/registry/sync/search`, searchRequest(peer.sender_id, { type: 'UIN', value: '1' }), {
    Authorization: `Bearer ${token}`,
  })

/** All that is answered, whatever was asked for (RFC 6749, 3.3). */
const GRANTED =
  'registry.search registry.subscribe registry.unsubscribe registry.txn-status registry.enrolment-updates ' +
  'registry.enrolled registry.enrolment-status registry.disabled registry.disability-details ' +
  'registry.disability-support registry.on-search registry.on-subscribe registry.on-unsubscribe registry.txn-on-status registry.notify'

describe('a token', () => {
  it.each([
    ['HTTP Basic', () => ask(form(grant), basic(peer.client_id, peer.secret))],
    ['a form', () => ask(form({ ...grant, ...credentials(), scope: 'registry.search' }))],
    ['JSON', () => ask(JSON.stringify({ ...grant, ...credentials() }), { 'Content-Type': 'application/json' })],
  ])('is given for credentials in %s and opens the registry', async (_name, request) => {
    const answer = await request()
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toEqual({ access_token: expect.any(String), token_type: 'bearer', expires_in: 900, scope: GRANTED })
    const [header, claims] = answer.body.access_token.split('.')
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
      sub: peer.sender_id,
      client_id: peer.client_id,
    })
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({ alg: 'EdDSA', typ: 'at+jwt' })
    expect((await search(answer.body.access_token)).status).toBe(200)
  })

  it.each([
    ['unknown', () => ask(form({ ...grant, ...credentials(), scope: 'launder.money openid' }))],
    ['malformed', () => ask(form({ ...grant, ...credentials(), scope: '"\\' }))],
    ['sent twice', () => ask(`${form({ ...grant, ...credentials(), scope: 'a' })}&scope=b`)],
    [
      'a JSON array',
      () =>
        ask(JSON.stringify({ ...grant, ...credentials(), scope: ['registry.search'] }), { 'Content-Type': 'application/json' }),
    ],
  ])('is given whatever scope was asked for, and says what it is good for: %s', async (_name, request) => {
    const answer = await request()
    expect([answer.status, answer.body.scope]).toEqual([200, GRANTED])
  })

  it('is given for either of two live secrets, not for a retired one', async () => {
    const twin = await server.participant('twin.demo')
    const client = await findClient(server.database.db, twin.client_id)
    if (client === null) throw new Error('no such client')
    const [second, third] = [newSecret(), newSecret()]
    const status = async (secret: string) =>
      (await ask(form({ ...grant, client_id: twin.client_id, client_secret: secret }))).status
    await addSecret(server.database.db, client.participant, second.sha256)
    expect([await status(twin.secret), await status(second.secret)]).toEqual([200, 200])
    await addSecret(server.database.db, client.participant, third.sha256)
    expect([await status(twin.secret), await status(second.secret), await status(third.secret)]).toEqual([401, 200, 200])
  })

  it('is worth nothing within a second after its participant was disabled', async () => {
    const passing = await server.participant('passing.demo')
    const url = `${server.url}/civil/v1.0.0/registry/sync/search`
    const request = searchRequest('passing.demo', { type: 'UIN', value: '1' })
    const send = () => post(url, request, { Authorization: `Bearer ${passing.token}` })
    expect((await send()).status).toBe(200)
    await setParticipantStatus(server.database.db, 'passing.demo', 'disabled')
    server.clock.pass(1_000)
    expect((await send()).status).toBe(401)
    const answer = await ask(form({ ...grant, client_id: passing.client_id, client_secret: passing.secret }))
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client'])
  })
})

describe('a refusal in the words of RFC 6749', () => {
  const refused = (answer: Answer) => [answer.status, answer.body.error, answer.body.error_description]

  it.each([
    ['', [400, 'invalid_request', 'grant_type is required']],
    ['grant_type=password', [400, 'unsupported_grant_type', 'grant_type must be client_credentials']],
    ['grant_type=client_credentials', [401, 'invalid_client', 'client_id and client_secret are required']],
    ['grant_type=client_credentials&grant_type=client_credentials', [400, 'invalid_request', 'grant_type must be sent once']],
  ])('%j', async (body, expected) => {
    expect(refused(await ask(body))).toEqual(expected)
  })

  it('a wrong secret and an unknown client are told alike', async () => {
    const wrong = [401, 'invalid_client', 'client_id or client_secret is wrong, or the client is disabled']
    const answer = await ask(form(grant), basic(peer.client_id, 'wrong'))
    expect(refused(answer)).toEqual(wrong)
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="rollcall"')
    expect(refused(await ask(form(grant), basic('nobody', peer.secret)))).toEqual(wrong)
    expect(refused(await ask(form(grant), basic('no\u0000body', peer.secret)))).toEqual(wrong)
  })

  it('credentials in two places', async () => {
    const answer = await ask(form({ ...grant, ...credentials() }), basic(peer.client_id, peer.secret))
    expect(refused(answer)).toEqual([400, 'invalid_request', 'client credentials must be sent in one place only'])
  })

  it.each(['Bearer x', 'Basic', 'Basic ????', 'Basic YWJj'])('Authorization %s', async (Authorization) => {
    expect(refused(await ask(form(grant), { Authorization }))).toEqual([
      401,
      'invalid_client',
      'Authorization must be HTTP Basic with client_id and secret',
    ])
  })

  it.each(['{"grant_type":1}', '[]', '{', '{"client_id":"a","client_id":"b"}'])('JSON %s', async (body) => {
    expect(refused(await ask(body, { 'Content-Type': 'application/json' }))).toEqual([
      400,
      'invalid_request',
      'the body must be a JSON object of strings',
    ])
  })

  it('another content type, and a body too large', async () => {
    expect(refused(await ask('x', { 'Content-Type': 'text/plain' }))).toEqual([
      400,
      'invalid_request',
      'Content-Type must be application/x-www-form-urlencoded or application/json',
    ])
    expect(refused(await ask('x'.repeat(20_000)))).toEqual([413, 'invalid_request', 'body: must be at most 16384 bytes'])
  })

  it('credentials in the query string are not read unless configured', async () => {
    const query = `?${form({ ...grant, ...credentials() })}`
    expect(refused(await ask('', {}, query))).toEqual([400, 'invalid_request', 'grant_type is required'])
    const lenient = await testServer({ ROLLCALL_TOKEN_QUERY: '1' })
    try {
      const other = await lenient.participant('spmis.demo')
      const parameters = form({ ...grant, client_id: other.client_id, client_secret: other.secret })
      const answer = await post(`${lenient.url}/oauth2/client/token?${parameters}`, '', { 'Content-Type': FORM })
      expect(answer.status).toBe(200)
    } finally {
      await lenient.close()
    }
  })

  it('too many failures of one client', async () => {
    const guess = () => ask(form({ ...grant, client_id: 'guessed', client_secret: 'x' }))
    for (let failure = 0; failure < 5; failure += 1) expect((await guess()).status).toBe(401)
    const answer = await guess()
    expect(refused(answer)).toEqual([429, 'temporarily_unavailable', 'too many failed requests; try again later'])
    expect(validator(TokenError).problem(answer.body, '')).toBeNull()
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(form({ ...grant, ...credentials() }))).status).toBe(200)
  })

  it('too many failures in the name of a client do not keep it from its tokens', async () => {
    const client_secret = 'x'.repeat(9_000)
    const guess = async () => (await ask(form({ ...grant, ...credentials(), client_secret }))).status
    const statuses = await Promise.all(Array.from({ length: 9 }, guess))
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
    expect((await ask(form({ ...grant, ...credentials() }))).status).toBe(200)
  })

  it('another method', async () => {
    const answer = await answerOf(await fetch(`${server.url}/oauth2/client/token`))
    expect([answer.status, answer.body.message.error.message]).toEqual([405, 'the method must be POST'])
  })

  it('logs no secret and no token', () => {
    expect(server.logged()).not.toContain(peer.secret)
    expect(server.logged()).not.toContain(peer.client_id)
  })
})
