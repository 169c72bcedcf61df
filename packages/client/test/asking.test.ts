/** How a client asks: against a registry on loopback that answers, refuses, hangs, drops and comes back. */
import { describe, expect, it } from 'vitest'
import { AckError, callbacksAt, TransportError } from '../src/index.ts'
import { ack, dropping, finding, hanging, json, type Loopback, type Respond, refusing } from './loopback.ts'

import { ADA, client, failure, QUICK, registry } from './world.ts'

describe('a request', () => {
  it('carries every member of the header, and items that are named and dated', async () => {
    const asking = await client([finding([])], { receiver_id: 'civil.example' })
    await asking.search([ADA, { reference_id: 'mine', search_criteria: ADA }], { transaction_id: 'tx-7', meta: { case: 'a' } })
    const [{ path, headers, body }] = registry.asked as [Loopback['asked'][number]]
    expect(path).toBe('/civil/v1.0.0/registry/sync/search')
    expect(headers['content-type']).toBe('application/json')
    expect(body.header).toEqual({
      version: '1.0.0',
      message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      message_ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      action: 'search',
      sender_id: 'sp.example',
      receiver_id: 'civil.example',
      total_count: 2,
      is_msg_encrypted: false,
      meta: { case: 'a' },
    })
    expect(body.message).toEqual({
      transaction_id: 'tx-7',
      search_request: [
        { reference_id: '1', timestamp: expect.any(String), search_criteria: ADA },
        { reference_id: 'mine', timestamp: expect.any(String), search_criteria: ADA },
      ],
    })
  })

  it('names the address of its callback where the result comes later', async () => {
    const asking = await client([ack()], { sender_uri: callbacksAt('https://sp.example/civil/') })
    const accepted = await asking.searchAsync(ADA)
    expect(accepted).toEqual({
      ack_status: 'ACK',
      correlation_id: 'c-1',
      transaction_id: registry.asked[0]?.body.message.transaction_id,
      timestamp: '2026-02-03T09:15:00.000Z',
    })
    await asking.subscribeAsync({ reg_event_type: 'Death', notify_record_type: 'Person' })
    await asking.unsubscribeAsync('S-1')
    await asking.txnStatusAsync({ attribute_type: 'transaction_id', attribute_value: 'tx-7' })
    expect(registry.asked.map(({ path, body }) => [path, body.header.action, body.header.sender_uri])).toEqual([
      ['/civil/v1.0.0/registry/search', 'search', 'https://sp.example/civil/registry/on-search'],
      ['/civil/v1.0.0/registry/subscribe', 'subscribe', 'https://sp.example/civil/registry/on-subscribe'],
      ['/civil/v1.0.0/registry/unsubscribe', 'unsubscribe', 'https://sp.example/civil/registry/on-unsubscribe'],
      ['/civil/v1.0.0/registry/txn/status', 'txn-status', 'https://sp.example/civil/registry/txn/on-status'],
    ])
    expect(registry.asked[2]?.body.message.subscription_codes).toEqual(['S-1'])
  })

  it('is told by NACK that nothing will follow', async () => {
    const asking = await client([ack('NACK')])
    expect((await asking.searchAsync(ADA)).ack_status).toBe('NACK')
  })
})

describe('what is sent again', () => {
  it.each([
    ['a connection that breaks off', dropping],
    ['502', refusing(502, 'err.service.unavailable')],
    ['503', refusing(503, 'err.service.unavailable')],
    ['504', refusing(504, 'err.request.timeout')],
    ['429', refusing(429, 'err.request.too_many_requests')],
  ])('after %s, with the same header and message', async (_name, trouble) => {
    const asking = await client([trouble, trouble, finding([{ '@type': 'Person' }])])
    expect(await asking.searchOne(ADA)).toEqual({ '@type': 'Person' })
    const [first, second, third] = registry.asked.map(({ text }) => text)
    expect(registry.asked).toHaveLength(3)
    expect([second, third]).toEqual([first, first])
  })

  it('gives up where Retry-After asks for more than is waited', async () => {
    const limited = refusing(429, 'err.request.too_many_requests', { 'Retry-After': '3600' })
    const error = await failure((await client([limited])).search(ADA))
    expect(error).toBeInstanceOf(AckError)
    expect(error).toMatchObject({
      code: 'err.request.too_many_requests',
      message: 'because of err.request.too_many_requests',
      httpStatus: 429,
      retryAfter: 3_600_000,
      correlation_id: 'c-err',
    })
    expect(registry.asked).toHaveLength(1)
  })

  it('says how often it tried, and why it failed in the end', async () => {
    const broken = await failure((await client([dropping])).search(ADA))
    expect(broken).toBeInstanceOf(TransportError)
    expect(broken).toMatchObject({
      reason: 'unreachable',
      message: 'the address cannot be reached or broke the connection off',
      attempts: 4,
    })
    expect(registry.asked).toHaveLength(4)

    const away = await failure((await client([refusing(503, 'err.service.unavailable')])).search(ADA))
    expect(away).toMatchObject({ name: 'AckError', code: 'err.service.unavailable', httpStatus: 503 })
    expect(registry.asked).toHaveLength(4)
  })

  it('does not wait longer than told for a server that hangs', async () => {
    const asking = await client([hanging], { timeout: 60, retry: { ...QUICK, attempts: 2 } })
    const error = await failure(asking.search(ADA))
    expect(error).toMatchObject({ reason: 'timeout', message: 'no answer within 60 ms', attempts: 2 })
  })

  it('ends when the caller does, in a request or a pause', async () => {
    const asking = await client([hanging])
    expect(await failure(asking.search(ADA, { signal: AbortSignal.abort(new Error('enough')) }))).toEqual(new Error('enough'))
    const soon = AbortSignal.timeout(50)
    expect(await failure(asking.search(ADA, { signal: soon }))).toBe(soon.reason)

    const slow = await client([dropping], { retry: { first_pause: 10_000 } })
    const later = AbortSignal.timeout(50)
    expect(await failure(slow.search(ADA, { signal: later }))).toBe(later.reason)
  })
})

describe('what is not sent again', () => {
  it('a request that was refused', async () => {
    const error = await failure((await client([refusing(400, 'err.request.bad')])).search(ADA))
    expect(error).toBeInstanceOf(AckError)
    expect(error).toMatchObject({
      code: 'err.request.bad',
      httpStatus: 400,
      errors: [{ code: 'err.request.bad', message: 'because of err.request.bad' }],
    })
    expect(registry.asked).toHaveLength(1)
  })

  it('an ERR in a 200', async () => {
    const error = await failure((await client([refusing(200, 'err.sender_uri.invalid')])).searchAsync(ADA))
    expect(error).toMatchObject({ name: 'AckError', code: 'err.sender_uri.invalid', httpStatus: 200 })
  })

  it('a redirect, which is not followed', async () => {
    const moved: Respond = (_asked, response) => json(response, 307, {}, { Location: 'http://127.0.0.1:9/' })
    const error = await failure((await client([moved])).search(ADA))
    expect(error).toMatchObject({
      reason: 'redirected',
      message: 'the registry redirects to another address; redirects are not followed',
      httpStatus: 307,
      attempts: 1,
    })
  })

  it('an answer that is none of this protocol', async () => {
    const page: Respond = (_asked, response) => {
      response.writeHead(500, { 'Content-Type': 'text/html' }).end('<h1>oops</h1>')
      return undefined
    }
    const error = await failure((await client([page, () => ({ hello: 1 })])).search(ADA))
    expect(error).toMatchObject({
      reason: 'unreadable',
      message: 'HTTP status 500 without an error of this protocol',
      httpStatus: 500,
    })
  })

  it('an answer that cannot be read', async () => {
    const asking = await client([() => ({ hello: 1 })])
    expect(await failure(asking.search(ADA))).toMatchObject({
      reason: 'unreadable',
      message: 'header: must be an object',
      httpStatus: 200,
      attempts: 1,
    })
    expect(await failure(asking.searchAsync(ADA))).toMatchObject({ reason: 'unreadable', message: 'the answer is no ack' })
  })

  it('an answer that cannot be read, with the attempts before it', async () => {
    const unreadable = { reason: 'unreadable', httpStatus: 200, attempts: 2 }
    const script = [dropping, () => ({ hello: 1 })]
    expect(await failure((await client(script)).search(ADA))).toMatchObject(unreadable)
    expect(await failure((await client(script)).searchAsync(ADA))).toMatchObject(unreadable)
  })

  it('an answer that is too large', async () => {
    const asking = await client([finding([{ filler: 'x'.repeat(5_000) }])], { max_answer_bytes: 2_000 })
    expect(await failure(asking.search(ADA))).toMatchObject({
      reason: 'too_large',
      message: 'the answer must be at most 2000 bytes',
    })
  })
})
