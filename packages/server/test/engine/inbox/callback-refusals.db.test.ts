import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { listInbox } from '@rollcall/engine/store/exchanges/inbox-list'
import { setParticipantStatus } from '@rollcall/participants/store/participants'
import { describe, expect, it, vi } from 'vitest'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { expectFault } from '../../expectations.ts'
import { envelope, event, expectAck, inboxServer } from '../../inbox.ts'
import { bearer, post, testServer } from '../../server.ts'

const { server, registry, send } = await inboxServer()

const storedCount = async (): Promise<number> => (await listInbox(server.database.db, { limit: 10_000 })).length

const TYPE_RULE = 'Content-Type: must be application/json, application/*+json or text/*'
const PAGE_RULE =
  'Content-Type: must be application/json or application/*+json, because the request has the header Origin, as those of web pages do'

describe('a callback that is refused', () => {
  it.each<[string, string, Parameters<typeof envelope>[1], number, string, string | RegExp]>([
    ['another sender', 'notify', { header: { sender_id: 'x' } }, 403, 'err.sender_id.invalid', /^header\.sender_id: /],
    [
      'another receiver',
      'notify',
      { header: { receiver_id: 'x' } },
      400,
      'err.receiver_id.invalid',
      'header.receiver_id: is not this registry',
    ],
    [
      'another version',
      'notify',
      { header: { version: '2.0.0' } },
      400,
      'err.version.not_supported',
      'header.version: must be 1.0.0',
    ],
    [
      'another action',
      'notify',
      { header: { action: 'on-search' } },
      400,
      'err.request.bad',
      'rjct.action.invalid: header.action: must be notify on this path',
    ],
    [
      'an unknown action',
      'notify',
      { header: { action: 'sing' } },
      400,
      'err.request.bad',
      /^rjct\.action\.not_supported: header\.action: /,
    ],
    ['no status', 'on-search', { header: { status: undefined } }, 400, 'err.request.bad', 'header.status: is required'],
    [
      'an unknown status',
      'on-subscribe',
      { header: { status: 'sung' } },
      400,
      'err.request.bad',
      /^header\.status: must be one of /,
    ],
    ['no message_ts', 'notify', { header: { message_ts: undefined } }, 400, 'err.request.bad', 'header.message_ts: is required'],
    [
      'no correlation_id',
      'on-search',
      { message: { correlation_id: undefined } },
      400,
      'err.request.bad',
      'message.correlation_id: is required',
    ],
    [
      'a malformed correlation_id',
      'on-search',
      { message: { correlation_id: 'a b' } },
      400,
      'err.request.bad',
      'message.correlation_id: may hold only letters, digits and "-"',
    ],
    [
      'no items',
      'on-search',
      { message: { search_response: undefined } },
      400,
      'err.request.bad',
      'message.search_response: is required',
    ],
    [
      'another total_count',
      'notify',
      { header: { total_count: 4 } },
      400,
      'err.request.bad',
      'rjct.total_count.invalid: header.total_count: must be the number of items in message.notify_event',
    ],
    [
      'too many events',
      'notify',
      { message: { notify_event: Array.from({ length: 11 }, () => event) } },
      400,
      'err.request.bad',
      'rjct.total_count.limit_exceeded: message.notify_event: must have at most 10 items',
    ],
  ])('with %s', async (_name, callback, changes, status, code, text) => {
    const before = await storedCount()
    const answer = await send(callback, envelope(callback, changes))
    const told = answer.body.message.error.message
    if (typeof text === 'string') expect(told).toBe(text)
    else expect(told).toMatch(text)
    expectFault(answer, status, code, told)
    expect(await storedCount()).toBe(before)
  })

  it('without token, as no JSON, as a file, at a registry that is not there', async () => {
    const body = envelope('notify')
    const nobody = { ...registry, token: 'x' }
    expect((await send('notify', body, nobody)).status).toBe(401)
    expectFault(await send('notify', 'sing'), 400, 'err.request.bad', 'not JSON: a value is expected at character 1')
    const type = { 'Content-Type': 'multipart/form-data; boundary=x' }
    const file = await send('notify', body, registry, server, type)
    expectFault(file, 415, 'err.request.bad', TYPE_RULE)
    const nowhere = await post(`${server.url}/nowhere/v1.0.0/registry/notify`, body, bearer(registry))
    expectFault(nowhere, 404, 'err.request.not_found', 'there is no such namespace or path here')
  })

  it.each([
    ['application/octet-stream', {}, TYPE_RULE],
    ['text/', {}, TYPE_RULE],
    ['text/plain;charset=utf-16', {}, 'Content-Type: charset must be utf-8'],
    // A web page may send these without asking.
    ['text/plain', { Origin: 'https://page.example' }, PAGE_RULE],
    ['', { Origin: 'null' }, PAGE_RULE],
  ])('of the type %j with %j', async (type, more, text) => {
    const headers = { 'Content-Type': type, ...more }
    expectFault(await send('notify', envelope('notify'), registry, server, headers), 415, 'err.request.bad', text)
  })

  it('above what a participant may have kept in a day; what is there is acknowledged all the same', async () => {
    const small = await testServer({ limits: { inbox_messages: 3, inbox_bytes: 1_000_000 } })
    try {
      await small.registry('civil')
      const peer = await small.participant(registry.sender_id)
      const sent = Array.from({ length: 3 }, () => envelope('notify'))
      for (const body of sent) expectAck(await send('notify', body, peer, small))
      small.clock.pass(SETTINGS_AGE)
      const refused = await send('notify', envelope('notify'), peer, small)
      const text = 'too many requests: at most 3 callbacks and 1000000 bytes of them a day'
      expectFault(refused, 429, 'err.request.too_many_requests', text)
      const wait = Number(refused.headers.get('retry-after'))
      expect(wait).toBeGreaterThan(0)
      expect(wait).toBeLessThanOrEqual(86_400)
      expectAck(await send('notify', sent[0] ?? {}, peer, small))
      const other = await small.participant('other.example')
      const theirs = envelope('notify', { header: { sender_id: other.sender_id } })
      expectAck(await send('notify', theirs, other, small))
    } finally {
      await small.close()
    }
  })

  it('from a participant that is disabled while the body comes', async () => {
    const { sender_id } = registry
    const before = await storedCount()
    const found = vi.spyOn(server.context.directory, 'activeParticipant')
    const url = `${server.url}/civil/v1.0.0/registry/notify`
    const sent = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...bearer(registry) } })
    const answered = once(sent, 'response')
    sent.write('{')
    await expect.poll(() => found.mock.calls.length).toBe(1)
    expect(await found.mock.results[0]?.value).toMatchObject({ sender_id })
    found.mockRestore()
    await setParticipantStatus(server.database.db, sender_id, 'disabled')
    server.clock.pass(SETTINGS_AGE)
    sent.end(JSON.stringify(envelope('notify')).slice(1))
    const [response]: IncomingMessage[] = await answered
    const refused = JSON.parse(await readText(response as IncomingMessage))
    await setParticipantStatus(server.database.db, sender_id, 'active')
    server.clock.pass(SETTINGS_AGE)
    const message = 'Authorization: the access token is not valid here or has expired; ask for a new one'
    expect([response?.statusCode, refused.errors]).toEqual([401, [{ code: 'err.request.unauthorized', message }]])
    expect(await storedCount()).toBe(before)
  })

  it('by the quota that every request has', async () => {
    const strict = await server.participant('slow.example', { rate_limit: 1 })
    const bodies = Array.from({ length: 5 }, () => envelope('notify', { header: { sender_id: strict.sender_id } }))
    const answers = await Promise.all(bodies.map((body) => send('notify', body, strict)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { body } of refused) expect(body.message.error.code).toBe('err.request.too_many_requests')
  })
})
