/** Bodies that are refused before it is looked at who sent them: not JSON, too large, too deep, of another type. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { setParticipantStatus } from '@rollcall/participants/store/participants'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ADA, civilServer } from '../../civil.ts'
import { expectFault } from '../../expectations.ts'
import { bearer } from '../../server.ts'

const {
  server,
  peer: ada,
  url,
  send,
  search: valid,
} = await civilServer([ADA], { limits: { body_bytes: 2_000_000, batch_items: 10 } })

afterEach(() => expect(server.logged()).not.toMatch(/Okoro|B-5521|0012/))

const TYPE_RULE = 'Content-Type: must be application/json or application/*+json'

describe('2. what was sent', () => {
  it.each([
    ['not JSON', 'nonsense', /^not JSON: a value is expected at character 1$/],
    ['nothing', '', /^not JSON: a value is expected at character 1$/],
    ['an array', [], /^body: must be a JSON object with header and message$/],
    ['a string', '"text"', /^body: must be a JSON object with header and message$/],
    ['no header', { message: {} }, /^header: must be an object$/],
    ['no message', { header: {} }, /^message: must be an object$/],
    ['a message that is a string', { header: {}, message: 'x' }, /^message: must be an object$/],
  ])('%s', async (_name, body, message) => {
    const answer = await send(body as object)
    expect(answer.body.message.error.message).toMatch(message)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })

  it('a repeated member name, in any spelling and at any depth', async () => {
    const text = JSON.stringify(valid())
    for (const repeated of [
      text.replace('"meta":{}', '"meta":{"a":1,"\\u0061":2}'),
      text.replace('"query_type"', '"query_type":"graphql","query_type"'),
      text.replace('{"header"', '{"header":{},"header"'),
    ]) {
      const answer = await send(repeated)
      expect(answer.body.message.error.message).toMatch(/duplicate|twice|repeated/)
      expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
    }
  })

  it.each([64, 10_000, 200_000])('nesting of %d levels', async (depth) => {
    const text = JSON.stringify(valid()).replace('"meta":{}', `"meta":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    const answer = await send(text)
    expect(answer.body.message.error.message).toMatch(/64 levels/)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })

  it.each([
    ['a NUL', '\\u0000'],
    ['a lone surrogate', '\\ud800'],
  ])('%s', async (_name, escaped) => {
    const answer = await send(JSON.stringify(valid()).replace('"tx-1"', `"tx${escaped}"`))
    expect(answer.body.message.error.message).toMatch(/^message\.transaction_id: /)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })

  it('a byte order mark, in a short body and a long one', async () => {
    const text = 'not JSON: a value, and no byte order mark, is expected at character 1'
    expectFault(await send(`\ufeff${JSON.stringify(valid())}`), 400, 'err.request.bad', text)
    const long = JSON.stringify(valid({ header: { meta: { text: 'x'.repeat(1_200_000) } } }))
    expectFault(await send(`\ufeff${long}`), 400, 'err.request.bad', text)
  })

  it('bytes that are not UTF-8', async () => {
    const answer = await send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))
    expectFault(answer, 400, 'err.request.bad', 'body: must be UTF-8')
  })

  it('a body over the limit, announced or not', async () => {
    const large = ' '.repeat(2_000_001)
    expectFault(await send(large), 413, 'err.request.bad', 'body: must be at most 2000000 bytes')
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let index = 0; index < 30; index += 1) controller.enqueue(new Uint8Array(100_000).fill(32))
        controller.close()
      },
    })
    const response = await fetch(url, {
      method: 'POST',
      body: stream,
      duplex: 'half',
      headers: { 'Content-Type': 'application/json', ...bearer(ada) },
    })
    expect(response.status).toBe(413)
  })

  it.each([
    ['text/plain', TYPE_RULE],
    ['text/json', TYPE_RULE],
    ['application/json-patch', TYPE_RULE],
    ['application/+json', TYPE_RULE],
    ['multipart/form-data; boundary=x', TYPE_RULE],
    ['nonsense', TYPE_RULE],
    ['application/json; charset=latin1', 'Content-Type: charset must be utf-8'],
    ['application/ld+json; charset=utf-16', 'Content-Type: charset must be utf-8'],
  ])('content type %s', async (type, message) => {
    expectFault(await send(valid(), { 'Content-Type': type }), 415, 'err.request.bad', message)
  })

  it.each(['application/ld+json', 'Application/VND.registry.v1+JSON; charset="UTF-8"; profile=x'])(
    'content type %s is one of JSON',
    async (type) => {
      expect((await send(valid(), { 'Content-Type': type })).status).toBe(200)
    },
  )

  it('a compressed body', async () => {
    expectFault(
      await send(valid(), { 'Content-Encoding': 'gzip' }),
      415,
      'err.request.bad',
      'Content-Encoding: a compressed body is not accepted',
    )
  })

  it.each([
    ['message_id', undefined, 'header.message_id: '],
    ['message_ts', '2026-02-03T09:15:00', 'header.message_ts: '],
    ['message_ts', '', 'header.message_ts: '],
    ['message_ts', '2026-02-31T09:15:00Z', 'header.message_ts: '],
    ['action', undefined, 'header.action: '],
    ['sender_id', 7, 'header.sender_id: '],
    ['total_count', 'many', 'header.total_count: '],
  ])('header.%s as %j', async (member, value, prefix) => {
    const answer = await send(valid({ header: { [member]: value } }))
    expect(answer.body.message.error.message.startsWith(prefix)).toBe(true)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })
})

describe('2. the bounds of a body, before it is looked at who sent it', () => {
  const names = (count: number) => `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join(',')}}`
  const outside = 'must have at most 10000 values outside message.search_request'

  // Each text breaks off where it is refused: nothing behind that is read.
  it.each([
    ['names in meta', `{"header":{"meta":${names(1_500).slice(0, -1)}`, 'header.meta: must have at most 1000 names'],
    ['nested arrays in meta', `{"header":{"meta":[${`${'['.repeat(59)}${']'.repeat(59)},`.repeat(200)}`, outside],
    ['small arrays in meta', `{"header":{"meta":[${'[1],'.repeat(10_000)}`, outside],
    ['small arrays beside the items', `{"message":{"x":[${'[1],'.repeat(10_000)}`, outside],
    [
      'small arrays for items',
      `{"message":{"search_request":[${'[1],'.repeat(11)}`,
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 10 items',
    ],
    ['values in one item', `{"message":{"search_request":[[${'1,'.repeat(400_000)}`, 'must have at most 400000 values'],
  ])('%s', async (_name, text, message) => {
    expectFault(await send(text), 400, 'err.request.bad', message)
  })

  it('a long body is refused by its beginning: the rest need not come', async () => {
    const asking = request(url, {
      method: 'POST',
      headers: { ...bearer(ada), 'Content-Type': 'application/json', 'Content-Length': 1_900_000 },
    })
    asking.write(`{"header":{"meta":${names(40_000).slice(0, -1)}`)
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    const body = JSON.parse(await readText(response))
    asking.on('error', () => {}).destroy()
    expect([response.statusCode, body.message.error.code, body.message.error.message]).toEqual([
      400,
      'err.request.bad',
      'header.meta: must have at most 1000 names',
    ])
  })
})

it('a grant that is revoked while the body comes does not count any more', async () => {
  const asked = vi.spyOn(server.context.grants, 'of')
  const text = JSON.stringify(valid())
  const sent = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...bearer(ada) } })
  const answered = once(sent, 'response')
  sent.write(text.slice(0, 20))
  await expect.poll(() => asked.mock.calls.length).toBe(1)
  expect(await asked.mock.results[0]?.value).not.toBeNull()
  const { db } = server.database
  await db.pool.query('update participant_grant set revoked_at = now()')
  server.clock.pass(1_000)
  sent.end(text.slice(20))
  const [response]: IncomingMessage[] = await answered
  expect(response?.statusCode).toBe(403)
  expect(JSON.parse(await readText(response as IncomingMessage)).errors).toEqual([
    { code: 'err.request.forbidden', message: 'nothing in this registry is granted to this participant' },
  ])
  expect(asked).toHaveBeenCalledTimes(2)
  asked.mockRestore()
  await db.pool.query('update participant_grant set revoked_at = null')
  server.clock.pass(1_000)
})

it('a participant that is disabled while the body comes is refused as before the body', async () => {
  const asked = vi.spyOn(server.context.grants, 'of')
  const text = JSON.stringify(valid())
  const sent = request(url, { method: 'POST', headers: { 'Content-Type': 'application/json', ...bearer(ada) } })
  const answered = once(sent, 'response')
  sent.write(text.slice(0, 20))
  await expect.poll(() => asked.mock.calls.length).toBe(1)
  expect(await asked.mock.results[0]?.value).not.toBeNull()
  asked.mockRestore()
  const { db } = server.database
  await setParticipantStatus(db, ada.sender_id, 'disabled')
  server.clock.pass(1_000)
  sent.end(text.slice(20))
  const [response]: IncomingMessage[] = await answered
  const refused = JSON.parse(await readText(response as IncomingMessage))
  await setParticipantStatus(db, ada.sender_id, 'active')
  server.clock.pass(1_000)
  expect([response?.statusCode, refused.errors]).toEqual([
    401,
    [
      {
        code: 'err.request.unauthorized',
        message: 'Authorization: the access token is not valid here or has expired; ask for a new one',
      },
    ],
  ])
})
