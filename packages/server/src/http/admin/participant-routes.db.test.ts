import { addPurpose } from '@rollcall/admin/consents/purposes'
import { takeDailyQuota } from '@rollcall/participants/store/grant-use'
import { findParticipant } from '@rollcall/participants/store/participants'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { adminCaller } from '../../../test/admin-api.ts'
import { LOOPBACK, receiver } from '../../../test/deliveries.ts'
import { postSearch, testServer } from '../../../test/server.ts'

const server = await testServer()
afterAll(() => server.close())
const civil = await server.registry('civil')
const { tokens, token, get, post, refusal } = await adminCaller(server)

const NEW = { sender_id: 'mis.example', name: 'Social protection MIS' }
const AT = '/participants/mis.example'

it('a misspelled sender_id gets the nearest one, where the caller may see all participants', async () => {
  await server.participant('spmis.example')
  const asked = (token: string, path = '/participants/spmis.exampel/disable') => refusal(path, {}, token)
  const unknown = '404 err.request.not_found no participant has sender_id spmis.exampel'
  for (const token of [tokens.own, tokens.operate]) {
    expect(await asked(token)).toBe(`${unknown}; the nearest is spmis.example`)
  }
  const bound = await token('bound', ['own'], ['civil'])
  expect(await asked(bound, '/registries/civil/grants/spmis.exampel/revoke')).toBe(unknown)
  const withdrawn = { purpose: 'eligibility', participant: 'spmis.exampel' }
  const person = { identifier_type: 'UIN', identifier_value: '1' }
  await addPurpose(acting(server.database), { code: 'eligibility' })
  expect(await refusal('/consents/withdraw', { ...person, ...withdrawn }, tokens.consent)).toBe(unknown)
})

it('a sender_id of 255 characters has a page', async () => {
  for (const sender_id of ['x'.repeat(255), '\u{1f7e2}'.repeat(255)]) {
    expect((await post('/participants', { ...NEW, sender_id })).status).toBe(201)
    expect(await get(`/participants/${encodeURIComponent(sender_id)}`)).toMatchObject({ status: 200, body: { sender_id } })
  }
})

describe('a participant is taken in', () => {
  it('with a client secret that is answered once', async () => {
    const { status, body } = await post('/participants', NEW)
    expect([status, body.client_secret.length > 30]).toEqual([201, true])
    const rotated = await post(`${AT}/secrets`, {})
    expect([rotated.status, rotated.body.sender_id]).toEqual([201, 'mis.example'])
    const shown = await get(AT, tokens.read)
    expect(shown.body.secrets).toMatchObject([
      { live: true, retired_at: null },
      { live: true, retired_at: null },
    ])
    const text = JSON.stringify([shown.body, (await get('/participants')).body])
    for (const { client_secret } of [body, rotated.body]) expect(text).not.toContain(client_secret)
    expect(await refusal('/participants', NEW)).toBe(
      '400 err.request.bad a participant with sender_id mis.example exists already',
    )
  })

  it('with keys, of which a private one is refused', async () => {
    const pair = keyPair('Ed25519')
    const added = await post(`${AT}/keys`, { keys: pair.pem, kid: 'k-1', valid_until: '2027-01-01T00:00:00Z' })
    expect([added.status, added.body]).toMatchObject([201, [{ kid: 'k-1', use: 'sig', state: 'live' }]])
    expect(await refusal(`${AT}/keys`, { keys: pair.privatePem })).toMatch(/^400 err\.request\.bad .*private key/)
    expect((await get(AT)).body.keys).toMatchObject([{ kid: 'k-1', valid_until: '2027-01-01T00:00:00.000Z' }])
    expect((await post(`${AT}/keys/revoke`, { kid: 'k-1' }, tokens.operate)).body.state).toBe('revoked')
    expect(await refusal(`${AT}/keys/revoke`, { kid: 'k-1' })).toBe(
      '400 err.request.bad mis.example has no live registered key with this kid; to refuse a key that only its jwks_uri lists, add it here and revoke it',
    )
  })

  it('with a policy, hosts and addresses, whose credentials are never answered', async () => {
    const here = { host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true }
    expect((await post(`${AT}/hosts`, here)).body).toEqual([here])
    const policy = { jwks_uri: 'http://127.0.0.1:9/jwks.json', encryption_policy: 'required' }
    expect((await post(`${AT}/policy`, policy)).body).toMatchObject(policy)
    expect(await refusal(`${AT}/policy`, { signature_policy: 'off' })).toMatch(/^400 err\.request\.bad .*allow_unsigned/)
    expect((await post(`${AT}/hosts`, { host: 'mis.internal', private: true })).body).toHaveLength(2)
    expect((await post(`${AT}/hosts/remove`, { host: 'mis.internal' }, tokens.operate)).body).toEqual([here])
    expect(await refusal(`${AT}/hosts/remove`, { host: 'mis.internal' })).toBe(
      '400 err.request.bad nothing is allowed for mis.internal',
    )
    const callback = { default_url: 'https://mis.example/dci', auth: 'bearer', token: 'never-answered' }
    const changed = await post(`${AT}/callback`, { ...callback, notify_url: 'https://mis.example/notify' })
    expect(changed.body).toMatchObject({ default_url: callback.default_url, auth: 'bearer' })
    const { body } = await get(AT)
    expect([body.policy, body.callback, body.hosts]).toMatchObject([
      policy,
      { auth: 'bearer', notify_url: 'https://mis.example/notify' },
      [here],
    ])
    expect(JSON.stringify([changed.body, body])).not.toContain('never-answered')
    expect(await refusal(`${AT}/callback`, { default_url: 'https://10.0.0.1/' })).toBe(
      '400 err.request.bad the address must be reachable on the public network; rollcall participant host allow permits that host, with --private in a private network, with --loopback on this machine',
    )
  })

  it('with limits of how much it may ask at once', async () => {
    const limits = { rate_limit: 2.5, concurrency_limit: 'unlimited', max_page_size: 50 }
    expect((await post(`${AT}/limits`, limits, tokens.operate)).body).toMatchObject(limits)
    expect((await post(`${AT}/limits`, { rate_limit: null }, tokens.operate)).body).toMatchObject({
      rate_limit: null,
      concurrency_limit: 'unlimited',
      max_page_size: 50,
    })
    expect((await get(AT)).body).toMatchObject({ rate_limit: null, max_page_size: 50 })
    for (const wrong of [{ rate_limit: 0 }, { concurrency_limit: 1.5 }, { max_page_size: 'unlimited' }]) {
      const [member = ''] = Object.keys(wrong)
      expect(await refusal(`${AT}/limits`, wrong)).toMatch(new RegExp(`^400 err\\.request\\.bad ${member}: `))
    }
    expect(await refusal(`${AT}/limits`, { max_page_size: 3_000_000_000 })).toBe(
      '400 err.request.bad max_page_size: must be at most 2147483647',
    )
    expect(await refusal('/participants/none.example/limits', {})).toMatch(/^404 err\.request\.not_found /)
  })

  it('with a limit of subscriptions', async () => {
    expect((await post(`${AT}/subscriptions`, { max_subscriptions: 7 })).body.max_subscriptions).toBe(7)
    expect((await get(AT)).body).toMatchObject({ max_subscriptions: 7, subscriptions: { live: 0, suspended: 0 } })
  })
})

it('a participant is shown with what it uses of its quotas, and when it was last there', async () => {
  const peer = await server.participant('asks.example')
  await grant(server.database, 'asks.example', 'civil', { items_per_day: 100 })
  expect((await get('/participants/asks.example')).body.last_seen).toBeNull()
  const criteria = { query_type: 'idtype-value', query: { type: 'UIN', value: '31' } }
  expect((await postSearch(server, peer, [{ search_criteria: criteria }])).status).toBe(200)
  const participant = await findParticipant(server.database.db, 'asks.example')
  const counted = { participant: participant?.id ?? 0, registry: civil.id, counted: 'items' }
  await takeDailyQuota(server.database.db, counted, 9, 100)
  const { body } = await get('/participants/asks.example', tokens.read)
  expect(body.last_seen).not.toBeNull()
  expect(body.quotas).toEqual([{ namespace: 'civil', counted: 'items', used: 10, most: 100 }])
  expect(body.accepted_today).toMatchObject({ messages: 0, most_messages: server.context.limits.accepted_requests })
  expect(body.grants).toMatchObject([{ namespace: 'civil', terms: { items_per_day: 100 } }])
})

it('a sandbox participant is checked by one who operates, and its reports are shown', async () => {
  await server.registry('civil', [], 'civil-test', 'sandbox')
  await server.participant('tries.example', { environment: 'sandbox', signature_policy: 'required' })
  const at = '/participants/tries.example'
  const of = { namespace: 'civil-test', since: '2026-01-01T00:00:00Z' }
  expect(await refusal(`${at}/check`, { ...of, namespace: 'civil' }, tokens.operate)).toBe(
    '400 err.request.bad the registry civil is live; a participant is checked in a sandbox registry',
  )
  const { status, body } = await post(`${at}/check`, of, tokens.operate)
  expect([status, body]).toMatchObject([200, { sender_id: 'tries.example', passed: false }])
  expect(body.steps).toMatchObject(expect.arrayContaining([expect.objectContaining({ name: 'token', state: 'missing' })]))
  const { sender_id, ...report } = body
  expect((await get(at, tokens.read)).body.checks).toEqual([report])
})

it('a participant is disabled by one who operates, and enabled and removed by one who owns', async () => {
  const at = '/participants/goes.example'
  await post('/participants', { sender_id: 'goes.example', name: 'Goes' })
  expect((await post(`${at}/disable`, {}, tokens.operate)).body.status).toBe('disabled')
  expect((await post(`${at}/enable`, {}, tokens.operate)).status).toBe(403)
  expect((await post(`${at}/enable`, {})).body.status).toBe('active')
  expect((await post(`${at}/remove`, { dry_run: true })).body).toEqual({
    sender_id: 'goes.example',
    dry_run: true,
    pending: { subscriptions: 0, requests: 0, deliveries: 0, outbox: 0 },
    stored: { grants: 0, secrets: 1, keys: 0, subscriptions: 0, messages: 0, deliveries: 0 },
  })
  expect((await get(at)).status).toBe(200)
})

it('a callback address is tried out, with every step', async () => {
  const there = await receiver()
  server.closing(there)
  await server.participant('heard.example', { outgoing: [LOOPBACK] })
  const at = '/participants/heard.example'
  await post(`${at}/callback`, { allow: [there.url] })
  const { status, body } = await post(`${at}/callback/test`, { to: there.url }, tokens.operate)
  expect([status, body.target]).toEqual([200, expect.stringContaining(there.url)])
  expect(body.steps.map(({ step }: { step: string }) => step)).toContain('answer')
  expect((await post(`${at}/callback/test`, { to: 'https://other.example' }, tokens.operate)).body).toMatchObject({
    ok: false,
    steps: [{ step: 'address', ok: false }],
  })
})

it.each(['', '/disable', '/enable', '/keys/revoke', '/policy', '/callback', '/callback/test', '/secrets', '/remove'])(
  'of an unknown sender_id %j is 404',
  async (path) => {
    const body = path === '' ? undefined : path === '/keys/revoke' ? { kid: 'k' } : {}
    expect(await refusal(`/participants/nobody.example${path}`, body)).toBe(
      '404 err.request.not_found no participant has sender_id nobody.example',
    )
  },
)
