import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { expectFault, expectRejected } from '../../test/expectations.ts'
import {
  type Answer,
  bearer,
  post,
  searchRequest,
  type TestParticipant,
  type TestServer,
  testServer,
} from '../../test/server.ts'

const ADA = {
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: '0012' },
    { identifier_type: 'BRN', identifier_value: 'B-5521' },
  ],
  name: { surname: 'Okoro', given_name: 'Ada' },
  sex: 'female',
  birth_date: '2014-06-01',
}
const BY_UIN = { type: 'UIN', value: '0012' }

let server: TestServer
let ada: TestParticipant
let other: TestParticipant
let url: string

beforeAll(async () => {
  server = await testServer({ ROLLCALL_MAX_BODY_BYTES: '2000000', ROLLCALL_MAX_BATCH_ITEMS: '10' })
  ada = await server.participant('spmis.demo')
  other = await server.participant('other.demo')
  await server.registry('civil', [ADA])
  url = `${server.url}/civil/v1.0.0/registry/sync/search`
})

afterAll(() => server.close())

afterEach(() => expect(server.logged()).not.toMatch(/Okoro|B-5521|0012/))

const send = (body: string | Uint8Array<ArrayBuffer> | object, headers = {}): Promise<Answer> =>
  post(url, body, { ...bearer(ada), ...headers })
const valid = (changes = {}) => searchRequest(ada.sender_id, BY_UIN, changes)

describe('a search that is understood', () => {
  it('answers the record as it is held, in an envelope with a callback header', async () => {
    const answer = await send(valid({ item: { locale: 'eng' } }))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toEqual({
      signature: expect.stringMatching(/^namespace="registry", kidId="civil\.example\|/),
      header: {
        version: '1.0.0',
        message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        message_ts: expect.stringMatching(/^\d{4}-.*Z$/),
        action: 'on-search',
        status: 'succ',
        total_count: 1,
        completed_count: 1,
        sender_id: 'civil.example',
        receiver_id: 'spmis.demo',
        is_msg_encrypted: false,
        meta: {},
      },
      message: {
        transaction_id: 'tx-1',
        correlation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        search_response: [
          {
            reference_id: 'r-1',
            timestamp: expect.stringMatching(/Z$/),
            status: 'succ',
            data: {
              version: '1.0.0',
              reg_type: 'ns:org:RegistryType:Civil',
              reg_record_type: 'Person',
              reg_records: [ADA],
            },
            pagination: { page_size: 10, page_number: 1, total_count: 1 },
            locale: 'eng',
          },
        ],
      },
    })
  })

  it('takes what 3.1 tolerates: headers, numeric strings, single objects, empty optional members', async () => {
    const { header, message } = valid()
    const [item] = message.search_request
    const answer = await send({
      headers: { ...header, total_count: '1', meta: '', receiver_id: '', version: '1.0' },
      message: { transaction_id: 900, search_request: { ...item, locale: '' } },
    })
    expect(answer.status).toBe(200)
    expect(answer.body.message).toMatchObject({
      transaction_id: '900',
      search_response: [{ status: 'succ' }],
    })
    expect(answer.body.message.search_response[0]).not.toHaveProperty('locale')
  })

  it('answers to an alias of the registry and to its own sender_id', async () => {
    const answer = await send(valid({ header: { receiver_id: 'civil.example' } }))
    expect(answer.body.header.status).toBe('succ')
  })

  it('treats __proto__, constructor and toString as plain data', async () => {
    const text = JSON.stringify(valid()).replace(
      '"meta":{}',
      '"meta":{"__proto__":{"x":1},"constructor":2,"toString":3}',
    )
    const answer = await send(text)
    expect(answer.body.header.status).toBe('succ')
  })
})

describe('1. who is calling is asked before the body is read', () => {
  const garbled = 'Authorization: the access token is not valid here or has expired; ask for a new one'
  it.each([
    ['no header', undefined, 'Authorization: a bearer token is required'],
    ['another scheme', 'Basic abc', 'Authorization: must be "Bearer" and an access token'],
    ['an empty token', 'Bearer ', 'Authorization: must be "Bearer" and an access token'],
    ['a garbled token', 'Bearer abc.def.ghi', garbled],
    ['a token with alg none', `Bearer ${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`, garbled],
  ])('%s', async (_name, authorization, message) => {
    const answer = await post(
      url,
      'not json',
      authorization === undefined ? {} : { Authorization: authorization },
    )
    expectFault(answer, 401, 'err.request.unauthorized', message)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  it('a token whose signature was altered', async () => {
    const token = `${ada.token.slice(0, -6)}AAAAAA`
    expectFault(
      await send(valid(), { Authorization: `Bearer ${token}` }),
      401,
      'err.request.unauthorized',
      garbled,
    )
  })
})

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
    const text = JSON.stringify(valid()).replace(
      '"meta":{}',
      `"meta":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`,
    )
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
    ['text/plain', 'Content-Type: must be application/json'],
    ['application/json-patch', 'Content-Type: must be application/json'],
    ['multipart/form-data; boundary=x', 'Content-Type: must be application/json'],
    ['nonsense', 'Content-Type: must be application/json'],
    ['application/json; charset=latin1', 'Content-Type: charset must be utf-8'],
  ])('content type %s', async (type, message) => {
    expectFault(await send(valid(), { 'Content-Type': type }), 415, 'err.request.bad', message)
  })

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

describe('3. the sender is the caller', () => {
  it.each(['other.demo', 'nobody.demo'])('header.sender_id %s', async (sender_id) => {
    expectFault(
      await send(valid({ header: { sender_id } })),
      403,
      'err.sender_id.invalid',
      'header.sender_id: must be the participant that the access token was issued to',
    )
  })

  it('each participant asks with its own token', async () => {
    const answer = await post(url, searchRequest(other.sender_id, BY_UIN), bearer(other))
    expect(answer.body.header.receiver_id).toBe('other.demo')
  })
})

describe('4. version, receiver, action', () => {
  it.each(['2.0.0', '0.9', 'x'])('version %s', async (version) => {
    const answer = await send(valid({ header: { version, action: 'nonsense', total_count: 9 } }))
    expectRejected(answer, 'rjct.version.invalid', 'header.version: must be 1.0.0')
  })

  it('another receiver', async () => {
    expectFault(
      await send(valid({ header: { receiver_id: 'ibr.example' } })),
      400,
      'err.receiver_id.invalid',
      'header.receiver_id: is not this registry',
    )
  })

  it.each(['subscribe', 'on-search', 'txn-status'])('action %s of another operation', async (action) => {
    const answer = await send(valid({ header: { action } }))
    expectRejected(answer, 'rjct.action.invalid', 'header.action: must be search on this path')
  })

  it('an unknown action', async () => {
    expectRejected(
      await send(valid({ header: { action: 'destroy' } })),
      'rjct.action.not_supported',
      'header.action: is no action of this protocol; must be search on this path',
    )
  })

  it('message_ts of any time, unless a window is set', async () => {
    const answer = await send(valid({ header: { message_ts: '1999-01-01T00:00:00Z' } }))
    expect(answer.body.header.status).toBe('succ')
  })

  it('a rejected header is answered with a transaction_id that came as a number', async () => {
    const answer = await send(valid({ header: { version: '2.0.0' }, message: { transaction_id: 900 } }))
    expect([answer.body.header.status_reason_code, answer.body.message.transaction_id]).toEqual([
      'rjct.version.invalid',
      '900',
    ])
  })

  it('a rejected header needs a transaction_id to be answered with', async () => {
    const answer = await send(valid({ header: { version: '2.0.0' }, message: { transaction_id: '' } }))
    expect(answer.body.message.error.message).toMatch(/^message\.transaction_id: /)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })
})

describe('2. the bounds of a body, before it is looked at who sent it', () => {
  const names = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"n${index}":1`).join(',')}}`
  const outside = 'must have at most 10000 values outside message.search_request'

  // Each text breaks off where it is refused: nothing behind that is read.
  it.each([
    [
      'names in meta',
      `{"header":{"meta":${names(1_500).slice(0, -1)}`,
      'header.meta: must have at most 1000 names',
    ],
    [
      'nested arrays in meta',
      `{"header":{"meta":[${`${'['.repeat(59)}${']'.repeat(59)},`.repeat(200)}`,
      outside,
    ],
    ['small arrays in meta', `{"header":{"meta":[${'[1],'.repeat(10_000)}`, outside],
    ['small arrays beside the items', `{"message":{"x":[${'[1],'.repeat(10_000)}`, outside],
    [
      'small arrays for items',
      `{"message":{"search_request":[${'[1],'.repeat(11)}`,
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 10 items',
    ],
    [
      'values in one item',
      `{"message":{"search_request":[[${'1,'.repeat(400_000)}`,
      'must have at most 400000 values',
    ],
  ])('%s', async (_name, text, message) => {
    expectFault(await send(text), 400, 'err.request.bad', message)
  })

  it('a long body is refused by its beginning: the rest need not come', async () => {
    const asking = request(`${server.url}/civil/v1.0.0/registry/sync/search`, {
      method: 'POST',
      headers: { ...bearer(ada), 'Content-Type': 'application/json', 'Content-Length': 1_900_000 },
    })
    asking.write(`{"header":{"meta":${names(40_000).slice(0, -1)}`)
    const [response] = (await once(asking, 'response')) as [IncomingMessage]
    const body = JSON.parse(await text(response))
    asking.on('error', () => {}).destroy()
    expect([response.statusCode, body.message.error.code, body.message.error.message]).toEqual([
      400,
      'err.request.bad',
      'header.meta: must have at most 1000 names',
    ])
  })
})

describe('5. the message', () => {
  it('a header that lies about encryption', async () => {
    expectFault(
      await send(valid({ header: { is_msg_encrypted: true } })),
      400,
      'err.encryption.invalid',
      'header.is_msg_encrypted: must say whether message is an EncryptedMessage',
    )
  })

  it('an empty batch', async () => {
    const answer = await send(valid({ header: { total_count: 0 }, message: { search_request: [] } }))
    expectFault(answer, 400, 'err.request.bad', 'message.search_request: must have at least one item')
  })

  it.each([
    ['transaction_id empty', { message: { transaction_id: '' } }, 'message.transaction_id: '],
    [
      'transaction_id of 100 characters',
      { message: { transaction_id: 'x'.repeat(100) } },
      'message.transaction_id: ',
    ],
    ['no items', { message: { search_request: undefined } }, 'message.search_request: '],
    ['items that are text', { message: { search_request: ['x'] } }, 'message.search_request[0]: '],
    [
      'a timestamp without zone',
      { item: { timestamp: '2026-02-03T09:15:00' } },
      'message.search_request[0].timestamp: ',
    ],
    ['no timestamp', { item: { timestamp: undefined } }, 'message.search_request[0].timestamp: '],
    ['locale en', { item: { locale: 'en' } }, 'message.search_request[0].locale: '],
    ['locale ENG', { item: { locale: 'ENG' } }, 'message.search_request[0].locale: '],
    [
      'page_size 0',
      { criteria: { pagination: { page_size: 0 } } },
      'message.search_request[0].search_criteria.pagination.page_size: ',
    ],
    [
      'page_size -1 beside the criteria',
      { item: { pagination: { page_size: -1, page_number: 1 } } },
      'message.search_request[0].pagination.page_size: ',
    ],
    [
      'page_number 0',
      { criteria: { pagination: { page_size: 1, page_number: 0 } } },
      'message.search_request[0].search_criteria.pagination.page_number: ',
    ],
  ])('%s', async (_name, changes, prefix) => {
    const answer = await send(valid(changes))
    expect(answer.body.message.error.message.slice(0, prefix.length)).toBe(prefix)
    expectFault(answer, 400, 'err.request.bad', answer.body.message.error.message)
  })

  it.each([99])('a transaction_id of %d characters', async (length) => {
    const transaction_id = 'é'.repeat(length)
    const answer = await send(valid({ message: { transaction_id } }))
    expect(answer.body.message.transaction_id).toBe(transaction_id)
  })

  it.each([2, -1, 7])('total_count %d', async (total_count) => {
    expectRejected(
      await send(valid({ header: { total_count } })),
      'rjct.total_count.invalid',
      'header.total_count: must be the number of items in message.search_request',
    )
  })

  it.each([undefined, 0, '1', '0'])('total_count %j says nothing wrong', async (total_count) => {
    const answer = await send(valid({ header: { total_count } }))
    expect(answer.body.header.status).toBe('succ')
  })

  it('a batch over the limit', async () => {
    const [item] = valid().message.search_request
    const search_request = Array.from({ length: 11 }, (_, index) => ({ ...item, reference_id: `r-${index}` }))
    expectFault(
      await send(valid({ message: { search_request }, header: { total_count: 11 } })),
      400,
      'err.request.bad',
      'rjct.total_count.limit_exceeded: message.search_request: must have at most 10 items',
    )
  })
})
