import { publishEvent } from '@rollcall/admin/events/publish'
import { traceMessages } from '@rollcall/admin/messages/trace'
import { keysOfFilter } from '@rollcall/core/events/filing'
import { type CallbackSettings, setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { validator } from '@rollcall/protocol'
import { beforeEach, expect, test, vi } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { runHousekeeping } from '../../../src/app/housekeeping.ts'
import { answering, type Receiver, testSender } from '../../deliveries.ts'
import { mailboxSender } from '../../mailboxes.ts'
import { envelopeOf, uinsOf } from '../../notifications.ts'

const { server, rows, newPeer, until, working, receiver } = await mailboxSender()
let peer: Receiver
beforeEach(() => {
  peer = receiver()
})

const received = (): readonly string[] => peer.received.flatMap(uinsOf)

test('a waiting notification is a signed message, and the next one follows it', async () => {
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 1 }))
  for (const uin of ['A', 'B', 'C']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(received()).toEqual(['A', 'B', 'C']))
  expect(new Set(peer.received.map(({ path }) => path))).toEqual(new Set(['/registry/notify']))
  const envelopes = peer.received.map(envelopeOf)
  expect(envelopes.map(({ header }) => header.meta.sequence)).toEqual([1, 2, 3])
  expect(new Set(envelopes.map(({ header }) => header.message_id)).size).toBe(3)
  expect(new Set(envelopes.map(({ message }) => message.transaction_id)).size).toBe(3)
  for (const { signature } of envelopes) expect(signature).toBeTypeOf('string')
  expect(await rows.states()).toEqual(['sent', 'sent', 'sent'])
})

test('what a transient failure holds goes later, in order, under the same message_id', async () => {
  const participant = await newPeer({ notify_items: 1, schedule: [1] })
  const subscribed = await rows.subscribe(participant)
  peer.answer = answering(503)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(peer.received).toHaveLength(1))
  peer.answer = answering(200)
  await server.database.db.pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
  await until(() => expect(received()).toEqual(['A', 'A', 'B']))
  const [first, again] = peer.received.map(envelopeOf)
  expect(again.header).toEqual(first.header)
})

test('what is refused for good goes to the dead letters, and the next one proceeds', async () => {
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 1 }))
  peer.answer = (response, one) => answering(uinsOf(one)[0] === 'A' ? 410 : 200)(response, one)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  const states = () => server.database.db.pool.query('select state from delivery order by sequence')
  await until(async () => expect((await states()).rows).toEqual([{ state: 'dead' }, { state: 'delivered' }]))
  expect(received()).toEqual(['A', 'B'])
})

test('items travel together, as many as the participant takes', async () => {
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 2 }))
  for (const uin of ['A', 'B', 'C']) await rows.notify(subscribed, await rows.event(uin))
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['A', 'B'], ['C']]))
})

test('what waits for its time holds nothing up, and then travels together', async () => {
  const subscribed = await rows.subscribe(await newPeer())
  const held = await rows.event('held')
  const later = await rows.event('later')
  for (const event of [held, later]) await rows.notify(subscribed, event, { due: 3_600 })
  await rows.notify(subscribed, await rows.event('now'))
  await until(() => expect(received()).toEqual(['now']))
  expect(await rows.states()).toEqual(['waiting', 'waiting', 'sent'])
  await server.database.db.pool.query(`update notification set due_at = now() where state = 'waiting'`)
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['now'], ['held', 'later']]))
})

test('an event that was held stands before a later one of its record that was due at once', async () => {
  const participant = await newPeer()
  const [immediate, held] = [await rows.subscribe(participant), await rows.subscribe(participant)]
  const [first, second] = [await rows.event('first'), await rows.event('second')]
  await rows.notify(held, first, { due: -1 })
  await rows.notify(immediate, second, { due: -2 })
  await rows.notify(held, second, { due: -1 })
  await until(() => expect(peer.received.map(uinsOf)).toEqual([['first', 'second']]))
  const [{ header, message }] = peer.received.map(envelopeOf)
  const [one, other] = message.notify_event.map(
    ({ reference_id }: { reference_id: string }) => header.meta.record_version[reference_id],
  )
  expect(one).toBeLessThan(other)
})

test('what is held until runs of a frequency is sent once, together, after a restart across them', async () => {
  const { pool } = server.database.db
  const subscribed = await rows.subscribe(await newPeer())
  await pool.query(
    `update subscription set cron = '0 0 0 1 * * *', start_at = now(), end_at = now() + interval '9 years' where id = $1`,
    [subscribed.id],
  )
  for (const { key, whole } of keysOfFilter(null)) {
    await pool.query(`insert into subscription_key values ($1, 'LiveBirth', 'Person', $2, $3, $4)`, [
      ...[server.registry.id, key, subscribed.id, whole],
    ])
  }
  const publish = (uin: string, months: number) => {
    const now = new Date(server.clock.date())
    now.setUTCMonth(now.getUTCMonth() + months)
    const record = { identifier: [{ identifier_type: 'UIN', identifier_value: uin }] }
    const { limits } = server.context
    const deps = { db: server.database.db, limits, now: () => now }
    return publishEvent(acting(deps), { namespace: 'civil', reg_event_type: 'LiveBirth', record })
  }
  for (const [uin, months] of [
    ['T-1', 0],
    ['T-2', 0],
    ['T-3', 2],
  ] as const) {
    expect(await publish(uin, months)).toMatchObject({ matched: 1 })
  }
  await server.context.mailboxes.poll(working())
  expect(await rows.states()).toEqual(['waiting', 'waiting', 'waiting'])
  // The node ends. Both runs pass, and then two nodes begin.
  await pool.query(`update notification set due_at = due_at - interval '1 year'`)
  const another = await testSender(server.env, server.database)
  const looks = () => Promise.all([server, another].map(({ context }) => context.mailboxes.poll(working())))
  await vi.waitFor(
    async () => {
      await looks()
      expect(received()).not.toEqual([])
    },
    { timeout: 60_000, interval: 20 },
  )
  await looks()
  expect(peer.received.map(uinsOf)).toEqual([['T-1', 'T-2', 'T-3']])
  expect(await rows.states()).toEqual(['sent', 'sent', 'sent'])
  await another.context.mailboxes.idle()
  await another.close()
})

test('a backfill goes behind everything else', async () => {
  const subscribed = await rows.subscribe(await newPeer())
  await rows.notify(subscribed, await rows.event('old'), { purpose: 'backfill' })
  await rows.notify(subscribed, await rows.event('new'))
  await until(() => expect(received()).toEqual(['new', 'old']))
  expect(peer.received.map((one) => envelopeOf(one).header.meta.backfill)).toEqual([undefined, true])
})

test.each(['unsubscribed', 'cancelled'])('nothing is sent of a subscription that was %s', async (reason) => {
  const participant = await newPeer()
  const gone = await rows.subscribe(participant)
  const live = await rows.subscribe(participant)
  const event = await rows.event('A')
  await rows.notify(gone, event)
  await rows.notify(live, event)
  await server.database.db.pool.query(`update subscription set state = 'ended', reason = $2, ended_at = now() where id = $1`, [
    gone.id,
    reason,
  ])
  await until(() => expect(received()).toEqual(['A']))
  const [{ header } = { header: null }] = peer.received.map(envelopeOf)
  expect(Object.values(header.meta.subscriptions)).toEqual([[live.code]])
  expect(await rows.states()).toEqual(['dropped', 'sent'])
})

test.each(['death', 'expired'])('what happened before a subscription ended (%s) is still sent', async (reason) => {
  const subscribed = await rows.subscribe(await newPeer())
  await rows.notify(subscribed, await rows.event('A'))
  await server.database.db.pool.query(`update subscription set state = 'ended', reason = $1, ended_at = now()`, [reason])
  await until(() => expect(received()).toEqual(['A']))
})

test('mailboxes that share an address are told apart, each with numbers of its own', async () => {
  const participant = await newPeer({ notify_url: `${peer.url}/events`, notify_items: 1 })
  for (const name of ['a', 'b']) {
    const subscribed = await rows.subscribe(participant, { sender_uri: `https://${name}.example/on-subscribe` })
    for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(`${name}${uin}`))
  }
  await until(() => expect(peer.received).toHaveLength(4))
  const numbers = peer.received.map((one) => {
    const { mailbox, sequence } = envelopeOf(one).header.meta
    return `${mailbox} ${uinsOf(one)[0]?.[0]} ${sequence}`
  })
  const { rows: mailboxes } = await server.database.db.pool.query('select public_id from mailbox order by id')
  const [a, b] = mailboxes.map(({ public_id }) => public_id)
  expect(a).not.toBe(b)
  expect(numbers.toSorted()).toEqual([`${a} a 1`, `${a} a 2`, `${b} b 1`, `${b} b 2`].toSorted())
})

test('each address of a participant has a mailbox of its own, which holds no other one up', async () => {
  const participant = await newPeer({ allowed: [peer.url], notify_items: 1, schedule: [60] })
  const [a, b] = [`${peer.url}/a/on-subscribe`, `${peer.url}/b/on-subscribe`]
  const down = await rows.subscribe(participant, { sender_uri: a })
  const up = await rows.subscribe(participant, { sender_uri: b })
  peer.answer = (response, one) => answering(one.path.startsWith('/a') ? 404 : 200)(response, one)
  for (const uin of ['A', 'B']) {
    const event = await rows.event(uin)
    await rows.notify(down, event)
    await rows.notify(up, event)
  }
  await until(() =>
    expect(peer.received.map((one) => `${one.path} ${uinsOf(one)}`).toSorted()).toEqual([
      '/a/notify A',
      '/b/notify A',
      '/b/notify B',
    ]),
  )
})

test('an address that is set for notifications comes before the one that was named', async () => {
  const participant = await newPeer({ notify_url: `${peer.url}/events` })
  const subscribed = await rows.subscribe(participant, { sender_uri: `${peer.url}/on-subscribe` })
  await rows.notify(subscribed, await rows.event('A'))
  await until(() => expect(peer.received.map(({ path }) => path)).toEqual(['/events']))
})

test('the address is asked for again at each attempt: a receiver that moves gets what waits for it', async () => {
  const participant = await newPeer({ schedule: [1] })
  const subscribed = await rows.subscribe(participant)
  peer.answer = answering(503)
  await rows.notify(subscribed, await rows.event('A'))
  await until(() => expect(peer.received).toHaveLength(1))
  await setCallbackSettings(server.database.db, participant.id, { notify_url: `${peer.url}/moved` })
  peer.answer = answering(200)
  server.clock.pass(1_000)
  await server.database.db.pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
  await until(() => expect(peer.received.map(({ path }) => path)).toEqual(['/registry/notify', '/moved']))
})

test('with no address that is allowed, nothing is composed and what waits goes on waiting', async () => {
  const participant = await newPeer({ default_url: null })
  const subscribed = await rows.subscribe(participant, { sender_uri: 'https://nobody.example/on-subscribe' })
  await rows.notify(subscribed, await rows.event('A'))
  await until(async () => {
    const { rows: found } = await server.database.db.pool.query('select resting_since from mailbox')
    expect(found[0].resting_since).not.toBeNull()
  })
  expect(await rows.states()).toEqual(['waiting'])
})

test.each<[string, Partial<CallbackSettings>, string]>([
  ['taken away', { default_url: null }, 'no_address'],
  ['set to one that the guard refuses', { notify_url: 'http://192.0.2.1/notify' }, 'address_scheme'],
])('an envelope whose address is %s waits with what is behind it', async (_, after, error) => {
  const { pool } = server.database.db
  const participant = await newPeer({ notify_items: 1, schedule: [1] })
  const subscribed = await rows.subscribe(participant)
  peer.answer = answering(503)
  for (const uin of ['A', 'B']) await rows.notify(subscribed, await rows.event(uin))
  const pending = async () => (await pool.query(`select attempts from delivery where state = 'pending' and claim is null`)).rows
  await until(async () => expect(await pending()).toEqual([{ attempts: 1 }]))
  const again = () => pool.query(`update delivery set next_attempt_at = now() where state = 'pending'`)
  await setCallbackSettings(server.database.db, participant.id, after)
  server.clock.pass(60_000)
  await again()
  await until(async () => expect(await pending()).toEqual([{ attempts: 2 }]))
  const { rows: attempts } = await pool.query('select error from delivery_attempt order by number')
  expect(attempts).toEqual([{ error: 'http_5xx' }, { error }])
  expect(await rows.states()).toEqual(['sent', 'waiting'])
  await setCallbackSettings(server.database.db, participant.id, { default_url: peer.url, notify_url: null })
  peer.answer = answering(200)
  server.clock.pass(60_000)
  await again()
  await until(() => expect(received()).toEqual(['A', 'A', 'B']))
})

const mailboxRows = async () => (await server.database.db.pool.query('select * from mailbox order by id')).rows

test('what comes while the last envelope is under way is sent right behind it', async () => {
  const { mailboxes } = server.context
  let release = (): void => undefined
  const isHeld = new Promise<void>((resolve) => {
    peer.answer = (response, one) => {
      release = () => answering(200)(response, one)
      resolve()
    }
  })
  const subscribed = await rows.subscribe(await newPeer({ timeout_ms: 120_000 }))
  await rows.notify(subscribed, await rows.event('A'))
  mailboxes.due([subscribed.mailbox])
  await mailboxes.poll(working())
  await isHeld
  await rows.notify(subscribed, await rows.event('B'))
  // It does not say which mailbox: those in work are looked at again as well.
  mailboxes.anyDue()
  await mailboxes.poll(working())
  peer.answer = answering(200)
  release()
  await vi.waitFor(
    async () => {
      await mailboxes.idle()
      await mailboxes.poll(working())
      expect(received()).toEqual(['A', 'B'])
    },
    { timeout: 60_000, interval: 20 },
  )
})

test('a mailbox of which nothing is sent is given back at once, and does not rest any more', async () => {
  const { pool } = server.database.db
  const gone = await rows.subscribe(await newPeer())
  await rows.notify(gone, await rows.event('A'))
  await pool.query(`update subscription set state = 'ended', reason = 'unsubscribed', ended_at = now()`)
  await pool.query(`update mailbox set resting_since = now() - interval '13 days'`)
  await until(async () => expect(await rows.states()).toEqual(['dropped']))
  await server.context.mailboxes.idle()
  expect(await mailboxRows()).toMatchObject([{ claim: null, claimed_until: null, resting_since: null }])
})

test('a mailbox whose next envelope cannot be made rests, and the log names it', async () => {
  const subscribed = await rows.subscribe(await newPeer())
  await rows.notify(subscribed, await rows.event('A', { record_type: 'Nothing' }))
  await until(async () => expect(await mailboxRows()).toMatchObject([{ resting_since: expect.any(Date) }]))
  await server.context.mailboxes.idle()
  const [row] = await mailboxRows()
  expect(row.claimed_until.getTime() - row.resting_since.getTime()).toBe(60_000)
  expect(await rows.states()).toEqual(['waiting'])
  const logged = server.logged().match(/.*a mailbox could not be drained; tried again later.*/g) ?? []
  expect(logged.map((line) => JSON.parse(line).mailbox)).toEqual([subscribed.mailbox])
})

test('a participant that is down for three days gets everything, in order', async () => {
  const { pool } = server.database.db
  const subscribed = await rows.subscribe(await newPeer({ notify_items: 2, schedule: [1] }))
  peer.answer = answering(503)
  const published = ['A', 'B', 'C', 'D', 'E']
  for (const uin of published) await rows.notify(subscribed, await rows.event(uin))
  // Three days, with more attempts than its schedule has.
  for (const attempts of [1, 2, 3]) {
    await until(async () => {
      const { rows: found } = await pool.query(`select attempts from delivery where state = 'pending' and claim is null`)
      expect(found).toEqual([{ attempts }])
    })
    await pool.query(`update delivery set next_attempt_at = now(), since = since - interval '1 day' where state = 'pending'`)
    await pool.query(`update breaker set probe_at = now()`)
    await pool.query(`update notification set due_at = due_at - interval '1 day'`)
    await pool.query(`update event set recorded_at = recorded_at - interval '1 day'`)
    await runHousekeeping(server.context, working())
  }
  peer.answer = answering(200)
  const before = peer.received.length
  const since = () => peer.received.slice(before).flatMap(uinsOf)
  await until(async () => {
    await pool.query(`update delivery set next_attempt_at = now() where state = 'pending' and claim is null`)
    expect(since()).toEqual(published)
  })
  const [first] = peer.received.map(envelopeOf)
  for (const one of peer.received.slice(0, before + 1)) expect(envelopeOf(one).header).toEqual(first.header)
})

test('the story of a notification is found by its message_id, its reference_id and the code', async () => {
  const [subscribed, other] = [await rows.subscribe(await newPeer()), await rows.subscribe(await newPeer())]
  await rows.notify(subscribed, await rows.event('A'))
  await until(() => expect(received()).toEqual(['A']))
  const [{ header } = { header: null }] = peer.received.map(envelopeOf)
  await until(async () => {
    const [story] = await traceMessages(acting({ db: server.database.db }), { id: header.message_id })
    expect(story?.events.map(({ event }) => event)).toContain('delivered')
  })
  const [story] = await traceMessages(acting({ db: server.database.db }), { id: header.message_id })
  expect(JSON.stringify(story)).toContain('"callback":"notify"')
  expect(JSON.stringify(story)).not.toContain('UIN')
  expect(story).toMatchObject({ traced: 'exchange', operation: 'notify' })
  const [{ message } = { message: null }] = peer.received.map(envelopeOf)
  const [{ reference_id }] = message.notify_event
  const found = await traceMessages(acting({ db: server.database.db }), { id: reference_id })
  expect(validator(traceMessages.result).problem(found, '')).toBeNull()
  expect(found).toMatchObject([
    {
      traced: 'notification',
      reference_id,
      state: 'sent',
      sequence: 1,
      mailbox: header.meta.mailbox,
      subscriptions: [{ code: subscribed.code, presence: 'entered' }],
      delivery: { message_id: header.message_id, state: 'delivered' },
    },
  ])
  expect(found[0]?.events.map(({ event }) => event)).toEqual([...['occurred', 'matched', 'composed', 'attempt', 'delivered']])
  expect(JSON.stringify(found)).not.toContain('UIN')
  expect(await traceMessages(acting({ db: server.database.db }), { id: subscribed.code })).toEqual(found)
  // Waiting notifications have no reference_id yet. The newest comes first.
  await rows.notify(subscribed, await rows.event('B'), { due: 3_600 })
  const both = await traceMessages(acting({ db: server.database.db }), { id: subscribed.code })
  expect(both[0]).toMatchObject({ state: 'waiting', reference_id: null, delivery: null })
  expect(both.slice(1)).toEqual(found)
  expect(await traceMessages(acting({ db: server.database.db }), { id: subscribed.code, limit: 1 })).toHaveLength(1)
  expect(await traceMessages(acting({ db: server.database.db }), { id: other.code })).toEqual([])
})
