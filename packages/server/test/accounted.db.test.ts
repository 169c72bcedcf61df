/**
 * Every operation and every road by which a record leaves: for each record there is an account with its person, and with
 * exactly the attribute paths that stand in the message.
 */
import { hash } from 'node:crypto'
import { openDetails } from '@rollcall/audit/confidential'
import { loadAccountKeys } from '@rollcall/audit/keys'
import { pseudonymOf } from '@rollcall/audit/persons'
import { openDatabase } from '@rollcall/database/database'
import { isJsonObject, type JsonValue, OPERATIONS, operation } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { beneficiary, enrolment } from '../../core/test/beneficiaries.ts'
import { grant } from '../../participants/test/grants.ts'
import { type StoredAccount, storedAccounts } from '../../settings/test/accounts.ts'
import {
  accepted,
  answerExchange,
  asyncPeer,
  byExpression,
  byIdentifier,
  callbacksTo,
  deliverAll,
  searchFor,
} from './asynchronous.ts'
import { answering } from './deliveries.ts'
import { beneficiary as updated, updatesMessage } from './enrolment-updates.ts'
import { eventRows } from './notifications.ts'
import { askingOf } from './person-questions.ts'
import { sealingPeer, searchBy, signedBody } from './sealing.ts'
import { bearer, type TestParticipant, testServer } from './server.ts'
import { about, codeOf, subscribeFor, unsubscribeFor } from './subscribing.ts'
import { question } from './txn-status.ts'

const server = await testServer()
afterAll(() => server.close())
const { pool } = server.database.db

const person = (uin: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  name: { surname: 'Obi', given_name: uin },
  sex: 'F',
  ...more,
})
const civil = await server.registry('civil', [
  person('P1'),
  person('P2', { birth_date: '1990-05-05' }),
  person('P3', { parent1_identifier: { identifier_type: 'UIN', identifier_value: 'P2' } }),
])
await server.registry('social', [
  {
    '@type': 'Group',
    group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H1' }],
    group_size: 2,
    member_list: ['M1', 'M2'].map((uin) => ({
      '@type': 'Member',
      member_identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
      demographic_info: { '@type': 'Person', sex: 'F' },
    })),
  },
])
await server.registry('ibr', [beneficiary('E1', enrolment('PRG-7'))])
await server.registry('ess', [
  {
    '@type': 'spdci:member',
    member_identifier: [{ identifier_type: 'UIN', identifier_value: 'S1' }],
    enrolment_status: '1',
  },
])
await server.registry('disability', [
  {
    '@type': 'DisabledPerson',
    personal_details: { member_identifier: 'D1', name: { first_name: 'Tess' } },
    disability_details: [{ impairment_type: '1', impairment_level: '3' }, { impairment_cause: '2' }],
    disability_support: { human_assistance: { type: 'mobility' } },
  },
])
const peer = await asyncPeer(server, 'sp.example')

let pseudonym: (type: string, value: string) => string
beforeAll(async () => {
  const keys = await loadAccountKeys(server.database.db, await server.context.vault())
  pseudonym = (type, value) => pseudonymOf(keys.pseudonyms, { type, value }).toString('hex')
})

interface Sent {
  readonly header: { readonly message_id: string; readonly status: string }
  // biome-ignore lint/suspicious/noExplicitAny: what was sent is what the test is about
  readonly message: any
  readonly digest: string
}

const read = (text: string): Sent => ({ ...JSON.parse(text), digest: hash('sha256', text) })

async function send(namespace: string, path: string, body: object | string, by: TestParticipant = peer) {
  const response = await fetch(`${server.url}/${namespace}/v1.0.0/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(by) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return read(text)
}

/** What the receiver has got since. */
const received = (from: number): readonly Sent[] =>
  callbacksTo(peer.receiver)
    .slice(from)
    .map(({ envelope }) => ({ ...envelope, digest: '' }))

/** Every record in a message, with its record type as the message names it. */
function recordsIn(value: JsonValue): readonly { readonly type: string; readonly record: JsonValue }[] {
  if (Array.isArray(value)) return value.flatMap(recordsIn)
  if (!isJsonObject(value)) return []
  const { reg_records: records, reg_record_type: type } = value
  if (records === undefined) return Object.values(value).flatMap(recordsIn)
  return [records].flat().map((record) => ({ type: String(type), record }))
}

function pathsIn(value: JsonValue, path: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((element) => pathsIn(element, path))
  if (!isJsonObject(value)) return [path.join('.')]
  return Object.entries(value).flatMap(([name, one]) =>
    /^@(type|context)$/.test(name) ? [] : pathsIn(one, [...path, name]),
  )
}

async function accountsOf({ header: { message_id } }: Sent): Promise<readonly StoredAccount[]> {
  const all = await storedAccounts(server.database.db)
  return all.filter(({ entry }) => entry.reply?.message_id === message_id)
}

/** @param seen identifiers of the persons whose data is in the message */
async function expectAccounted(
  sent: Sent,
  expected: {
    readonly seen?: readonly string[]
    readonly asked?: readonly string[]
    readonly written?: readonly string[]
    /** What the answer tells of a record without showing it. */
    readonly told?: Readonly<Record<string, string[]>>
  },
  entry: object = {},
) {
  const [account, ...others] = await accountsOf(sent)
  if (account === undefined) throw new Error('what was sent is not accounted for')
  expect(others).toEqual([])
  const records = recordsIn(sent.message)
  const shown: Record<string, string[]> = { ...expected.told }
  for (const { type, record } of records) shown[type] = [...(shown[type] ?? []), ...pathsIn(record)]
  expect(account.entry).toMatchObject({ participant: peer.sender_id, records: records.length, ...entry })
  expect(account.entry.shown).toEqual(
    Object.fromEntries(Object.entries(shown).map(([type, paths]) => [type, [...new Set(paths)].toSorted()])),
  )
  const { repeats = [] } = account.entry
  const earlier = (await storedAccounts(server.database.db)).filter((other) =>
    repeats.includes(other.entry.correlation_id ?? ''),
  )
  const named = [account, ...earlier].flatMap(({ persons }) => persons)
  const found = (role: string): string[] => [
    ...new Set(named.flatMap((one) => (one.role === role ? [one.pseudonym] : []))),
  ]
  const wanted = (identifiers: readonly string[] = []): string[] =>
    identifiers.map((identifier) => pseudonym(...(identifier.split(' ') as [string, string])))
  for (const role of ['seen', 'asked', 'written'] as const)
    expect(found(role).toSorted(), role).toEqual(wanted(expected[role]).toSorted())
  return account
}

const both = (uin: string): string[] => [`UIN ${uin}`, `BRN B-${uin}`]
const covered = new Set<string>()

describe('a synchronous answer', () => {
  it('has the digest of the answer, and of a cut record the person whom it does not name', async () => {
    covered.add('search')
    await grant(server.database, peer.sender_id, 'civil', { see: ['name'], basis: 'law' })
    server.clock.pass(1_000)
    const { search_criteria } = byIdentifier('UIN', 'P2')
    const request = searchFor(peer, [{ search_criteria }, byIdentifier('UIN', 'NOBODY')])
    const sent = await send('civil', 'registry/sync/search', request)
    const { entry } = await expectAccounted(
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
    const { entry } = await expectAccounted(sent, { seen: both('P2') })
    expect(entry.asked).toEqual({ record_types: ['Person'], forms: ['expression'], attributes: ['birth_date', 'sex'] })
  })

  it('has the members of a household only where they are shown', async () => {
    const members = ['HOUSEHOLD_ID H1', 'UIN M1', 'UIN M2']
    const ask = async () =>
      send(
        'social',
        'registry/sync/search',
        searchFor(peer, [byIdentifier('HOUSEHOLD_ID', 'H1', { reg_record_type: 'Group' })]),
      )
    await expectAccounted(await ask(), { seen: members })
    await grant(server.database, peer.sender_id, 'social', { see: ['group_size', 'sex'] })
    server.clock.pass(1_000)
    await expectAccounted(await ask(), { seen: ['HOUSEHOLD_ID H1'] })
  })

  it('has the signature of both messages', async () => {
    const signer = await sealingPeer(server, 'signing.example')
    const body = signedBody(signer, searchBy(signer, {}, { type: 'UIN', value: 'P1' }))
    const sent = await send('civil', 'registry/sync/search', body, signer)
    const [account] = await accountsOf(sent)
    const { signature } = JSON.parse(body)
    expect(account?.entry.request).toMatchObject({ kid: 'sig-1', signature, digest: hash('sha256', body) })
    expect(account?.entry.reply).toMatchObject({ signature: (sent as never as { signature: string }).signature })
  })

  it('to a rejected item has what was asked, and the code', async () => {
    await grant(server.database, peer.sender_id, 'civil', { ask: [] })
    server.clock.pass(1_000)
    const sent = await send(
      ...(['civil', 'registry/sync/search', searchFor(peer, [byExpression({ UIN: { $ne: 'P1' } })])] as const),
    )
    await expectAccounted(
      sent,
      { asked: ['UIN P1'] },
      { outcomes: { 'rjct.search_criteria.invalid': 1 }, records: 0, shown: {} },
    )
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

  it('stands in the account, encrypted, and in no log', async () => {
    await grant(server.database, peer.sender_id, 'civil', { demands: ['requested_by', 'case'] })
    server.clock.pass(1_000)
    expect(await post({ requested_by: BY, case: CASE })).toMatchObject({ status: 200 })
    const { chain, sequence, entry } = (await storedAccounts(server.database.db)).at(-1) as StoredAccount
    const keys = await loadAccountKeys(server.database.db, await server.context.vault())
    expect(openDetails(keys.confidential, { chain, sequence }, entry.sealed ?? '')).toEqual({
      requested_by: BY,
      case: CASE,
    })
    const entries = await storedAccounts(server.database.db)
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
  await expectAccounted(sent, { seen, asked: ['UIN NOBODY'] }, { outcomes: { succ: 2 } })
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
    await expectAccounted(sent, expected, { operation: name, outcomes: { succ: 1 } })
  })
})

it('an enrolment update has those who were written, and those who were rejected', async () => {
  covered.add('enrolment-updates')
  const message = updatesMessage(peer, [updated('W1'), { member: {} }])
  const sent = await send('ibr', 'registry/enrollments/updates', message)
  await expectAccounted(sent, { written: ['UIN W1'] }, { outcomes: { succ: 1, rjct: 1 } })
})

describe('what is answered later', () => {
  it('has an account for each page, for a status question that gives it again, and none more for a repeated attempt', async () => {
    covered.add('txn-status')
    const from = received(0).length
    const search = searchFor(peer, [
      byExpression({ sex: { $eq: 'F' } }, { pagination: { page_size: 1, page_number: 1 } }),
    ])
    const correlation_id = await accepted(server, peer, search)
    const [ack] = (await storedAccounts(server.database.db)).filter(
      ({ entry }) => entry.correlation_id === correlation_id,
    )
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
      await expectAccounted(page, { seen: persons[record.name.given_name] ?? [] }, { kind: 'callback', correlation_id })
    }

    const asked = question(peer, 'correlation_id', correlation_id)
    const again = await send('civil', 'registry/sync/txn/status', asked)
    expect(recordsIn(again.message)).toHaveLength(1)
    const [account] = await accountsOf(again)
    expect(account?.entry).toMatchObject({
      kind: 'answer',
      operation: 'txn-status',
      repeats: [correlation_id],
      records: 1,
    })
    await expectAccounted(again, { seen: [...new Set(Object.values(persons).flat())] })

    const later = await accepted(server, peer, question(peer, 'correlation_id', correlation_id), 'txn/status')
    await answerExchange(server, later)
    await deliverAll(server)
    const sent = received(from).find(({ message }) => message.correlation_id === later)
    if (sent === undefined) throw new Error('the question was not answered')
    await expectAccounted(
      sent,
      { seen: [...new Set(Object.values(persons).flat())] },
      { kind: 'callback', repeats: [correlation_id] },
    )
  })

  it('a subscription has whom it is about, and its end has an account', async () => {
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
      await expectAccounted(sent, { asked }, { operation: name, outcomes: { succ: 1 } })
    }
  })
})

/** Sends what is due in a mailbox, if it can be. */
async function drain(mailbox: number): Promise<void> {
  const { mailboxes, limiter } = server.context
  mailboxes.due([mailbox])
  await mailboxes.look(new AbortController().signal)
  await mailboxes.idle()
  await limiter.idle()
}

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
    const account = await expectAccounted(sent, { seen: both('P1') }, { kind: 'notification', operation: 'notify' })
    expect(account.entry.shown).toEqual({
      Person: [...['identifier.identifier_type', 'identifier.identifier_value', 'name.given_name', 'name.surname']],
    })
  })
})

it('every operation was tried', () => {
  expect([...covered].toSorted()).toEqual(OPERATIONS.map(({ name }) => name).toSorted())
})

it('a request that writes is accounted before it does, also where the account of its answer fails', async () => {
  const message = updatesMessage(peer, [updated('W9')])
  const { accounts } = server.context
  const { write } = accounts
  // The first account is taken, the one of the answer is not.
  let writes = 0
  accounts.write = async (...account) => {
    writes += 1
    if (writes === 2) throw new Error('no account')
    return write(...account)
  }
  const post = () =>
    fetch(`${server.url}/ibr/v1.0.0/registry/enrollments/updates`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(peer) },
      body: JSON.stringify(message),
    })
  try {
    expect((await post()).status).toBeGreaterThanOrEqual(500)
  } finally {
    accounts.write = write
  }
  const entries = async () =>
    (await storedAccounts(server.database.db)).filter(
      ({ entry }) => entry.request?.message_id === message.header.message_id,
    )
  expect((await entries()).map(({ entry }) => entry)).toMatchObject([
    { kind: 'acknowledgement', operation: 'enrolment-updates', participant: peer.sender_id, reply: null },
  ])
  // The same message again gets its answer, and its account.
  expect((await post()).status).toBe(200)
  expect((await entries()).map(({ entry, persons }) => [entry.kind, persons.length > 0])).toEqual([
    ['acknowledgement', false],
    ['acknowledgement', false],
    ['answer', true],
  ])
})

describe('where the accounts cannot be written', () => {
  const owner = openDatabase(server.database.owner)
  afterAll(() => owner.close())
  const asOwner = async (statement: (role: string) => string): Promise<void> => {
    const { rows } = await pool.query<{ role: string }>('select quote_ident(current_user) as role')
    await owner.pool.query(statement(rows[0]?.role ?? ''))
  }
  const refuse = () => asOwner((role) => `revoke insert on account_entry from ${role}`)
  const allow = () => asOwner((role) => `grant insert on account_entry to ${role}`)

  it('nothing leaves: not an answer, not an acknowledgement, not a callback, not a notification; and it is tried again', async () => {
    const search = () => searchFor(peer, [byIdentifier('UIN', 'P1')])
    const waiting = await accepted(server, peer, search())
    const rows = eventRows(server.database, civil)
    const subscribed = await rows.subscribe(peer, { event_type: 'Death' })
    await rows.notify(subscribed, await rows.event('P1', { event_type: 'Death', document: person('P1') as never }))
    const from = received(0).length
    await refuse()
    try {
      for (const path of ['registry/sync/search', 'registry/search']) {
        const response = await fetch(`${server.url}/civil/v1.0.0/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...bearer(peer) },
          body: JSON.stringify(search()),
        })
        expect(response.status).toBe(503)
        const { message } = (await response.json()) as { message: { error: object } }
        expect(message.error).toEqual({
          code: 'err.service.unavailable',
          message: 'the access cannot be accounted for at the moment; try again later',
        })
      }
      // However often it is tried: a failure of ours could not be answered either.
      for (const runs of [1, 7]) {
        await expect(answerExchange(server, waiting, { runs })).rejects.toThrow('cannot be accounted for')
      }
      await drain(subscribed.mailbox)
      expect(received(from)).toEqual([])
      expect(server.logged()).toContain('accounts could not be written')
    } finally {
      await allow()
    }
    await answerExchange(server, waiting)
    await deliverAll(server)
    await pool.query('update mailbox set claim = null, claimed_until = null, resting_since = null')
    await drain(subscribed.mailbox)
    const later = received(from).filter(({ message }) => recordsIn(message).length > 0)
    expect(
      later.map(({ message }) => (message.notify_event === undefined ? 'callback' : 'notification')).toSorted(),
    ).toEqual(expect.arrayContaining(['callback', 'notification']))
    for (const sent of later) expect(await accountsOf(sent)).toHaveLength(1)
  })
})

describe('a daily quota of records', () => {
  it('counts notifications, which wait for the next day when it is used up', async () => {
    const rows = eventRows(server.database, civil)
    const subscribed = await rows.subscribe(peer, { event_type: 'Death' })
    const happen = async (uin: string) =>
      rows.notify(subscribed, await rows.event(uin, { event_type: 'Death', document: person(uin) as never }))
    await grant(server.database, peer.sender_id, 'civil', { records_per_day: 1, unfiltered: true })
    server.clock.pass(1_000)
    const from = received(0).length
    const notified = () => received(from).filter(({ message }) => message.notify_event !== undefined).length
    await happen('P1')
    await drain(subscribed.mailbox)
    expect(notified()).toBe(1)
    const { rows: used } = await pool.query('select used, counted from grant_use')
    expect(used).toEqual([{ used: 1, counted: 'records' }])
    await happen('P2')
    await drain(subscribed.mailbox)
    expect(notified()).toBe(1)
    await pool.query('update grant_use set day = day - 1')
    await pool.query('update mailbox set claim = null, claimed_until = null, resting_since = null')
    await drain(subscribed.mailbox)
    expect(notified()).toBe(2)
    await grant(server.database, peer.sender_id, 'civil', {})
    server.clock.pass(1_000)
  })
})

describe('refusals', () => {
  const refusalsOf = async (code: string) =>
    (await storedAccounts(server.database.db)).flatMap(({ entry }) =>
      entry.kind === 'refusal' && code in entry.outcomes ? [entry] : [],
    )
  const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const SEARCH = 'civil/v1.0.0/registry/sync/search'

  it('of every sort are accounted for, those of one sort together', async () => {
    const stranger = await server.participant('stranger.example')
    await pool.query(
      `update participant_grant set revoked_at = now()
       where participant = (select id from participant where sender_id = 'stranger.example')`,
    )
    const signer = await sealingPeer(server, 'unsigned.example')
    const ask = (by: TestParticipant, changes: object = {}) => searchBy(by, changes, { type: 'UIN', value: 'P1' })
    await Promise.all([1, 2, 3].map(() => post(SEARCH, ask(peer), { Authorization: 'Bearer wrong' })))
    await post(SEARCH, ask(stranger), bearer(stranger))
    await post(SEARCH, ask(signer), bearer(signer))
    await post(SEARCH, '{', bearer(peer))
    await post(SEARCH, ask(peer, { header: { action: 'subscribe' } }), bearer(peer))
    await post('civil/v1.0.0/registry/on-search', '{', bearer(peer))
    await fetch(`${server.url}/oauth2/client/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'x', client_secret: 'y' }),
    })
    await server.context.refusals.flush()
    const address = '127.0.0.1'
    const counts = (await refusalsOf('err.request.unauthorized')).map(({ count }) => count)
    expect(counts).toEqual([1, 2])
    expect(await refusalsOf('err.request.unauthorized')).toMatchObject([
      { participant: null, registry: 'civil', operation: 'search', address },
      { participant: null, registry: 'civil', operation: 'search', address },
    ])
    expect(await refusalsOf('err.request.forbidden')).toMatchObject([{ participant: 'stranger.example', count: 1 }])
    expect(await refusalsOf('err.signature.missing')).toMatchObject([{ participant: 'unsigned.example' }])
    const bad = (await refusalsOf('err.request.bad')).map(({ operation: name }) => name)
    expect(bad).toEqual(expect.arrayContaining(['on-search', 'search']))
    expect(await refusalsOf('rjct.action.invalid')).toMatchObject([
      { participant: peer.sender_id, registry: 'civil', operation: 'search' },
    ])
    expect(await refusalsOf('token.invalid_client')).toMatchObject([{ participant: null, operation: 'token' }])
  })
})

it('no account has an identifier, a name or a reference in clear', async () => {
  const rows = await storedAccounts(server.database.db)
  for (const clear of ['"P1"', 'B-P1', 'Obi', 'NOBODY']) expect(JSON.stringify(rows)).not.toContain(clear)
  expect(rows.length).toBeGreaterThan(10)
})
