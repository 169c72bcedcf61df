/** Repeated subscribe requests: for an existing subscription, a renewed one, or one made live again. */
import { randomUUID } from 'node:crypto'
import { publishEvent } from '@rollcall/admin/events/publish'
import { describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { accepted, answerExchange, deliverAll } from '../../asynchronous.ts'
import {
  about,
  called,
  codeOf,
  sentTo,
  storedSubscription,
  subscribed,
  subscribeFor,
  subscribingServer,
} from '../../subscribing.ts'

const { server, newPeer } = await subscribingServer()
const { pool } = server.database.db
const peer = await newPeer()

const IN = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()
const MOVED = 'the sender_uri of this request counts for its notifications from now on'
/** A person that no other test subscribes to. */
const uin = (): string => `U-${randomUUID()}`

describe('the same again', () => {
  it('is already subscribed to, and the code is named', async () => {
    const person = uin()
    const code = await codeOf(server, peer, about(person))
    const { header, message } = await called(
      server,
      peer,
      subscribeFor(peer, [about(person, { filter_type: undefined, filter: { UIN: { $eq: person } } })]),
    )
    expect(header).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.errors.too_many' })
    expect(message.subscribe_response).toEqual([
      {
        reference_id: 's-0',
        timestamp: expect.any(String),
        status: 'rjct',
        status_reason_code: 'rjct.event.already_subscribed',
        status_reason_message: `subscribe_criteria: the same is subscribed to under the code ${code}`,
      },
    ])
  })

  it('in one request is subscribed to once', async () => {
    const person = uin()
    const [first, second] = await subscribed(server, peer, [about(person), about(person)])
    expect(first.status).toBe('succ')
    expect(second).toMatchObject({ status: 'rjct', status_reason_code: 'rjct.event.already_subscribed' })
    expect(second.status_reason_message).toContain(first.subscriptions[0].code)
  })

  it('at once is subscribed to once, and refused as often as it came again', async () => {
    const person = uin()
    const ids = await Promise.all(
      [1, 2, 3, 4].map(() => accepted(server, peer, subscribeFor(peer, [about(person)]), 'subscribe')),
    )
    await Promise.all(ids.map((id) => answerExchange(server, id)))
    await deliverAll(server)
    const items = ids.map((id) => sentTo(peer, id).message.subscribe_response[0])
    const made = items.filter(({ status }) => status === 'succ')
    expect(made).toHaveLength(1)
    const { code } = made[0].subscriptions[0]
    const others = items.filter(({ status }) => status === 'rjct')
    expect(others.map(({ status_reason_code }) => status_reason_code)).toEqual(Array(3).fill('rjct.event.already_subscribed'))
    for (const { status_reason_message } of others) expect(status_reason_message).toContain(code)
    const same = await pool.query(`select code from subscription where criteria like '%' || $1 || '%'`, [person])
    expect(same.rows).toEqual([{ code }])
  })

  it('by somebody else, in another registry, and for another event is another one', async () => {
    const person = uin()
    const other = await newPeer()
    await server.registry('civil', [], `civil-${randomUUID().slice(0, 8)}`)
    const codes = new Set([
      await codeOf(server, peer, about(person)),
      await codeOf(server, other, about(person)),
      await codeOf(server, peer, about(person, { reg_event_type: 'Death' })),
      await codeOf(server, peer, about(person, {}, 'social'), 'social'),
    ])
    expect(codes.size).toBe(4)
  })

  it('after it ended is a new one', async () => {
    const person = uin()
    const code = await codeOf(server, peer, about(person))
    await pool.query(`update subscription set state = 'ended' where code = $1`, [code])
    await pool.query('delete from subscription_key where subscription = (select id from subscription where code = $1)', [code])
    expect(await codeOf(server, peer, about(person))).not.toBe(code)
  })

  it('with another end_time renews it under its code', async () => {
    const person = uin()
    const frequency = { start_time: IN(-1), end_time: IN(10), frequency: 'daily' }
    const code = await codeOf(server, peer, about(person, { frequency }))
    const later = { ...frequency, end_time: IN(20) }
    const [item] = await subscribed(server, peer, [about(person, { frequency: later })])
    expect(item).toMatchObject({ status: 'succ', subscriptions: [{ code, frequency: later }] })
    expect(item.status_reason_message).toMatch(/^renewed under its code: it ends at the new end_time; next notifications at /)
    expect(await storedSubscription(server, code)).toMatchObject([{ state: 'live', end_at: new Date(later.end_time), keys: 1 }])
    const [again] = await subscribed(server, peer, [about(person, { frequency: later })])
    expect(again.status_reason_code).toBe('rjct.event.already_subscribed')
  })

  it('with another end_time in one request has the last one', async () => {
    const person = uin()
    const frequency = { start_time: IN(-1), end_time: IN(10), frequency: 'daily' }
    const later = { ...frequency, end_time: IN(20) }
    const [first, second] = await subscribed(server, peer, [about(person, { frequency }), about(person, { frequency: later })])
    const { code } = first.subscriptions[0]
    expect(second).toMatchObject({ status: 'succ', subscriptions: [{ code }] })
    expect(await storedSubscription(server, code)).toMatchObject([{ end_at: new Date(later.end_time) }])
  })

  it('with another end_time from another address moves what waits for it there, and says so', async () => {
    const person = uin()
    const frequency = { start_time: IN(-1), end_time: IN(10), frequency: 'daily' }
    const code = await codeOf(server, peer, about(person, { frequency }))
    const record = { identifier: [{ identifier_type: 'UIN', identifier_value: person }] }
    const deps = { db: server.database.db, limits: server.context.limits }
    const publish = () => publishEvent(acting(deps), { namespace: 'civil', reg_event_type: 'LiveBirth', record })
    await publish()
    const sender_uri = `${peer.receiver.url}/mine/on-subscribe`
    const renewedUntil = (days: number, header: object) =>
      subscribed(server, peer, [about(person, { frequency: { ...frequency, end_time: IN(days) } })], { header })
    const [item] = await renewedUntil(20, { sender_uri })
    expect(item).toMatchObject({ status: 'succ', subscriptions: [{ code }] })
    expect(item.status_reason_message).toContain(
      `renewed under its code: it ends at the new end_time; ${MOVED}; next notifications at `,
    )
    await publish()
    const waiting = () =>
      pool.query(
        `select distinct mailbox.sender_uri, count(*)::int from notification join mailbox on mailbox.id = notification.mailbox
         where subscription = (select id from subscription where code = $1) group by mailbox.sender_uri`,
        [code],
      )
    expect((await waiting()).rows).toEqual([{ sender_uri, count: 2 }])
    // From the same address again nothing moves.
    const [again] = await renewedUntil(30, { sender_uri })
    expect(again.status_reason_message).not.toContain(MOVED)
    // An address that is not allowed is refused as always, and moves nothing.
    const refused = subscribeFor(peer, [about(person, { frequency: { ...frequency, end_time: IN(40) } })], {
      header: { sender_uri: `${peer.receiver.url}/elsewhere/on-subscribe` },
    })
    await expect(accepted(server, peer, refused, 'subscribe')).rejects.toThrow()
    expect((await waiting()).rows).toEqual([{ sender_uri, count: 2 }])
    // A request without an address is answered at the default one.
    const [back] = await renewedUntil(50, {})
    expect(back.status_reason_message).toContain(MOVED)
    expect((await waiting()).rows).toEqual([{ sender_uri: '', count: 2 }])
  })

  it('of one that was suspended makes it live again, for the address of the request', async () => {
    const person = uin()
    const code = await codeOf(server, peer, about(person))
    await pool.query(`update subscription set state = 'suspended' where code = $1`, [code])
    await pool.query('delete from subscription_key where subscription = (select id from subscription where code = $1)', [code])
    const sender_uri = `${peer.receiver.url}/mine/on-subscribe`
    const [item] = await subscribed(server, peer, [about(person)], { header: { sender_uri } })
    expect(item).toMatchObject({
      status: 'succ',
      status_reason_message: `it was suspended and is live again under its code; ${MOVED}`,
      subscriptions: [{ code }],
    })
    expect(await storedSubscription(server, code)).toMatchObject([{ state: 'live', keys: 1, sender_uri }])
  })
})
