/** Withdrawals: they stop queries, stored answers, and answers on their way, and say so in a signed receipt. */

import { removeConsentAuthority } from '@rollcall/admin/consents/authorities'
import { reinstateConsent, revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { addOperator } from '@rollcall/admin/operators/operators'
import { mergeRecords } from '@rollcall/admin/records/merge'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { compactVerify, importJWK } from 'jose'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { consentAuthority } from '../../../../admin/test/consents.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { accepted, answerExchange, asyncPeer, callbacksTo, deliverAll, searchFor } from '../../asynchronous.ts'
import { answering } from '../../deliveries.ts'
import { answerOf, postSearch, testServer } from '../../server.ts'
import { askStatus } from '../../txn-status.ts'

const server = await testServer()
afterAll(() => server.close())
const person = (uin: string) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  name: { surname: 'Obi' },
})
const UINS = Array.from({ length: 24 }, (_, index) => String(index + 1))
await server.registry('civil', UINS.map(person))
const peer = await asyncPeer(server, 'spmis.demo')
const other = await asyncPeer(server, 'other.demo')
const authority = await consentAuthority(server.database)
const deps = { db: server.database.db, vault: server.context.vault }
const TERMS: Partial<GrantTerms> = {
  operations: ['search', 'txn-status'],
  query_forms: ['identifier'],
  see: ['identifier', 'name'],
  basis: 'consent',
  purposes: ['eligibility', 'appeal'],
}
for (const { sender_id } of [peer, other]) await grant(server.database, sender_id, 'civil', TERMS)
server.clock.pass(1_000)

/** Each test has a person of its own. */
let uin = '0'
beforeEach(() => {
  uin = String(Number(uin) + 1)
})
const by = (type: string, value: string) => ({ query_type: 'idtype-value', query: { type, value } })
const asserted = (code = 'eligibility') => ({ consent: { ts: new Date().toISOString(), purpose: { code } } })
const signed = async (claims: object = {}) => {
  const subject = { identifier_type: 'UIN', identifier_value: uin }
  return { authorize: { consent_jws: await authority.sign({ subject, ...claims }) } }
}
const item = async (criteria: object, sender = peer) =>
  (await postSearch(server, sender, [{ search_criteria: criteria }])).body.message.search_response[0]
const found = async (criteria: object, sender = peer): Promise<number> => {
  const { status, status_reason_message, data, pagination } = await item(criteria, sender)
  expect({ status, status_reason_message }).toEqual({ status: 'succ' })
  expect(pagination.total_count).toBe(data.reg_records.length)
  return data.reg_records.length
}
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: Error) => error.message,
  )
const ofPerson = (more: object = {}) => ({ identifier_type: 'UIN', identifier_value: uin, purpose: 'eligibility', ...more })

describe('a withdrawal', () => {
  it('of a signed consent stops it, and no other', async () => {
    const consent = await signed({ jti: 'one' })
    expect(await found({ ...by('UIN', uin), ...consent })).toBe(1)
    const receipt = await withdrawConsent(acting(deps), { authority: authority.name, jti: 'one' })
    expect(receipt.stopped).toEqual({ subscriptions: [], notifications: 0, deliveries: 0, in_flight: 0 })
    expect(await found({ ...by('UIN', uin), ...consent })).toBe(0)
    expect(await found({ ...by('UIN', uin), ...(await signed()) })).toBe(1)
    expect(await found({ ...by('UIN', uin), ...asserted() })).toBe(1)
  })

  it('of a list stops those that were never used', async () => {
    await revokeConsents(acting(deps), { authority: authority.name, revoked: ['two', 'three', 'two'] })
    for (const jti of ['two', 'three']) {
      expect(await found({ ...by('UIN', uin), ...(await signed({ jti })) })).toBe(0)
    }
  })

  it('by a person stops every consent of before, by whichever identifier is asked', async () => {
    const consent = await signed({ iat: Math.floor(Date.now() / 1_000) - 60 })
    await withdrawConsent(acting(deps), ofPerson())
    expect(await found({ ...by('UIN', uin), ...consent })).toBe(0)
    expect(await found({ ...by('UIN', uin), ...asserted() })).toBe(0)
    expect(await found({ ...by('BRN', `B-${uin}`), ...asserted() }, other)).toBe(0)
    // Another purpose, and what is signed afterwards, are other consents.
    expect(await found({ ...by('UIN', uin), ...asserted('appeal') })).toBe(1)
    expect(await found({ ...by('UIN', uin), ...(await signed({ iat: Math.floor(Date.now() / 1_000) + 30 })) })).toBe(1)
    expect(await reinstateConsent(acting(deps), ofPerson())).toEqual({ reinstated: 1 })
    expect(await found({ ...by('UIN', uin), ...asserted() })).toBe(1)
    expect(await refused(reinstateConsent(acting(deps), ofPerson()))).toBe('purpose: nothing is withdrawn for it by this person')
  })

  it('follows a merge of records: one of before it, and one by the retired identifier', async () => {
    const merge = (survivor: string, retired: string) =>
      mergeRecords(acting(server.context), {
        namespace: 'civil',
        survivor: { identifier_type: 'UIN', identifier_value: survivor },
        retired: { identifier_type: 'UIN', identifier_value: retired },
      })
    await withdrawConsent(acting(deps), ofPerson({ identifier_value: '22' }))
    await merge('21', '22')
    expect(await found({ ...by('UIN', '21'), ...asserted() })).toBe(0)
    await merge('23', '24')
    expect(await found({ ...by('UIN', '23'), ...asserted() })).toBe(1)
    await withdrawConsent(acting(deps), ofPerson({ identifier_value: '24' }))
    expect(await found({ ...by('UIN', '23'), ...asserted() })).toBe(0)
  })

  it('from one participant leaves the others', async () => {
    await withdrawConsent(acting(deps), ofPerson({ participant: peer.sender_id }))
    expect(await found({ ...by('UIN', uin), ...asserted() })).toBe(0)
    expect(await found({ ...by('UIN', uin), ...asserted() }, other)).toBe(1)
  })

  it('stops answers that wait for their next attempt, and stored ones', async () => {
    const ask = async (criteria: object) => {
      peer.receiver.answer = answering(503)
      const id = await accepted(server, peer, searchFor(peer, [{ search_criteria: criteria }]))
      await answerExchange(server, id)
      await deliverAll(server)
      return id
    }
    const stopping = await ask({ ...by('UIN', uin), ...asserted() })
    const consent = await signed({ jti: 'late' })
    const expiring = await ask({ ...by('UIN', uin), ...consent })
    const staying = await ask({ ...by('UIN', '20'), ...asserted() })
    const records = async (id: string) => JSON.stringify(await askStatus(server, peer, 'correlation_id', id)).includes('Obi')
    expect(await records(stopping)).toBe(true)
    const { stopped } = await withdrawConsent(acting(deps), ofPerson())
    expect(stopped).toMatchObject({ deliveries: 2, in_flight: 0 })
    const { rows } = await server.database.db.pool.query(
      'select correlation_id, state, reason from delivery where correlation_id = any($1)',
      [[stopping, expiring, staying]],
    )
    expect(rows.filter(({ state, reason }) => state === 'dead' && reason === 'not_permitted')).toHaveLength(2)
    expect(rows.find(({ correlation_id }) => correlation_id === staying)).toMatchObject({ state: 'pending' })
    expect([await records(stopping), await records(expiring), await records(staying)]).toEqual([false, false, true])
    peer.receiver.answer = answering(200)
    const before = callbacksTo(peer.receiver).length
    await server.database.db.pool.query("update delivery set next_attempt_at = now() where state = 'pending'")
    await deliverAll(server)
    const later = callbacksTo(peer.receiver)
      .slice(before)
      .map(({ envelope }) => envelope.message.correlation_id)
    expect(later).toEqual([staying])
  })

  it('is found before an answer is made, and before each attempt to send it', async () => {
    const id = await accepted(server, peer, searchFor(peer, [{ search_criteria: { ...by('UIN', uin), ...asserted() } }]))
    await withdrawConsent(acting(deps), ofPerson())
    await answerExchange(server, id)
    await deliverAll(server)
    const reply = callbacksTo(peer.receiver).find(({ envelope }) => envelope.message.correlation_id === id)
    expect(reply?.envelope.message.search_response[0]).toMatchObject({
      status: 'succ',
      data: { reg_records: [] },
      pagination: { total_count: 0 },
    })
  })

  it('is found also where it comes while the answer is made', async () => {
    const { consents } = server.context
    const spied = (times: number) => {
      const isEnded = consents.isEnded.bind(consents)
      let asked = 0
      return vi.spyOn(consents, 'isEnded').mockImplementation(async (use) => {
        const ended = await isEnded(use)
        asked += 1
        if (asked === times) await withdrawConsent(acting(deps), ofPerson())
        return ended
      })
    }
    const counted = vi.spyOn(server.context.metrics, 'itemAnswered')
    // The second time is that of the record which was found: nothing asks again before the answer is whole.
    const sync = spied(2)
    expect(await found({ ...by('UIN', uin), ...asserted() }).finally(() => sync.mockRestore())).toBe(0)
    // The item was answered twice, and counted once.
    expect(counted).toHaveBeenCalledTimes(1)
    counted.mockRestore()
    await reinstateConsent(acting(deps), ofPerson())
    const criteria = { ...by('UIN', uin), ...asserted() }
    const id = await accepted(server, peer, searchFor(peer, [{ search_criteria: criteria }]))
    const async = spied(2)
    await answerExchange(server, id).finally(() => async.mockRestore())
    await deliverAll(server)
    const replies = callbacksTo(peer.receiver).filter(({ envelope }) => envelope.message.correlation_id === id)
    expect(replies.map(({ envelope }) => envelope.message.search_response[0].data.reg_records)).toEqual([[]])
  })

  it('has a receipt that says what was stopped, signed with our own key, and stores no identifier', async () => {
    const { receipt, stopped } = await withdrawConsent(acting(deps), ofPerson({ purpose: 'appeal' }))
    const { keys } = await server.context.keys.jwks()
    const [key] = keys
    const { payload, protectedHeader } = await compactVerify(receipt, await importJWK(key ?? {}, 'EdDSA'))
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'consent-receipt+jwt', kid: key?.kid })
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      iss: 'rollcall',
      iat: expect.any(Number),
      stopped,
      withdrawn: { subject: { identifier_type: 'UIN', identifier_value: uin }, purpose: 'appeal', participant: null },
    })
    const { rows } = await server.database.db.pool.query('select * from consent_withdrawal')
    expect(rows.length).toBeGreaterThan(0)
    expect(JSON.stringify(rows)).not.toContain(`"${uin}"`)
  })

  it.each<[string, object, string]>([
    ['nothing', {}, 'give authority and jti, or identifier_type, identifier_value and purpose'],
    ['a jti alone', { jti: 'x' }, 'give authority and jti, or identifier_type, identifier_value and purpose'],
    [
      'both',
      { authority: 'a', jti: 'x', purpose: 'eligibility' },
      'give authority and jti, or identifier_type, identifier_value and purpose',
    ],
    ['an unknown authority', { authority: 'a', jti: 'x' }, 'authority: no such consent authority is registered'],
    [
      'an unknown type of identifier',
      { identifier_type: 'SHOE', identifier_value: '1', purpose: 'eligibility' },
      'identifier_type: no registry has identifiers of this type and form',
    ],
    ['an empty jti', { authority: authority.name, jti: '' }, 'jti: must have 1 to 200 characters'],
  ])('of %s is refused', async (_, input, message) => {
    expect(await refused(withdrawConsent(acting(deps), input))).toBe(message)
  })
})

it('operators withdraw over HTTP with the role consent, and with no other', async () => {
  const tokens = { db: server.database.db }
  const { token } = await addOperator(acting(tokens), { name: 'authority', roles: ['consent'] })
  const { token: reader } = await addOperator(acting(tokens), { name: 'reader', roles: ['read', 'publish', 'audit'] })
  const post = async (path: string, body: object, as: string) =>
    fetch(`${server.adminUrl}/admin/v1/consents/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const consent = await signed({ jti: 'http' })
  expect(await found({ ...by('UIN', uin), ...consent })).toBe(1)
  const revoked = { authority: authority.name, revoked: ['http', 'other'] }
  expect((await post('revoke', revoked, reader)).status).toBe(403)
  expect((await post('withdraw', ofPerson(), reader)).status).toBe(403)
  expect(await found({ ...by('UIN', uin), ...consent })).toBe(1)
  const many = Array.from({ length: 10_000 }, (_, index) => `many-${index}`)
  expect((await post('revoke', { ...revoked, revoked: many }, token)).status).toBe(200)
  const tooMany = await post('revoke', { ...revoked, revoked: [...many, 'one more'] }, token)
  expect([tooMany.status, await tooMany.text()]).toEqual([
    400,
    expect.stringContaining('"revoked: must have at most 10000 elements"'),
  ])
  const answer = await post('revoke', revoked, token)
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      at: expect.any(String),
      stopped: { subscriptions: [], notifications: 0, deliveries: 0, in_flight: 0 },
      receipt: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    },
  ])
  expect(await found({ ...by('UIN', uin), ...consent })).toBe(0)
  expect((await post('withdraw', ofPerson(), token)).status).toBe(200)
  expect(await found({ ...by('UIN', uin), ...asserted() })).toBe(0)
  expect((await post('withdraw', { authority: 'https://nobody.example', jti: 'x' }, token)).status).toBe(404)
})

it('a token that is bound to an authority withdraws the consents of that one alone', async () => {
  const theirs = await consentAuthority(server.database, 'https://second.example')
  const given = { name: 'second', roles: ['consent'], authority: theirs.name } as const
  const { token } = await addOperator(acting({ db: server.database.db }), given)
  const post = async (path: string, body: object) => {
    const response = await fetch(`${server.adminUrl}/admin/v1/consents/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { status, body: got } = await answerOf(response)
    return [status, got.errors?.[0].code, got.errors?.[0].message]
  }
  const subject = { identifier_type: 'UIN', identifier_value: uin }
  const own = { authorize: { consent_jws: await theirs.sign({ jti: 'bound', subject }) } }
  const others = await signed({ jti: 'bound' })
  const refusedBody = [
    ...[403, 'err.request.forbidden'],
    'the token is bound to one consent authority, which the call must name in authority',
  ]
  expect(await post('withdraw', { authority: authority.name, jti: 'bound' })).toEqual(refusedBody)
  expect(await post('withdraw', ofPerson())).toEqual(refusedBody)
  expect(await post('withdraw', { ...ofPerson(), authority: [theirs.name] })).toEqual(refusedBody)
  expect(await post('revoke', { authority: authority.name, revoked: ['bound'] })).toEqual(refusedBody)
  expect(await post('revoke', { authority: 'https://nobody.example', revoked: ['x'] })).toEqual(refusedBody)
  expect(await found({ ...by('UIN', uin), ...own })).toBe(1)
  expect(await post('withdraw', { authority: theirs.name, jti: 'bound' })).toEqual([200, undefined, undefined])
  expect(await post('revoke', { authority: theirs.name, revoked: ['more'] })).toEqual([200, undefined, undefined])
  expect(await found({ ...by('UIN', uin), ...own })).toBe(0)
  expect(await found({ ...by('UIN', uin), ...others })).toBe(1)
})

it('what was answered under a consent that the grant does not take any more is neither sent nor given again', async () => {
  peer.receiver.answer = answering(503)
  const criteria = { ...by('UIN', uin), ...asserted() }
  const id = await accepted(server, peer, searchFor(peer, [{ search_criteria: criteria }]))
  await answerExchange(server, id)
  await deliverAll(server)
  const shows = async () => JSON.stringify(await askStatus(server, peer, 'correlation_id', id)).includes('Obi')
  expect(await shows()).toBe(true)
  await grant(server.database, peer.sender_id, 'civil', { ...TERMS, consent: 'signed' })
  server.clock.pass(1_000)
  expect(await shows()).toBe(false)
  peer.receiver.answer = answering(200)
  await server.database.db.pool.query('update delivery set next_attempt_at = now() where correlation_id = $1', [id])
  await deliverAll(server)
  const { rows } = await server.database.db.pool.query('select state, reason from delivery where correlation_id = $1', [id])
  expect(rows).toEqual([{ state: 'dead', reason: 'not_permitted' }])
  await grant(server.database, peer.sender_id, 'civil', TERMS)
  server.clock.pass(1_000)
})

it('consents of an authority that is removed do not count, nor what it had revoked when it is there again', async () => {
  const gone = await consentAuthority(server.database, 'https://gone.example')
  const consent = async (jti: string) => ({
    authorize: { consent_jws: await gone.sign({ jti, subject: { identifier_type: 'UIN', identifier_value: uin } }) },
  })
  expect(await found({ ...by('UIN', uin), ...(await consent('a')) })).toBe(1)
  await withdrawConsent(acting(deps), { authority: gone.name, jti: 'b' })
  expect(await removeConsentAuthority(acting(deps), { name: gone.name })).toMatchObject({ name: gone.name, unfinished: false })
  server.clock.pass(1_000)
  expect(await item({ ...by('UIN', uin), ...(await consent('a')) })).toMatchObject({
    status: 'rjct',
    status_reason_message: 'search_criteria.authorize.consent_jws: iss: must be a registered consent authority',
  })
  const again = await consentAuthority(server.database, 'https://gone.example')
  server.clock.pass(1_000)
  const jws = (jti: string) => again.sign({ jti, subject: { identifier_type: 'UIN', identifier_value: uin } })
  expect(await found({ ...by('UIN', uin), authorize: { consent_jws: await jws('c') } })).toBe(1)
  expect(await found({ ...by('UIN', uin), authorize: { consent_jws: await jws('b') } })).toBe(0)
  expect(await refused(removeConsentAuthority(acting(deps), { name: 'https://nobody.example' }))).toBe(
    'name: no such consent authority is registered',
  )
})
