/** The partner API over HTTP: signing in, and what a participant sees of itself. */
import { randomUUID } from 'node:crypto'
import { isJsonObject, RequestFault, validator } from '@rollcall/protocol'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { skippingClock } from '../../../../observe/test/clock.ts'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { adminCaller } from '../../../test/admin-api.ts'
import { accepted, answerExchange, byIdentifier, deliverAll, searchFor, withReceiver } from '../../../test/asynchronous.ts'
import { LOOPBACK } from '../../../test/deliveries.ts'
import { eventRows } from '../../../test/notifications.ts'
import { askPartner, cookieOf, errorOf, partnerBrowser, partnerCode } from '../../../test/partner.ts'
import { newSigner, sealingPeer, sendAs, signedBody } from '../../../test/sealing.ts'
import { type Answer, QUIET, testServer } from '../../../test/server.ts'
import { PARTNER_ROUTES } from './routes.ts'

const clock = skippingClock()
const server = await testServer({ ROLLCALL_PARTNER_PAGE: '1' }, clock, QUIET)
afterAll(() => server.close())
const { pool } = server.database.db
const MINUTE = 60_000
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
const UIN = '6283174095'
const person = {
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: UIN }],
  name: { given_name: 'Ludmilla', surname: 'Zwichenmayer' },
}
const civil = await server.registry('civil', [person])
const sender_id = 'own.example'
const peer = await withReceiver(server, await sealingPeer(server, sender_id, { settings: { outgoing: [LOOPBACK] } }))
const browser = await partnerBrowser(server, sender_id)
const get = (path: string): Promise<Answer> => askPartner(server, path, browser)
const post = (path: string, body: object): Promise<Answer> => askPartner(server, path, browser, body)
const steps = async (): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries((await get('/checklist')).body.map(({ name, state }: { name: string; state: string }) => [name, state]))

describe('signing in', () => {
  it('with a link begins a session, in a cookie for this page alone that scripts cannot read', async () => {
    const answer = await askPartner(server, '/session', {}, { code: await partnerCode(server, sender_id) })
    expect(answer.headers.get('set-cookie')).toMatch(/^rollcall_partner=\d+_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)
    const described = { sender_id, expires_at: TIME, idle_seconds: 1_800, demo: false }
    expect([answer.status, answer.body]).toEqual([201, described])
    expect((await askPartner(server, '/session', { Cookie: cookieOf(answer) })).body).toEqual(described)
  })

  it('by the admin API an operator makes a link, and not for nobody', async () => {
    const caller = await adminCaller(server)
    const { status, body } = await caller.post(`/participants/${sender_id}/link`, {}, caller.tokens.operate)
    expect([status, body]).toEqual([
      201,
      { sender_id, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/partner#\d+_[\w-]{43}$/), expires_at: TIME },
    ])
    const [base, code = ''] = String(body.url).split('/partner#')
    expect(base).toBe(server.url)
    expect((await askPartner(server, '/session', {}, { code })).status).toBe(201)
    expect(await caller.refusal('/participants/nobody.example/link', {}, caller.tokens.operate)).toBe(
      '404 err.request.not_found no participant has sender_id nobody.example',
    )
  })

  it('signed out, the session says what to do', async () => {
    expect(errorOf(await askPartner(server, '/session'))).toBe(
      '401 err.request.unauthorized Cookie: nobody is signed in; ask the operator for a link',
    )
  })

  it.each([
    ['nothing', {}, '400 err.request.bad code: is required'],
    ['a number', { code: 1 }, '400 err.request.bad code: must be a string'],
    ['more', { code: 'x', sender_id: 'x' }, '400 err.request.bad sender_id: is not a known member'],
    [
      'an unknown code',
      { code: `1_${'A'.repeat(43)}` },
      '401 err.request.unauthorized code: is not valid here, was used before or has expired; ask the operator for a new link',
    ],
  ])('with %s is refused, and sets no cookie', async (_name, body, error) => {
    const answer = await askPartner(server, '/session', {}, body)
    expect([errorOf(answer), answer.headers.get('set-cookie')]).toEqual([error, null])
  })

  it('and out ends the session, and the browser forgets its cookie', async () => {
    const out = await partnerBrowser(server, sender_id)
    const answer = await askPartner(server, '/session/end', out, {})
    expect([answer.status, answer.body, answer.headers.get('set-cookie')]).toEqual([
      ...[200, {}, 'rollcall_partner=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0'],
    ])
    expect(errorOf(await askPartner(server, '/self', out))).toBe(
      '401 err.request.unauthorized Cookie: the session has ended; ask the operator for a new link',
    )
    // Again, it is as it was.
    expect((await askPartner(server, '/session/end', out, {})).status).toBe(200)
  })
})

describe('a participant sees', () => {
  it('which steps its system has taken, and that they were taken when the messages are forgotten', async () => {
    expect(await steps()).toEqual({ key: 'done', token: 'open', search: 'open', signature: 'open', callback: 'open' })
    const search = () => searchFor(peer, [byIdentifier('UIN', UIN)])
    const answer = await sendAs(server, peer, signedBody(peer, search()))
    expect(answer.body.message.search_response[0].status).toBe('succ')
    // Messages are looked at once a minute.
    expect(await steps()).toMatchObject({ token: 'open' })
    clock.pass(MINUTE)
    expect(await steps()).toEqual({ key: 'done', token: 'done', search: 'done', signature: 'done', callback: 'open' })
    await answerExchange(server, await accepted(server, peer, signedBody(peer, search())))
    await deliverAll(server)
    clock.pass(MINUTE)
    const done = { key: 'done', token: 'done', search: 'done', signature: 'done', callback: 'done' }
    expect(await steps()).toEqual(done)
    // As if these searches were forgotten.
    await pool.query(`update exchange set operation = 'txn-status'`)
    expect(await steps()).toEqual(done)
  })

  it('its keys, addresses and quotas, without a secret', async () => {
    const { status, body } = await get('/self')
    expect([status, body]).toMatchObject([
      200,
      {
        sender_id,
        client_id: peer.client_id,
        signature_policy: 'required',
        keys: [{ kid: 'sig-1', use: 'sig', state: 'live', valid_until: null }],
        addresses: { default_url: peer.receiver.url, auth: 'none' },
        subscriptions: { live: 0, suspended: 0 },
      },
    ])
    expect(JSON.stringify(body)).not.toContain(peer.secret)
  })

  it('its grants in words', async () => {
    const [grant] = (await get('/grants')).body
    expect(grant).toMatchObject({ namespace: 'civil', in_force: true })
    expect(grant.words).toContainEqual({ about: 'operations', words: 'all' })
    expect(grant.words).toContainEqual({ about: 'basis', words: 'law: no consent is asked for' })
  })

  it('a first search for its own sender_id, about nobody, with the key that is valid now', async () => {
    await newSigner(server, sender_id, 'sig-2', 'EdDSA', { valid_from: new Date(clock.date() + 24 * 60 * MINUTE) })
    const [example, ...others] = (await get('/examples')).body
    expect(others).toEqual([])
    expect(example).toMatchObject({ namespace: 'civil', must_sign: true })
    expect(example.path).toBe('/civil/v1.0.0/registry/sync/search')
    expect(example.curl).toContain(`"sender_id":"${sender_id}"`)
    expect(example.curl).toContain('"value":"IDENTIFIER"')
    expect(example.typescript).toContain(`sender_id: "${sender_id}"`)
    for (const program of [example.python, example.java]) expect(program).toMatch(/SigningKey.*"sig-1"\)/)
  })

  it('its deliveries with every attempt, and sends one again', async () => {
    const [first, ...others] = (await get('/deliveries')).body
    expect(others).toEqual([])
    expect(first).toMatchObject({ callback: 'on-search', namespace: 'civil', state: 'delivered', cause: null })
    const shown = (await get(`/deliveries/${first.message_id}`)).body
    expect(shown).toMatchObject({ ...first, made: [{ number: 1, status: 200, cause: null }] })
    expect((await get(`/deliveries?before=${first.message_id}`)).body).toEqual([])
    expect((await get('/deliveries?state=dead')).body).toEqual([])

    const before = peer.receiver.received.length
    const again = { message_ids: [first.message_id] }
    expect((await post('/deliveries/replay', again)).body).toEqual({ deliveries: 1, in_closed_mailboxes: 0 })
    expect(errorOf(await post('/deliveries/replay', again))).toBe(
      '409 err.request.bad message_ids: only deliveries that are delivered or refused or dead or held are sent again; none of these is, or its record was deleted after the delivery',
    )
    await deliverAll(server)
    expect(peer.receiver.received.length).toBe(before + 1)
    // The act has an audit entry; what was refused has none.
    expect(await auditedReplays()).toEqual([{ kind: 'operator', participant: sender_id, operator: null, count: 1, persons: [] }])
  })

  it('nothing sent again where no audit entry can be written', async () => {
    const [{ message_id }] = (await get('/deliveries')).body
    const fault = new RequestFault('err.service.unavailable', 'the access cannot be accounted for')
    const writing = vi.spyOn(server.context.auditLog, 'write').mockRejectedValueOnce(fault)
    expect((await post('/deliveries/replay', { message_ids: [message_id] })).status).toBe(503)
    writing.mockRestore()
    expect((await get(`/deliveries/${message_id}`)).body.state).toBe('delivered')
  })

  it('that a delivery which it asks for again waits while the circuit breaker of the destination is open', async () => {
    const [{ message_id }] = (await get('/deliveries')).body
    const before = peer.receiver.received.length
    const { origin } = new URL(peer.receiver.url)
    await pool.query(
      `insert into breaker (participant, origin, failures, opened_at, probe_at)
        values ($1, $2, 5, now(), now() + interval '1 hour')
        on conflict (participant, origin) do update set failures = 5, opened_at = now(), probe_at = excluded.probe_at`,
      [peer.id, origin],
    )
    expect((await post('/deliveries/replay', { message_ids: [message_id] })).body.deliveries).toBe(1)
    await deliverAll(server)
    expect(peer.receiver.received.length).toBe(before)
    expect((await get(`/deliveries/${message_id}`)).body.state).toBe('pending')

    await pool.query(`update breaker set probe_at = now()`)
    await pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
    await deliverAll(server)
    expect(peer.receiver.received.length).toBe(before + 1)
  })

  it('why a delivery failed, in words for the owner of the receiver', async () => {
    const message_id = `m-${randomUUID()}`
    await pool.query(
      `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, reason)
        values ($1, $2, $3, 'on-search', $4, 'https://own.example/in', false, '\\x01', 'dead', 'timeout')`,
      [randomUUID(), peer.id, civil.id, message_id],
    )
    const { body } = await get(`/deliveries/${message_id}`)
    // Nothing more is attempted.
    expect(body.next_attempt_at).toBe(null)
    expect(body.cause).toEqual({
      meaning: 'The answer did not come in time.',
      advice: 'Answer as soon as the message is stored, before it is processed; or ask the operator for more time.',
    })
  })

  it('of a message that may not be sent any more only that: not who is protected now, or has withdrawn', async () => {
    const causes = []
    for (const reason of ['not_permitted', 'body_forgotten', 'body_altered']) {
      await pool.query(`update delivery set reason = $1 where state = 'dead'`, [reason])
      const [dead] = (await get('/deliveries?state=dead')).body
      causes.push(dead.cause)
    }
    const said = { meaning: 'The stored message cannot be sent any more.', advice: 'Send your request again.' }
    expect(causes).toEqual([said, said, said])
  })

  it('its subscriptions, without what they are about', async () => {
    const rows = eventRows(server.database, civil)
    const { code } = await rows.subscribe(peer, {
      criteria: { filter_type: 'idtype-value', filter: { type: 'UIN', value: UIN } },
    })
    const [subscription] = (await get('/subscriptions')).body
    expect(subscription).toMatchObject({ code, namespace: 'civil', state: 'live' })
    expect(subscription).not.toHaveProperty('criteria')
    // A subscription may have ended because somebody died.
    expect(subscription).not.toHaveProperty('reason')
    expect((await get(`/subscriptions?before=${code}`)).body).toEqual([])
  })

  it('in no answer a person, and only what the schema of the call describes', async () => {
    for (const { path, method, name, result } of PARTNER_ROUTES) {
      if (method !== 'GET') continue
      const [delivery] = (await get('/deliveries')).body
      const { status, body } = await get(path.replace('{message_id}', delivery.message_id))
      expect(`${name} ${status}`).toBe(`${name} 200`)
      expect([name, validator(result).firstProblem(body)]).toEqual([name, null])
      const text = JSON.stringify(body)
      for (const personal of [UIN, 'Ludmilla', 'Zwichenmayer']) expect(text).not.toContain(personal)
      expect([name, idsIn(body)]).toEqual([name, []])
    }
  })
})

const auditedReplays = async () =>
  (await storedEntries(server.database.db))
    .filter(({ entry }) => entry.note === 'partner replay')
    .map(({ entry: { kind, participant, operator, count }, persons }) => ({ kind, participant, operator, count, persons }))

/** Members that are called like a number of the database. */
const idsIn = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(idsIn)
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(['id', 'participant', 'registry', 'mailbox', 'version'].includes(name) ? [name] : []),
    ...idsIn(inner),
  ])
}

describe('limits', () => {
  it('of deliveries that are asked for again', async () => {
    clock.pass(MINUTE)
    const message_ids = Array.from({ length: 100 }, (_, at) => `m-${at}`)
    expect((await post('/deliveries/replay', { message_ids })).status).toBe(409)
    const refused = await post('/deliveries/replay', { message_ids: ['m-1'] })
    expect(errorOf(refused)).toBe(
      '429 err.request.too_many_requests too many deliveries of this participant within a minute; try again later',
    )
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/)
    clock.pass(MINUTE)
    // A call that would pass the limit is refused whole, and not counted.
    const some = (count: number) => post('/deliveries/replay', { message_ids: message_ids.slice(0, count) })
    expect([(await some(2)).status, (await some(99)).status, (await some(98)).status]).toEqual([409, 429, 409])
    clock.pass(MINUTE)
    expect(errorOf(await post('/deliveries/replay', { message_ids: [...message_ids, 'm-100'] }))).toBe(
      '400 err.request.bad message_ids: must have at most 100 elements',
    )
  })

  it('of calls of a participant, which stop no other', async () => {
    await server.participant('other.example')
    const other = await partnerBrowser(server, 'other.example')
    for (let calls = 0; calls < 300; calls += 1) server.context.partnerCalls.fail(sender_id)
    expect(errorOf(await get('/grants'))).toBe(
      '429 err.request.too_many_requests too many calls of this participant within a minute; try again later',
    )
    expect((await askPartner(server, '/grants', other)).status).toBe(200)
  })
})
