/** The answer to an unsubscribe request, and the subscriptions that it ends. */

import { randomUUID } from 'node:crypto'
import { CallbackHeader, operation, RequestHeader, UnSubscribeResponse, validator } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { failedOutcome } from '../../../../engine/src/operations/handlers.ts'
import { grant } from '../../../../participants/test/grants.ts'
import { accepted, answerExchange, deliverAll } from '../../asynchronous.ts'
import { expectFault } from '../../expectations.ts'
import { bearer, post } from '../../server.ts'
import {
  about,
  called,
  codeOf,
  KIND_NAMES,
  sentTo,
  subscribed,
  subscribingServer,
  TYPES,
  unsubscribeFor,
} from '../../subscribing.ts'

const { server, newPeer } = await subscribingServer()
const { pool } = server.database.db
const peer = await newPeer()
const other = await newPeer()

const uin = (): string => `U-${randomUUID()}`
const end = async (codes: unknown, by = peer) => (await called(server, by, unsubscribeFor(by, codes))).message
const stored = async (code: string) =>
  (
    await pool.query(
      `select state, reason, ended_by,
        (select count(*)::integer from subscription_key where subscription = subscription.id) as keys
       from subscription where code = $1`,
      [code],
    )
  ).rows[0]

describe.each(KIND_NAMES)('in a registry of kind %s', (kind) => {
  it('a subscription is ended, and named', async () => {
    const code = await codeOf(server, peer, about(uin(), {}, kind), kind)
    const body = unsubscribeFor(peer, [code])
    const { path, header, message } = await called(server, peer, body, kind)
    expect(path).toBe('/registry/on-unsubscribe')
    expect(validator(CallbackHeader).problem(header, 'header')).toBeNull()
    expect(validator(RequestHeader).problem(header, 'header')).toBeNull()
    expect(header).toMatchObject({ action: 'on-unsubscribe', status: 'succ', total_count: 1, completed_count: 1 })
    expect(validator(UnSubscribeResponse).problem(message, 'message')).toBeNull()
    expect(message).toEqual({
      transaction_id: body.message.transaction_id,
      correlation_id: expect.any(String),
      timestamp: expect.stringMatching(/Z$/),
      status: 'succ',
      subscription_status: [{ code, status: 'unsubscribe' }],
    })
    expect(await stored(code)).toEqual({ state: 'ended', reason: 'unsubscribed', ended_by: message.correlation_id, keys: 0 })
  })
})

describe('the timestamp', () => {
  it.each([
    ['is left out', { timestamp: undefined }],
    ['is empty', { timestamp: '' }],
    ['is null', { timestamp: null }],
    ['is written timesstamp', { timestamp: undefined, timesstamp: new Date().toISOString() }],
  ])('may be one that %s, and the code a bare one', async (_, changes) => {
    for (const kind of ['civil', 'social']) {
      const code = await codeOf(server, peer, about(uin(), {}, kind), kind)
      const body = unsubscribeFor(peer, code, { message: changes })
      const { message } = await called(server, peer, body, kind)
      expect(message).toMatchObject({ status: 'succ', subscription_status: [{ code }] })
      expect(message.timestamp).toMatch(/Z$/)
    }
  })

  it('may be beside codes that are called subscription_code, which must be codes', async () => {
    const code = await codeOf(server, peer, about(uin()))
    const named = (subscription_code: unknown) => unsubscribeFor(peer, undefined, { message: { subscription_code } })
    const { message } = await called(server, peer, named([code]))
    expect(message).toMatchObject({ status: 'succ', subscription_status: [{ code }] })
    expectFault(
      await post(`${server.url}/civil/v1.0.0/registry/unsubscribe`, named([]), bearer(peer)),
      400,
      'err.request.bad',
      'message.subscription_codes: must have at least 1 elements',
    )
  })

  it('does not save a request of more codes than one request may have', async () => {
    const body = unsubscribeFor(peer, Array(10_001).fill('SUB-1'))
    const answer = await post(`${server.url}/civil/v1.0.0/registry/unsubscribe`, body, bearer(peer))
    expectFault(answer, 400, 'err.request.bad', 'message.subscription_codes: must have at most 10000 elements')
  })

  it('of the wrong form refuses the request', async () => {
    const body = unsubscribeFor(peer, ['SUB-1'], { message: { timestamp: 'yesterday' } })
    const answer = await post(`${server.url}/civil/v1.0.0/registry/unsubscribe`, body, bearer(peer))
    expectFault(
      answer,
      400,
      'err.request.bad',
      'message.timestamp: must be a date-time with a time zone, such as 2026-02-03T09:15:00Z',
    )
  })
})

describe('codes that end nothing', () => {
  const rejected = (code: string, text: string) => ({
    transaction_id: expect.any(String),
    correlation_id: expect.any(String),
    timestamp: expect.any(String),
    status: 'rjct',
    status_reason_code: code,
    status_reason_message: text,
  })
  const UNKNOWN = 'not ended, since they are no subscriptions of this sender here: '

  it('are those that never were', async () => {
    expect(await end(['NO-SUCH', 'SUB-é'])).toEqual(rejected('rjct.subscription_code.invalid', `${UNKNOWN}NO-SUCH, SUB-é`))
  })

  it("are somebody else's, which are answered as those that never were", async () => {
    const code = await codeOf(server, other, about(uin()))
    expect(await end([code])).toEqual(rejected('rjct.subscription_code.invalid', UNKNOWN + code))
    expect(await stored(code)).toMatchObject({ state: 'live', keys: 1 })
  })

  it("are one's own in another registry", async () => {
    const code = await codeOf(server, peer, about(uin(), {}, 'social'), 'social')
    expect(await end([code])).toEqual(rejected('rjct.subscription_code.invalid', UNKNOWN + code))
  })

  it('are those that ended before', async () => {
    const code = await codeOf(server, peer, about(uin()))
    await end([code])
    const ended = `not ended, since they had ended before: ${code}`
    expect(await end([code])).toEqual(rejected('rjct.event.already_unsubscribed', ended))
    // The most specific of several reasons is named.
    expect(await end(['NO-SUCH', code])).toEqual(rejected('rjct.event.already_unsubscribed', `${ended}; ${UNKNOWN}NO-SUCH`))
  })

  it('are those to which their owner has lost the right', async () => {
    const free = await newPeer({}, { unfiltered: true })
    const [item] = await subscribed(server, free, [{ ...TYPES.civil }])
    const { code } = item.subscriptions[0]
    const filtered = await codeOf(server, free, about(uin()))
    await grant(server.database, free.sender_id, 'civil', { unfiltered: false })
    server.clock.pass(1_000)
    const LOST = `not ended, since this sender has lost the right to them: ${code}`
    expect(await end([code, 'NO-SUCH'], free)).toEqual(rejected('rjct.requester.invalid', `${LOST}; ${UNKNOWN}NO-SUCH`))
    expect(await end([filtered], free)).toMatchObject({ status: 'succ' })
    expect(await stored(code)).toMatchObject({ state: 'live', keys: 1 })
  })
})

it('some that end and some that do not: the ended ones are listed, the others named', async () => {
  const code = await codeOf(server, peer, about(uin()))
  const ended = await codeOf(server, peer, about(uin()))
  await end([ended])
  const { header, message } = await called(server, peer, unsubscribeFor(peer, ['NO-SUCH', code, ended, code]))
  const text = `not ended, since they had ended before: ${ended}; not ended, since they are no subscriptions of this sender here: NO-SUCH`
  expect(header).toMatchObject({ status: 'succ', status_reason_message: text, total_count: 3 })
  expect(message).toMatchObject({
    status: 'succ',
    status_reason_message: text,
    subscription_status: [{ code, status: 'unsubscribe' }],
  })
  expect(message).not.toHaveProperty('status_reason_code')
})

it('the same code at once ends it once', async () => {
  const code = await codeOf(server, peer, about(uin()))
  const ids = await Promise.all([1, 2, 3].map(() => accepted(server, peer, unsubscribeFor(peer, [code]), 'unsubscribe')))
  await Promise.all(ids.map((id) => answerExchange(server, id)))
  await deliverAll(server)
  const answers = ids.map((id) => sentTo(peer, id).message)
  expect(answers.map(({ status, status_reason_code }) => status_reason_code ?? status).toSorted()).toEqual([
    'rjct.event.already_unsubscribed',
    'rjct.event.already_unsubscribed',
    'succ',
  ])
})

it('ten thousand codes in one request, of which all but two are unknown', async () => {
  const codes = [await codeOf(server, peer, about(uin())), await codeOf(server, peer, about(uin()))]
  const unknown = Array.from({ length: 9_998 }, (_, index) => `NO-SUCH-${index}`)
  const { header, message } = await called(server, peer, unsubscribeFor(peer, [codes[0], ...unknown, codes[1]]))
  expect(header).toMatchObject({ status: 'succ', total_count: 10_000, completed_count: 10_000 })
  expect(message.subscription_status).toEqual(codes.map((code) => ({ code, status: 'unsubscribe' })))
  expect(message.status_reason_message.length).toBeLessThanOrEqual(999)
  expect(message.status_reason_message).toMatch(/NO-SUCH-0, NO-SUCH-1, .*; and \d+ more$/)
  expect(validator(UnSubscribeResponse).problem(message, 'message')).toBeNull()
})

describe('a code', () => {
  it('of 99 characters is one, of 100 refuses the request', async () => {
    const send = (length: number) =>
      post(`${server.url}/civil/v1.0.0/registry/unsubscribe`, unsubscribeFor(peer, ['x'.repeat(length)]), bearer(peer))
    expect((await send(99)).body.message.ack_status).toBe('ACK')
    expectFault(await send(100), 400, 'err.request.bad', 'message.subscription_codes[0]: must have at most 99 characters')
  })

  it.each([
    [undefined, 'message.subscription_codes: is required'],
    [[], 'message.subscription_codes: must have at least 1 elements'],
    [[7], 'message.subscription_codes[0]: must be a string'],
    [[''], 'message.subscription_codes[0]: must not be empty'],
    [{ code: 'x' }, 'message.subscription_codes: must be an array'],
  ])('list %j refuses the request', async (codes, text) => {
    const answer = await post(`${server.url}/civil/v1.0.0/registry/unsubscribe`, unsubscribeFor(peer, codes), bearer(peer))
    expectFault(answer, 400, 'err.request.bad', text)
  })
})

it('outside the window of timestamps nothing is ended', async () => {
  const strict = await subscribingServer({ limits: { timestamp_window: 60 } })
  const by = await strict.newPeer()
  const code = await codeOf(strict.server, by, about(uin()))
  const body = unsubscribeFor(by, [code], { message: { timestamp: '2020-01-01T00:00:00Z' } })
  const { message } = await called(strict.server, by, body)
  expect(message).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.timestamp.invalid',
    status_reason_message: 'timestamp: must lie within 60 seconds of now',
  })
  expect((await called(strict.server, by, unsubscribeFor(by, [code]))).message.status).toBe('succ')
})

it('a failure of the registry has the shape of an answer as well', () => {
  const exchange = { operation: operation('unsubscribe'), correlation_id: 'c-1' }
  const { status, members } = failedOutcome(exchange, 'tx-1', [], { page: 1, count: 1 })
  const message = { transaction_id: 'tx-1', correlation_id: 'c-1', ...members }
  expect(validator(UnSubscribeResponse).problem(message, 'message')).toBeNull()
  expect([status, message]).toMatchObject([
    'rjct',
    { status: 'rjct', status_reason_message: expect.stringMatching(/^the registry failed to answer/) },
  ])
})

describe('a subscription that ended by itself', () => {
  it.each(['death', 'expired'])('(%s) is answered as ended, and taken back', async (reason) => {
    const code = await codeOf(server, peer, about(uin()))
    await pool.query(`update subscription set state = 'ended', reason = $2, ended_at = now() where code = $1`, [
      ...[code, reason],
    ])
    for (let times = 0; times < 2; times += 1) {
      expect(await end([code])).toMatchObject({
        status: 'rjct',
        status_reason_code: 'rjct.event.already_unsubscribed',
        status_reason_message: `not ended, since they had ended before: ${code}`,
      })
      expect(await stored(code)).toMatchObject({ state: 'ended', reason: 'unsubscribed', ended_by: null })
    }
  })

  it('by the operator stays so', async () => {
    const code = await codeOf(server, peer, about(uin()))
    await pool.query(`update subscription set state = 'ended', reason = 'cancelled' where code = $1`, [code])
    await end([code])
    expect(await stored(code)).toMatchObject({ reason: 'cancelled' })
  })
})
