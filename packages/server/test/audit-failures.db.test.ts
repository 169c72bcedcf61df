/** Answers, notifications and audit entries when an entry cannot be written, a quota is used up, or a request is refused. */
import { randomBytes } from 'node:crypto'
import { openDatabase } from '@rollcall/database/database'
import { afterAll, describe, expect, it } from 'vitest'
import { grant } from '../../participants/test/grants.ts'
import { storedEntries } from '../../settings/test/audit-log.ts'
import { accepted, answerExchange, byIdentifier, deliverAll, searchFor } from './asynchronous.ts'
import { auditedServer, person, recordsIn } from './audited.ts'
import { beneficiary as updated, updatesMessage } from './enrolment-updates.ts'
import { expectFault } from './expectations.ts'
import { eventRows } from './notifications.ts'
import { sealingPeer, searchBy } from './sealing.ts'
import { bearer, post, type TestParticipant } from './server.ts'

const { server, civil, peer, received, auditEntriesOf, drain } = await auditedServer()
const { pool } = server.database.db

it('a request that writes has an audit entry before it does, also where the entry of its answer fails', async () => {
  const message = updatesMessage(peer, [updated('W9')])
  const { auditLog } = server.context
  const { write } = auditLog
  // The first audit entry is taken, the one of the answer is not.
  let writes = 0
  auditLog.write = async (...auditEntry) => {
    writes += 1
    if (writes === 2) throw new Error('no audit log')
    return write(...auditEntry)
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
    auditLog.write = write
  }
  const entries = async () =>
    (await storedEntries(server.database.db)).filter(({ entry }) => entry.request?.message_id === message.header.message_id)
  expect((await entries()).map(({ entry }) => entry)).toMatchObject([
    { kind: 'acknowledgement', operation: 'enrolment-updates', participant: peer.sender_id, reply: null },
  ])
  // The same message again gets its answer, and its audit entry.
  expect((await post()).status).toBe(200)
  expect((await entries()).map(({ entry, persons }) => [entry.kind, persons.length > 0])).toEqual([
    ['acknowledgement', false],
    ['acknowledgement', false],
    ['answer', true],
  ])
})

describe('where no audit entry can be written', () => {
  const owner = openDatabase(server.database.owner)
  afterAll(() => owner.close())
  const asOwner = async (statement: (role: string) => string): Promise<void> => {
    const { rows } = await pool.query<{ role: string }>('select quote_ident(current_user) as role')
    await owner.pool.query(statement(rows[0]?.role ?? ''))
  }
  const refuse = () => asOwner((role) => `revoke insert on account_entry from ${role}`)
  const allow = () => asOwner((role) => `grant insert on account_entry to ${role}`)

  it('nothing leaves: not an answer, not an acknowledgement, not a callback, not a notification; and it is tried again', async () => {
    await grant(server.database, peer.sender_id, 'civil', { unfiltered: true })
    server.clock.pass(1_000)
    const search = () => searchFor(peer, [byIdentifier('UIN', 'P1')])
    const waiting = await accepted(server, peer, search())
    const rows = eventRows(server.database, civil)
    const subscribed = await rows.subscribe(peer, { event_type: 'Death' })
    await rows.notify(subscribed, await rows.event('P1', { event_type: 'Death', document: person('P1') as never }))
    const from = received(0).length
    await refuse()
    try {
      for (const path of ['registry/sync/search', 'registry/search']) {
        const asked = search()
        const response = await fetch(`${server.url}/civil/v1.0.0/${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...bearer(peer) },
          body: JSON.stringify(asked),
        })
        expect(response.status).toBe(503)
        // An unanswered message is remembered alone; one that is not accepted is not remembered.
        const { rowCount } = await pool.query('select from exchange where message_id = $1', [asked.header.message_id])
        expect(rowCount).toBe(path === 'registry/sync/search' ? 1 : 0)
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
      expect(server.logged()).toContain('audit entries could not be written')
    } finally {
      await allow()
    }
    await answerExchange(server, waiting)
    await deliverAll(server)
    await pool.query('update mailbox set claim = null, claimed_until = null, resting_since = null')
    await drain(subscribed.mailbox)
    const later = received(from).filter(({ message }) => recordsIn(message).length > 0)
    expect(later.map(({ message }) => (message.notify_event === undefined ? 'callback' : 'notification')).toSorted()).toEqual(
      expect.arrayContaining(['callback', 'notification']),
    )
    for (const sent of later) expect(await auditEntriesOf(sent)).toHaveLength(1)
  })

  it('a large request, whose entry has a statement of its own, is refused and not stored; sent again, it is accepted', async () => {
    const header = { meta: { padding: randomBytes(300_000).toString('base64') } }
    const asked = searchFor(peer, [byIdentifier('UIN', 'P1')], { header })
    const stored = () => pool.query('select from exchange where message_id = $1', [asked.header.message_id])
    await refuse()
    try {
      const refused = await post(`${server.url}/civil/v1.0.0/registry/search`, asked, bearer(peer))
      const text = 'the access cannot be accounted for at the moment; try again later'
      expectFault(refused, 503, 'err.service.unavailable', text)
      expect((await stored()).rowCount).toBe(0)
    } finally {
      await allow()
    }
    const correlation_id = await accepted(server, peer, asked)
    expect((await stored()).rowCount).toBe(1)
    const entries = (await storedEntries(server.database.db)).filter(({ entry }) => entry.correlation_id === correlation_id)
    expect(entries.map(({ entry }) => entry.kind)).toEqual(['acknowledgement'])
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
    (await storedEntries(server.database.db)).flatMap(({ entry }) =>
      entry.kind === 'refusal' && code in entry.outcomes ? [entry] : [],
    )
  const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const SEARCH = 'civil/v1.0.0/registry/sync/search'

  it('of every sort have audit entries, those of one sort together', async () => {
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
