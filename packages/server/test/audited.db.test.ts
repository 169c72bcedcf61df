/**
 * Every operation and every road by which a record leaves: for each record there is an audit entry with its person, and with
 * exactly the attribute paths that stand in the message.
 */
import { hash } from 'node:crypto'
import { decryptConfidentialDetails } from '@rollcall/audit/confidential'
import { loadAuditKeys } from '@rollcall/audit/keys'
import { OPERATIONS, operation } from '@rollcall/protocol'
import { describe, expect, it, vi } from 'vitest'
import { grant } from '../../participants/test/grants.ts'
import { type LoggedEntry, storedEntries } from '../../settings/test/audit-log.ts'
import { accepted, answerExchange, byExpression, byIdentifier, deliverAll, searchFor } from './asynchronous.ts'
import { auditedServer, both, person, recordsIn } from './audited.ts'
import { answering } from './deliveries.ts'
import { beneficiary as updated, updatesMessage } from './enrolment-updates.ts'
import { eventRows } from './notifications.ts'
import { askingOf } from './person-questions.ts'
import { sealingPeer, searchBy, signedBody } from './sealing.ts'
import { bearer } from './server.ts'
import { about, codeOf, subscribeFor, unsubscribeFor } from './subscribing.ts'
import { question } from './txn-status.ts'

const { server, civil, peer, send, received, auditEntriesOf, expectAudited, drain } = await auditedServer()
const { pool } = server.database.db

const covered = new Set<string>()

describe('a synchronous answer', () => {
  it('has the digest of the answer, and of a cut record the person whom it does not name', async () => {
    covered.add('search')
    await grant(server.database, peer.sender_id, 'civil', { see: ['name'], basis: 'law' })
    server.clock.pass(1_000)
    const { search_criteria } = byIdentifier('UIN', 'P2')
    const request = searchFor(peer, [{ search_criteria }, byIdentifier('UIN', 'NOBODY')])
    const sent = await send('civil', 'registry/sync/search', request)
    const { entry } = await expectAudited(
      sent,
      { seen: both('P2'), asked: ['UIN NOBODY'] },
      {
        kind: 'answer',
        registry: 'civil',
        operation: 'search',
        transaction_id: 'tx-1',
        basis: 'law',
        correlation_id: sent.message.correlation_id,
        outcomes: { succ: 2 },
        asked: { record_types: ['Person'], forms: ['identifier'], attributes: [] },
      },
    )
    expect(entry.shown).toEqual({ Person: ['name.given_name', 'name.surname'] })
    expect(entry.reply).toMatchObject({ digest: sent.digest, kid: expect.any(String) })
    expect(entry.request).toEqual({
      message_id: request.header.message_id,
      digest: hash('sha256', JSON.stringify(request)),
      kid: null,
      signature: null,
    })
    await grant(server.database, peer.sender_id, 'civil', {})
    server.clock.pass(1_000)
  })

  it('names what was asked by name, and never a value', async () => {
    const query = { $and: [{ sex: { $eq: 'F' } }, { birth_date: { $ge: '1990-01-01' } }] }
    const sent = await send('civil', 'registry/sync/search', searchFor(peer, [byExpression(query)]))
    const { entry } = await expectAudited(sent, { seen: both('P2') })
    expect(entry.asked).toEqual({ record_types: ['Person'], forms: ['expression'], attributes: ['birth_date', 'sex'] })
  })

  it('has the members of a household only where they are shown', async () => {
    const members = ['HOUSEHOLD_ID H1', 'UIN M1', 'UIN M2']
    const ask = async () =>
      send('social', 'registry/sync/search', searchFor(peer, [byIdentifier('HOUSEHOLD_ID', 'H1', { reg_record_type: 'Group' })]))
    await expectAudited(await ask(), { seen: members })
    await grant(server.database, peer.sender_id, 'social', { see: ['group_size', 'sex'] })
    server.clock.pass(1_000)
    await expectAudited(await ask(), { seen: ['HOUSEHOLD_ID H1'] })
  })

  it('has the signature of both messages', async () => {
    const signer = await sealingPeer(server, 'signing.example')
    const body = signedBody(signer, searchBy(signer, {}, { type: 'UIN', value: 'P1' }))
    const sent = await send('civil', 'registry/sync/search', body, signer)
    const [logged] = await auditEntriesOf(sent)
    const { signature } = JSON.parse(body)
    expect(logged?.entry.request).toMatchObject({ kid: 'sig-1', signature, digest: hash('sha256', body) })
    expect(logged?.entry.reply).toMatchObject({ signature: (sent as never as { signature: string }).signature })
  })

  it('to a rejected item has what was asked, and the code', async () => {
    await grant(server.database, peer.sender_id, 'civil', { ask: [] })
    server.clock.pass(1_000)
    const sent = await send(
      ...(['civil', 'registry/sync/search', searchFor(peer, [byExpression({ UIN: { $ne: 'P1' } })])] as const),
    )
    await expectAudited(sent, { asked: ['UIN P1'] }, { outcomes: { 'rjct.search_criteria.invalid': 1 }, records: 0, shown: {} })
    await grant(server.database, peer.sender_id, 'civil', {})
    server.clock.pass(1_000)
  })
})

describe('who asks, where the grant demands it', () => {
  const BY = 'officer-4711'
  const CASE = 'case-2026-17'
  const rule = 'is required of this participant: a text of 1 to 255 characters'
  const post = async (meta: object) => {
    const body = searchFor(peer, [byIdentifier('UIN', 'P1')], { header: { meta } })
    const response = await fetch(`${server.url}/civil/v1.0.0/registry/sync/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(peer) },
      body: JSON.stringify(body),
    })
    const { message } = (await response.json()) as { message: { error?: object } }
    return { status: response.status, error: message.error }
  }

  it.each([
    ['requested_by', {}],
    ['requested_by', { requested_by: '', case: CASE }],
    ['requested_by', { requested_by: 7, case: CASE }],
    ['case', { requested_by: BY }],
    ['case', { requested_by: BY, case: 'x'.repeat(256) }],
  ])('is refused without %s: %j', async (member, meta) => {
    await grant(server.database, peer.sender_id, 'civil', { demands: ['requested_by', 'case'] })
    server.clock.pass(1_000)
    expect(await post(meta)).toEqual({
      status: 400,
      error: { code: 'err.request.bad', message: `header.meta.${member}: ${rule}` },
    })
  })

  it('is in the audit entry, encrypted, and in no log', async () => {
    await grant(server.database, peer.sender_id, 'civil', { demands: ['requested_by', 'case'] })
    server.clock.pass(1_000)
    expect(await post({ requested_by: BY, case: CASE })).toMatchObject({ status: 200 })
    const { chain, sequence, entry } = (await storedEntries(server.database.db)).at(-1) as LoggedEntry
    const keys = await loadAuditKeys(server.database.db, await server.context.vault())
    expect(decryptConfidentialDetails(keys.confidential, { chain, sequence }, entry.sealed ?? '')).toEqual({
      requested_by: BY,
      case: CASE,
    })
    const entries = await storedEntries(server.database.db)
    for (const text of [JSON.stringify(entries), server.logged()]) expect(text).not.toMatch(`${BY}|${CASE}`)
    await grant(server.database, peer.sender_id, 'civil', {})
    server.clock.pass(1_000)
  })
})

it('a household tells something of the member by whose identifier it was found', async () => {
  await grant(server.database, peer.sender_id, 'social', { see: ['group_size'] })
  server.clock.pass(1_000)
  const Group = { reg_record_type: 'Group' }
  const search = searchFor(peer, [byIdentifier('UIN', 'M1', Group), byIdentifier('UIN', 'NOBODY', Group)])
  const parse = vi.spyOn(JSON, 'parse')
  const sent = await send('social', 'registry/sync/search', search)
  const parsed = parse.mock.calls.filter(([text]) => text.includes('"member_list"') && text.startsWith('{'))
  parse.mockRestore()
  expect(parsed).toHaveLength(1)
  const seen = ['HOUSEHOLD_ID H1', 'UIN M1']
  await expectAudited(sent, { seen, asked: ['UIN NOBODY'] }, { outcomes: { succ: 2 } })
  await grant(server.database, peer.sender_id, 'social', {})
  server.clock.pass(1_000)
})

describe('questions about one person', () => {
  const about = (uin: string, member: string) => ({ query_type: 'expression', query: { [member]: { eq: uin } } })
  it.each([
    [
      'enrolled',
      'ibr',
      'enrolled_criteria',
      about('E1', 'person_identifier'),
      { seen: ['UIN E1'], told: { Beneficiary: ['enrolment'] } },
    ],
    [
      'enrolment-status',
      'ess',
      'enrolled_criteria',
      about('S1', 'person_identifier'),
      { seen: ['UIN S1'], told: { Member: ['enrolment_status'] } },
    ],
    [
      'disabled',
      'disability',
      'disabled_criteria',
      about('D1', 'personal_details.member_identifier'),
      { seen: ['UIN D1'], told: { DisabledPerson: ['disability_status'] } },
    ],
    [
      'disability-details',
      'disability',
      'disabled_criteria',
      about('D1', 'personal_details.member_identifier'),
      { seen: ['UIN D1'] },
    ],
    [
      'disability-support',
      'disability',
      'disabled_criteria',
      about('D1', 'personal_details.member_identifier'),
      { seen: ['UIN D1'] },
    ],
    [
      'disabled',
      'disability',
      'disabled_criteria',
      about('NOBODY', 'personal_details.member_identifier'),
      { asked: ['UIN NOBODY', '* NOBODY'] },
    ],
  ])('%s', async (name, namespace, member, criteria, expected) => {
    covered.add(name)
    const { sync_paths, action } = operation(name)
    const sent = await send(namespace, sync_paths[0] ?? '', askingOf(peer, action, { [member]: criteria }))
    expect(sent.header.status).toBe('succ')
    await expectAudited(sent, expected, { operation: name, outcomes: { succ: 1 } })
  })
})

it('an enrolment update has those who were written, and those who were rejected', async () => {
  covered.add('enrolment-updates')
  const message = updatesMessage(peer, [updated('W1'), { member: {} }])
  const sent = await send('ibr', 'registry/enrollments/updates', message)
  await expectAudited(sent, { written: ['UIN W1'] }, { outcomes: { succ: 1, rjct: 1 } })
})

describe('what is answered later', () => {
  it('has an audit entry for each page, for a status question that gives it again, and none more for a repeated attempt', async () => {
    covered.add('txn-status')
    const from = received(0).length
    const search = searchFor(peer, [byExpression({ sex: { $eq: 'F' } }, { pagination: { page_size: 1, page_number: 1 } })])
    const correlation_id = await accepted(server, peer, search)
    const [ack] = (await storedEntries(server.database.db)).filter(({ entry }) => entry.correlation_id === correlation_id)
    expect(ack?.entry).toMatchObject({
      kind: 'acknowledgement',
      operation: 'search',
      records: 0,
      request: { message_id: search.header.message_id },
    })
    peer.receiver.answer = answering(503)
    await answerExchange(server, correlation_id)
    await server.context.limiter.idle()
    peer.receiver.answer = answering(200)
    await pool.query('delete from breaker')
    await pool.query('update delivery set next_attempt_at = now()')
    server.clock.pass(1_000)
    await deliverAll(server)
    const pages = received(from).filter(({ message }) => message.correlation_id === correlation_id)
    // Each page came at least once, and some again.
    const names = [...new Set(pages.map(({ header }) => header.message_id))]
    expect(names).toHaveLength(3)
    expect(pages.length).toBeGreaterThan(3)
    const persons: Record<string, readonly string[]> = { P1: both('P1'), P2: both('P2'), P3: [...both('P3'), 'UIN P2'] }
    for (const page of pages) {
      const [found] = recordsIn(page.message)
      const record = found?.record as { name: { given_name: string } }
      await expectAudited(page, { seen: persons[record.name.given_name] ?? [] }, { kind: 'callback', correlation_id })
    }

    const asked = question(peer, 'correlation_id', correlation_id)
    const again = await send('civil', 'registry/sync/txn/status', asked)
    expect(recordsIn(again.message)).toHaveLength(1)
    const [logged] = await auditEntriesOf(again)
    expect(logged?.entry).toMatchObject({ kind: 'answer', operation: 'txn-status', repeats: [correlation_id], records: 1 })
    await expectAudited(again, { seen: [...new Set(Object.values(persons).flat())] })

    const later = await accepted(server, peer, question(peer, 'correlation_id', correlation_id), 'txn/status')
    await answerExchange(server, later)
    await deliverAll(server)
    const sent = received(from).find(({ message }) => message.correlation_id === later)
    if (sent === undefined) throw new Error('the question was not answered')
    await expectAudited(
      sent,
      { seen: [...new Set(Object.values(persons).flat())] },
      { kind: 'callback', repeats: [correlation_id] },
    )
  })

  it('a subscription has whom it is about, and its end has an audit entry', async () => {
    covered.add('subscribe').add('unsubscribe')
    const from = received(0).length
    for (const [name, body] of [
      ['subscribe', subscribeFor(peer, [about('P1')])],
      ['unsubscribe', unsubscribeFor(peer, [await codeOf(server, peer, about('P2'))])],
    ] as const) {
      const id = await accepted(server, peer, body, name)
      await answerExchange(server, id)
      await deliverAll(server)
      const sent = received(from).find(({ message }) => message.correlation_id === id)
      if (sent === undefined) throw new Error('it was not answered')
      const asked = name === 'subscribe' ? ['UIN P1'] : []
      await expectAudited(sent, { asked }, { operation: name, outcomes: { succ: 1 } })
    }
  })
})

describe('a notification', () => {
  const rows = eventRows(server.database, civil)
  it('has the person of each record, and of the record that took its place', async () => {
    await grant(server.database, peer.sender_id, 'civil', { see: ['name', 'identifier'], unfiltered: true })
    server.clock.pass(1_000)
    const from = received(0).length
    const subscribed = await rows.subscribe(peer)
    await rows.notify(subscribed, await rows.event('P1', { document: person('P1') as never }))
    await drain(subscribed.mailbox)
    const sent = received(from).find(({ message }) => message.notify_event !== undefined)
    if (sent === undefined) throw new Error('no notification was sent')
    const logged = await expectAudited(sent, { seen: both('P1') }, { kind: 'notification', operation: 'notify' })
    expect(logged.entry.shown).toEqual({
      Person: [...['identifier.identifier_type', 'identifier.identifier_value', 'name.given_name', 'name.surname']],
    })
  })
})

it('every operation was tried', () => {
  expect([...covered].toSorted()).toEqual(OPERATIONS.map(({ name }) => name).toSorted())
})
it('no audit entry has an identifier, a name or a reference in clear', async () => {
  const rows = await storedEntries(server.database.db)
  for (const clear of ['"P1"', 'B-P1', 'Obi', 'NOBODY']) expect(JSON.stringify(rows)).not.toContain(clear)
  expect(rows.length).toBeGreaterThan(10)
})
