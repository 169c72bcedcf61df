/** From the sandbox to a live registry, over HTTP: what a check sees, what it does itself, and what a promotion ends. */

import { listSubscriptions } from '@rollcall/admin/events/subscriptions'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { listGrants } from '@rollcall/admin/grants/grants'
import { checkParticipant } from '@rollcall/admin/participants/check'
import { addParticipantKeys } from '@rollcall/admin/participants/keys'
import { rotateParticipantSecret } from '@rollcall/admin/participants/participants'
import { changeParticipantPolicy } from '@rollcall/admin/participants/policy'
import { promoteParticipant } from '@rollcall/admin/participants/promote'
import { showParticipant } from '@rollcall/admin/participants/show'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { generate } from '@rollcall/synthetic'
import { afterAll, expect, test, vi } from 'vitest'
import packageJson from '../../../../admin/package.json' with { type: 'json' }
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { EVERYTHING } from '../../../../participants/test/grants.ts'
import { keySetServer } from '../../../../participants/test/key-set-server.ts'
import { accepted, answerExchange, byIdentifier, deliverAll, searchFor, withReceiver } from '../../asynchronous.ts'
import { LOOPBACK } from '../../deliveries.ts'
import { expectFault } from '../../expectations.ts'
import { type Peer, sealingPeer, searchBy, sendAs, signedBody } from '../../sealing.ts'
import { bearer, post, testServer } from '../../server.ts'
import { subscribeFor, TYPES, unsubscribeFor } from '../../subscribing.ts'

const server = await testServer()
afterAll(() => server.close())
const { db } = server.database
const { vault } = server.context
const [ADA] = [...generate('civil', { count: 1, seed: 'demo' })]
if (ADA === undefined) throw new Error('there is nobody')
await server.registry('civil', [ADA])
await server.registry('civil', [ADA], 'civil-test', 'sandbox')
const peer = await withReceiver(
  server,
  await sealingPeer(server, 'new.example', { settings: { environment: 'sandbox', outgoing: [LOOPBACK] } }),
)
// Only what `grant set` would write.
await db.pool.query(`delete from participant_grant using registry where registry.id = registry and namespace = 'civil'`)

const sender_id = 'new.example'
const limits = DEFAULT_LIMITS
const deps = { db, limits, samples: (kind: string) => generate(kind, { count: 100, seed: 'test' }) }
const since = new Date(Date.now() - 60_000).toISOString()
const check = (of: object = {}) => checkParticipant(acting(deps), { sender_id, namespace: 'civil-test', since, ...of })
const states = async () => Object.fromEntries((await check()).steps.map(({ name, state }) => [name, state]))
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: Error) => error.message,
  )
const live = keyPair('Ed25519')
const promote = (input: object = {}) => promoteParticipant(acting(deps), { sender_id, keys: live.pem, kid: 'live-1', ...input })
const { uin } = { uin: JSON.stringify(ADA).match(/"identifier_value":"(\d+)"/)?.[1] ?? '' }
const search = () => searchFor(peer, [byIdentifier('UIN', uin)])
const asked = async (path: string, body: Parameters<typeof signedBody>[1]) => {
  const id = await accepted(server, peer, signedBody(peer, body), path, 'civil-test')
  await answerExchange(server, id)
  await deliverAll(server)
}
const notified = () =>
  vi.waitFor(async () => {
    server.context.mailboxes.anyDue()
    await server.context.mailboxes.poll(new AbortController().signal)
    await deliverAll(server)
    expect((await states()).notification).toBe('passed')
  }, 60_000)

test('without a report, and with one in which steps are missing, a promotion is refused', async () => {
  expect(await refused(promote())).toBe(
    'new.example has not been checked; run rollcall participant check new.example <namespace>',
  )
  expect(await states()).toEqual({
    token: 'missing',
    search: 'missing',
    callback: 'missing',
    retry: 'missing',
    subscribe: 'missing',
    notification: 'missing',
    unsubscribe: 'missing',
  })
  expect(await refused(promote())).toBe(
    'the last check of new.example in civil-test has not passed; missing: token, search, callback, retry, subscribe, notification, unsubscribe; run rollcall participant check new.example <namespace>',
  )
})

test('each step is seen as the system of the participant goes through it', async () => {
  const answer = await sendAs(server, peer, signedBody(peer, search()), 'civil-test')
  expect(answer.body.message.search_response[0].status).toBe('succ')
  expect(await states()).toMatchObject({ token: 'passed', search: 'passed', callback: 'missing' })

  await asked('search', search())
  // This look sends the answer again, under its message_id.
  expect(await states()).toMatchObject({ callback: 'passed', retry: 'missing' })
  await deliverAll(server)
  expect(await states()).toMatchObject({ callback: 'passed', retry: 'passed', subscribe: 'missing' })
  const answers = peer.receiver.received.filter(({ path }) => path.endsWith('on-search'))
  expect(new Set(answers.map(({ body }) => JSON.parse(body).header.message_id)).size).toBe(1)
  expect(answers).toHaveLength(2)

  const criteria = { ...TYPES.civil, filter_type: 'idtype-value', filter: { type: 'UIN', value: uin } }
  await asked('subscribe', subscribeFor(peer, [criteria]))
  expect(await states()).toMatchObject({ subscribe: 'passed', notification: 'missing' })
  await notified()
  const { passed, steps } = await check()
  expect([passed, steps.at(-1)]).toMatchObject([false, { name: 'unsubscribe', state: 'missing' }])
  expect(await refused(promote())).toContain('missing: unsubscribe;')

  const [subscription] = await listSubscriptions({ db }, { participant: sender_id })
  await asked('unsubscribe', unsubscribeFor(peer, [subscription?.code]))
  const report = await check()
  expect(report).toMatchObject({ passed: true, version: packageJson.version, namespace: 'civil-test' })
  expect(JSON.stringify(report)).not.toContain(uin)
  expect((await showParticipant({ db, limits }, { sender_id })).checks).toMatchObject([
    { passed: true, since, version: packageJson.version },
  ])
})

test('what is not granted is skipped, and what cannot be checked is refused', async () => {
  const narrow = await sealingPeer(server, 'narrow.example', { settings: { environment: 'sandbox' } })
  const of = { sender_id: narrow.sender_id }
  await setGrant(acting({ db }), { ...of, namespace: 'civil-test', terms: { ...EVERYTHING, operations: ['search'] } })
  const skipped = (await check(of)).steps.filter(({ state }) => state === 'skipped')
  expect(skipped.map(({ name }) => name)).toEqual(['callback', 'retry', 'subscribe', 'notification', 'unsubscribe'])
  expect(await refused(check({ namespace: 'civil' }))).toBe(
    'the registry civil is live; a participant is checked in a sandbox registry',
  )
  await server.participant('old.example')
  expect(await refused(check({ sender_id: 'old.example' }))).toBe('old.example is live; only a sandbox participant is checked')
  await changeParticipantPolicy(acting({ db, vault }), { ...of, signature_policy: 'off', allow_unsigned: true })
  expect(await refused(check(of))).toBe(
    'the messages of narrow.example need not be signed; run rollcall participant policy narrow.example --signature required first',
  )
})

test('a promotion needs new keys, and a report that is not too old', async () => {
  expect(await refused(promote({ keys: undefined, kid: undefined }))).toBe(
    'keys: a live key for signatures is needed, or jwks_uri',
  )
  const [used] = await listedKeys()
  expect(await refused(promote({ keys: JSON.stringify(used) }))).toBe(
    'the key live-1 was used in the sandbox; make a new key for the live system',
  )
  const later = new Date(Date.now() + 31 * 86_400_000)
  expect(await refused(promoteParticipant(acting({ ...deps, now: () => later }), { sender_id, keys: live.pem }))).toMatch(
    /^the last check that new\.example passed is of .*, which is too old; run rollcall participant check/,
  )
  expect((await showParticipant({ db, limits }, { sender_id })).environment).toBe('sandbox')
})

async function listedKeys() {
  const { rows } = await db.pool.query<{ public_jwk: object }>(
    `select public_jwk from participant_key join participant on participant.id = participant where sender_id = $1`,
    [sender_id],
  )
  return rows.map(({ public_jwk }) => public_jwk)
}

test('keys that were only published in the sandbox are refused for ever, too', async () => {
  const published = keyPair('Ed25519')
  const address = await keySetServer()
  address.publish({ keys: [{ ...published.jwk, kid: 'published-1', use: 'sig' }] })
  server.closing(address)
  const jwks_uri = address.owner(1).jwks_uri ?? ''
  await changeParticipantPolicy(acting({ db, vault }), { sender_id, jwks_uri })
  expect(await refused(promote({ jwks_uri }))).toBe(
    'jwks_uri: is that of the sandbox; live keys are published at another address',
  )
  expect(await refused(promote({ keys: JSON.stringify(published.jwk) }))).toBe(
    'the key live-1 was used in the sandbox; make a new key for the live system',
  )
  address.publish((_request, response) => response.writeHead(404).end())
  expect(await refused(promote())).toMatch(/^the key set of the sandbox cannot be read at its jwks_uri/)
  address.publish({ keys: [{ ...published.jwk, kid: 'published-1', use: 'sig' }] })
})

test('a promoted participant has nothing of the sandbox any more', async () => {
  const before = { ...peer }
  const { client_secret: former } = await rotateParticipantSecret(acting({ db }), { sender_id })
  const { partnerSessions } = server.context
  const ofSandbox = await partnerSessions.begin({ participant: peer.id })
  expect(await partnerSessions.sessionOf(ofSandbox?.cookie ?? '', true)).toMatchObject({ owner: sender_id })
  const promoted = await promote()
  expect(await partnerSessions.sessionOf(ofSandbox?.cookie ?? '', true)).toBe(null)
  expect(promoted).toMatchObject({ sender_id, environment: 'live' })
  await setGrant(acting({ db }), { sender_id, namespace: 'civil', terms: EVERYTHING })
  server.clock.pass(1_000)

  const tokenFor = (client_secret: string) =>
    post(`${server.url}/oauth2/client/token`, { grant_type: 'client_credentials', client_id: promoted.client_id, client_secret })
  for (const secret of [peer.secret, former]) {
    expect((await tokenFor(secret)).body.error).toBe('invalid_client')
  }
  for (const namespace of ['civil', 'civil-test']) {
    const answer = await sendAs(server, before, signedBody(before, searchBy(before)), namespace)
    expectFault(
      answer,
      401,
      'err.request.unauthorized',
      'Authorization: the access token is not valid here or has expired; ask for a new one',
    )
  }
  const { access_token: token } = (await tokenFor(promoted.client_secret)).body
  const current: Peer = { ...peer, token, signer: { kid: 'live-1', algorithm: 'EdDSA', privateJwk: live.privateJwk } }
  for (const signer of [peer.signer, { ...peer.signer, kid: 'live-1' }]) {
    const answer = await sendAs(server, current, signedBody({ ...current, signer }, searchBy(current)))
    expect([answer.status, answer.body.message.error.code]).toEqual([401, 'err.signature.invalid'])
  }
  const answered = await sendAs(server, current, signedBody(current, searchBy(current)))
  expect(answered.status).toBe(200)
  const elsewhere = await post(
    `${server.url}/civil-test/v1.0.0/registry/sync/search`,
    signedBody(current, searchBy(current)),
    bearer(current),
  )
  expect([elsewhere.status, elsewhere.body.message.error.code]).toEqual([403, 'err.request.forbidden'])

  expect((await listGrants({ db }, { sender_id })).map(({ namespace }) => namespace)).toEqual(['civil'])
  const { rows } = await db.pool.query(
    `select default_url from participant_callback join participant on participant.id = participant where sender_id = $1`,
    [sender_id],
  )
  expect(rows).toEqual([])
  expect(await refused(promote())).toBe('new.example is live already')
  const old = peer.signer.privateJwk
  expect(
    await refused(
      addParticipantKeys(acting({ db }), { sender_id, keys: JSON.stringify({ kty: old.kty, crv: old.crv, x: old.x }) }),
    ),
  ).toBe('this key was revoked, and a revoked key cannot be registered again; make a new key')
})
