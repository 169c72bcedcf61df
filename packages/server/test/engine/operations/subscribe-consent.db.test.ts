/** Subscriptions on the basis of a consent: signed, of one person, and ended with it. */

import { listConsentAuthorities, removeConsentAuthority } from '@rollcall/admin/consents/authorities'
import { withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { withTransaction } from '@rollcall/database/transaction'
import { endUnconsentedSubscriptions, stopUsesOfEndedConsents } from '@rollcall/delivery/store/events/consent-stopping'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { beforeAll, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { consentAuthority } from '../../../../admin/test/consents.ts'
import { findWaitingNotifications } from '../../../../delivery/src/store/events/waiting.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { runHousekeeping } from '../../../src/app/housekeeping.ts'
import { eventRows } from '../../notifications.ts'
import { about, codeOf, storedSubscription, subscribed, subscribingServer } from '../../subscribing.ts'

const { server, newPeer } = await subscribingServer()
const { db } = server.database
const peer = await newPeer()
const authority = await consentAuthority(server.database)
const deps = { db, vault: server.context.vault }
const TERMS = {
  operations: ['search', 'txn-status', 'subscribe', 'unsubscribe'],
  query_forms: ['identifier'],
  see: ['identifier', 'surname', 'birth_date'],
  event_types: ['LiveBirth', 'Death'],
  basis: 'consent',
  purposes: ['eligibility'],
} as const satisfies GrantTerms
beforeAll(async () => {
  await grant(server.database, peer.sender_id, 'civil', TERMS)
  server.clock.pass(1_000)
})

const sign = (uin: string, claims: object = {}) =>
  authority.sign({ subject: { identifier_type: 'UIN', identifier_value: uin }, ...claims })
const criteria = async (uin: string, claims: object = {}, more: object = {}) =>
  about(uin, { authorize: { consent_jws: await sign(uin, claims) }, ...more })
const rejection = async (one: object) => (await subscribed(server, peer, [one]))[0]
const rejected = (message: string) => ({
  status: 'rjct',
  status_reason_code: 'rjct.notify_details.invalid',
  status_reason_message: message,
})
const AT = 'subscribe_criteria.authorize.consent_jws'

it('is made under a signed consent, ends with it, and stores nothing of the consent in clear', async () => {
  const exp = Math.floor(Date.now() / 1_000) + 5_000
  const code = await codeOf(server, peer, await criteria('1', { exp, jti: 'one' }))
  const [stored] = await storedSubscription(server, code)
  expect(stored).toMatchObject({ state: 'live', end_at: new Date(exp * 1_000) })
  expect(stored?.criteria).not.toContain('consent_jws')
  const { rows } = await db.pool.query('select * from subscription_consent where subscription = $1', [stored?.id])
  expect(rows).toMatchObject([{ jti: 'one', purpose: 'eligibility', attributes: expect.any(Array) }])
  // A later consent renews it.
  expect(await codeOf(server, peer, await criteria('1', { exp: exp + 1_000, jti: 'two' }))).toBe(code)
  const renewed = await db.pool.query('select jti from subscription_consent where subscription = $1', [stored?.id])
  expect(renewed.rows).toEqual([{ jti: 'two' }])
})

it('ten in one request are stored with their consents, all ten consents by one statement', async () => {
  const ten = await Promise.all(Array.from({ length: 10 }, (_, at) => criteria(`2${at}`, { jti: `ten-${at}` })))
  const result = await subscribed(server, peer, ten)
  expect(result.map(({ status }) => status)).toEqual(Array(10).fill('succ'))
  // Rows of one statement have the same cmin.
  const { rows: statements } = await db.pool.query("select distinct cmin from subscription_consent where jti like 'ten-%'")
  expect(statements).toHaveLength(1)
  const { rows } = await db.pool.query("select jti from subscription_consent where jti like 'ten-%' order by jti")
  expect(rows).toEqual(ten.map((_, at) => ({ jti: `ten-${at}` })))
})

it('is refused without a signed consent of the person of its filter', async () => {
  const asserted = { ts: new Date().toISOString(), purpose: { code: 'eligibility' } }
  const needed = 'is required here, a consent for eligibility that a registered consent authority has signed'
  expect(await rejection(about('3'))).toMatchObject(rejected(`${AT}: ${needed}`))
  expect(await rejection(about('3', { authorize: asserted }))).toMatchObject(rejected(`${AT}: ${needed}`))
  const consent_jws = await sign('4')
  expect(await rejection(about('3', { authorize: { consent_jws } }))).toMatchObject(
    rejected(`${AT}: is for another person than is asked for`),
  )
  expect(await rejection(await criteria('3', { exp: 1 }))).toMatchObject(rejected(`${AT}: exp: must be later than iat`))
  const authorize = { purpose: { code: 'appeal' }, consent_jws: await sign('3') }
  expect(await rejection(about('3', { authorize }))).toMatchObject(
    rejected('subscribe_criteria.authorize.purpose.code: must be that of the signed consent'),
  )
  const filter = { type: 'BRN', value: '3' }
  expect(await rejection(await criteria('3', {}, { filter }))).toMatchObject(
    rejected('subscribe_criteria.filter: must name the person who consents by one UIN, and nothing else'),
  )
})

it('with a frequency names the runs until the consent ends, and is refused when there is none', async () => {
  const hour = 3_600_000
  const now = server.clock.date()
  const first = (Math.floor(now / hour) + 1) * hour
  const period = { start_time: new Date(now - hour).toISOString(), end_time: new Date(now + 1_000 * 24 * hour).toISOString() }
  const exp = first / 1_000 + 5_400
  const asked = (frequency: string) => criteria('11', { exp }, { frequency: { ...period, frequency } })
  const runs = [first, first + hour].map((run) => new Date(run).toISOString()).join(', ')
  expect(await subscribed(server, peer, [await asked('hourly')])).toMatchObject([
    { status: 'succ', status_reason_message: `next notifications at ${runs}` },
  ])
  const half = ((new Date(now).getUTCMonth() + 6) % 12) + 1
  expect(await rejection(await asked(`0 0 1 ${half} *`))).toMatchObject(
    rejected('subscribe_criteria.frequency.frequency: must have a run before the signed consent ends'),
  )
})

it('is ended by a withdrawal, with what waits, and the receipt names it', async () => {
  const code = await codeOf(server, peer, await criteria('5', { attributes: ['surname'] }))
  const [stored] = await storedSubscription(server, code)
  const rows = eventRows(server.database, { id: stored?.registry ?? 0 })
  const event = await rows.event('5')
  await rows.notify({ id: stored?.id, code, mailbox: stored?.mailbox }, event)
  expect(await findWaitingNotifications(db.pool, stored?.mailbox, 10)).toMatchObject([
    { code, unwanted: false, consent: { purpose: 'eligibility', attributes: ['surname'] } },
  ])
  const { stopped } = await withdrawConsent(acting(deps), {
    identifier_type: 'UIN',
    identifier_value: '5',
    purpose: 'eligibility',
  })
  expect(stopped).toEqual({ subscriptions: [code], notifications: 1, deliveries: 0, in_flight: 0 })
  expect(await storedSubscription(server, code)).toMatchObject([{ state: 'ended', reason: 'consent', keys: 0 }])
  expect(await findWaitingNotifications(db.pool, stored?.mailbox, 10)).toEqual([])
})

it('is not made under a consent that does not hold any more, nor renewed onto one', async () => {
  const code = await codeOf(server, peer, await criteria('8', { jti: 'good' }))
  await withdrawConsent(acting(deps), { authority: authority.name, jti: 'bad' })
  const exp = Math.floor(Date.now() / 1_000) + 9_000
  expect(await rejection(await criteria('8', { exp, jti: 'bad' }))).toMatchObject(
    rejected(`${AT}: the consent does not hold any more`),
  )
  const [stored] = await storedSubscription(server, code)
  expect(stored).toMatchObject({ state: 'live' })
  // If two items are for the same subscription, the consent with the later end counts.
  const two = await subscribed(server, peer, [
    await criteria('9', { jti: 'shorter' }),
    await criteria('9', { exp, jti: 'longer' }),
  ])
  expect(two).toMatchObject([{ status: 'succ' }, { status: 'succ' }])
  const { rows } = await db.pool.query("select jti from subscription_consent where jti in ('shorter', 'longer')")
  expect(rows).toEqual([{ jti: 'longer' }])
})

it('is suspended when the grant does not accept its authority any more', async () => {
  const code = await codeOf(server, peer, await criteria('10'))
  await addPurpose(acting({ db }), { code: 'eligibility' })
  const second = await consentAuthority(server.database, 'https://second.example')
  const terms = { ...TERMS, authorities: [second.name] }
  await setGrant(acting({ db }), { sender_id: peer.sender_id, namespace: 'civil', terms })
  expect(await storedSubscription(server, code)).toMatchObject([{ state: 'suspended', reason: 'not_permitted' }])
  await grant(server.database, peer.sender_id, 'civil', TERMS)
  server.clock.pass(1_000)
})

it('is not sent, and ends, when its consent has expired', async () => {
  const code = await codeOf(server, peer, await criteria('6'))
  const [stored] = await storedSubscription(server, code)
  const rows = eventRows(server.database, { id: stored?.registry ?? 0 })
  await rows.notify({ id: stored?.id, code, mailbox: stored?.mailbox }, await rows.event('6'))
  await db.pool.query('update subscription_consent set expires_at = now() where subscription = $1', [stored?.id])
  expect(await findWaitingNotifications(db.pool, stored?.mailbox, 10)).toMatchObject([{ code, unwanted: true }])
  await runHousekeeping(server.context, new AbortController().signal)
  expect(await storedSubscription(server, code)).toMatchObject([{ state: 'ended', reason: 'consent' }])
})

it('is ended later when its authority is removed and it cannot be ended at once', async () => {
  const gone = await consentAuthority(server.database, 'https://gone.example')
  const subject = { identifier_type: 'UIN', identifier_value: '13' }
  const code = await codeOf(server, peer, about('13', { authorize: { consent_jws: await gone.sign({ subject }) } }))
  const [stored] = await storedSubscription(server, code)
  const changing = await db.pool.connect()
  try {
    await changing.query('begin')
    await changing.query("select pg_advisory_xact_lock_shared(hashtext('rollcall events'), $1)", [stored?.registry])
    const removed = removeConsentAuthority(acting(deps), { name: gone.name })
    // As `statement_timeout` does it.
    const cancel = `select pg_cancel_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event = 'advisory'`
    await expect.poll(async () => (await db.pool.query(cancel)).rowCount).toBe(1)
    expect(await removed).toMatchObject({ stopped: { subscriptions: [], deliveries: 0 }, unfinished: true })
  } finally {
    await changing.query('rollback')
    changing.release()
  }
  expect((await listConsentAuthorities(deps, {})).map(({ name }) => name)).not.toContain(gone.name)
  await runHousekeeping(server.context, new AbortController().signal)
  expect(await storedSubscription(server, code)).toMatchObject([{ state: 'ended', reason: 'consent' }])
})

it('is not ended for a consent that was replaced while the lock of the registry was waited for', async () => {
  const code = await codeOf(server, peer, await criteria('14'))
  const [stored] = await storedSubscription(server, code)
  await db.pool.query('update subscription_consent set expires_at = now() where subscription = $1', [stored?.id])
  let ends: Promise<unknown> = Promise.resolve()
  await withTransaction(db.pool, async (renewing) => {
    await lockRegistryFor(renewing, Number(stored?.registry), 'subscribe')
    ends = Promise.all([
      withTransaction(db.pool, endUnconsentedSubscriptions),
      stopUsesOfEndedConsents(db, { condition: () => 'true', values: [] }),
    ])
    const waits = "select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'"
    await expect.poll(async () => (await db.pool.query(waits)).rowCount).toBe(2)
    await renewing.query("update subscription_consent set expires_at = now() + interval '1 day' where subscription = $1", [
      stored?.id,
    ])
  })
  expect(await ends).toMatchObject([0, { subscriptions: [], notifications: 0 }])
  expect(await storedSubscription(server, code)).toMatchObject([{ state: 'live', reason: null }])
})

async function grantByLaw(): Promise<void> {
  const { purposes: _, ...law } = TERMS
  await grant(server.database, peer.sender_id, 'civil', { ...law, basis: 'law' })
  server.clock.pass(1_000)
}

it('is suspended when the grant demands a consent that it does not have', async () => {
  await grantByLaw()
  const without = await codeOf(server, peer, about('7'))
  const { suspended } = await setGrant(acting({ db }), { sender_id: peer.sender_id, namespace: 'civil', terms: TERMS })
  server.clock.pass(1_000)
  expect(suspended).toBe(1)
  expect(await storedSubscription(server, without)).toMatchObject([{ state: 'suspended', reason: 'not_permitted' }])
})

it('does not end with its consent when it is renewed under a grant that demands none', async () => {
  const code = await codeOf(server, peer, await criteria('12', { attributes: ['surname'] }))
  await grantByLaw()
  expect(await codeOf(server, peer, about('12'))).toBe(code)
  const [stored] = await storedSubscription(server, code)
  const rows = eventRows(server.database, { id: stored?.registry ?? 0 })
  await rows.notify({ id: stored?.id, code, mailbox: stored?.mailbox }, await rows.event('12'))
  const person = { identifier_type: 'UIN', identifier_value: '12', purpose: 'eligibility' }
  expect((await withdrawConsent(acting(deps), person)).stopped.subscriptions).toEqual([])
  const waiting = await findWaitingNotifications(db.pool, stored?.mailbox, 10)
  expect(waiting.filter((one) => one.code === code)).toMatchObject([{ unwanted: false, consent: null }])
})
