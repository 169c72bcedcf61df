import { describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { CIVIL, keeping, notify, onSearch, onStatus, receiver, SIGNER, sent, signed } from '../../test/callbacks.ts'

const TYPE_RULE = 'Content-Type: must be application/json, application/*+json or text/*'
const PAGE_RULE =
  'Content-Type: must be application/json or application/*+json, because the request has the header Origin, as those of web pages do'

describe('a callback is refused', () => {
  const { handlers } = keeping()
  const strict = receiver({ handlers, max_body_bytes: 5_000, max_body_values: 100 })
  const other = { ...SIGNER, privateJwk: keyPair('Ed25519').privateJwk }
  const hourAgo = Math.floor(Date.now() / 1_000) - 3_600

  it.each<[string, string, string, string, string?]>([
    [
      'of too many values beside what a callback says',
      JSON.stringify(onSearch({ header: { meta: Array.from({ length: 2_000 }, () => 1) } })),
      '400 err.request.bad',
      'must have at most 100 values',
    ],
    ['unsigned', JSON.stringify(onSearch()), '401 err.signature.missing', 'signature: the message has no signature'],
    [
      'signed by somebody else',
      signed(onSearch(), {}, other),
      '401 err.signature.invalid',
      'signature: the signature does not belong to this header and message',
    ],
    [
      'signed with an unknown key',
      signed(onSearch(), {}, { ...SIGNER, kid: 'k-2' }),
      '401 err.signature.invalid',
      "signature: no key of the sender has the signature's key id and algorithm: compare its key set with the signature",
    ],
    [
      'signed long ago',
      signed(onSearch(), { parameters: { created: hourAgo, expires: hourAgo + 300 } }),
      '401 err.signature.invalid',
      'signature: the signature has expired',
    ],
    [
      'changed on its way',
      signed(onSearch()).replace('"a": 1', '"a": 2'),
      '401 err.signature.invalid',
      'signature: the signature does not belong to this header and message',
    ],
    [
      'of an unknown sender',
      signed(onSearch({ header: { sender_id: 'evil.example' } })),
      '403 err.sender_id.invalid',
      'header.sender_id: must be a registry that this receiver knows',
    ],
    [
      'for another system',
      signed(onSearch({ header: { receiver_id: 'other.example' } })),
      '400 err.receiver_id.invalid',
      'header.receiver_id: is not this system',
    ],
    [
      'of another version',
      signed(onSearch({ header: { version: '2.0.0' } })),
      '400 err.version.not_supported',
      'header.version: must be 1.0.0',
    ],
    ['no JSON', '{"header":', '400 err.request.bad', 'header: not JSON: a value is expected at character 11'],
    ['a name twice', '{"header":{},"header":{}}', '400 err.request.bad', 'header: the member name occurs twice in one object'],
    ['no object', '[]', '400 err.request.bad', 'body: must be a JSON object with header and message'],
    ['without header', '{}', '400 err.request.bad', 'header: must be an object'],
    ['an empty header', '{"header":{}}', '400 err.request.bad', 'header.message_id: is required'],
    ['no text', '{"header":{},"message":"x"}', '400 err.request.bad', 'message: must be an object'],
    ['of another callback', signed(onStatus()), '400 err.request.bad', 'header.action: must be on-search on this path'],
    [
      'of no callback',
      signed(onSearch({ header: { action: 'dance' } })),
      '400 err.request.bad',
      'header.action: is no callback of this protocol',
      '/elsewhere',
    ],
    ['without status', signed(onSearch({ header: { status: undefined } })), '400 err.request.bad', 'header.status: is required'],
    [
      'malformed inside',
      signed(onSearch({ message: { correlation_id: 'c'.repeat(100) } })),
      '400 err.request.bad',
      'message.correlation_id: must have at most 99 characters',
    ],
    [
      'miscounted',
      signed(notify({ header: { total_count: 3 } })),
      '400 err.request.bad',
      'header.total_count: must be the number of items in message.notify_event',
      '/notify',
    ],
    ['too large', `"${'x'.repeat(6_000)}"`, '413 err.request.bad', 'body: must be at most 5000 bytes'],
  ])('%s', async (_name, body, code, message, path = '/registry/on-search') => {
    const { status, body: all, ack } = await sent(strict, body, { path })
    expect(`${status} ${ack.error.code}`).toBe(code)
    expect(ack.error.message).toBe(message)
    expect(ack).toMatchObject({ ack_status: 'ERR', correlation_id: expect.any(String) })
    expect(all.errors).toEqual([ack.error])
  })

  it.each([
    [{ method: 'GET' }, 405, 'the method must be POST'],
    [{ headers: { 'Content-Type': 'image/png' } }, 415, TYPE_RULE],
    [{ headers: { 'Content-Type': 'text/plain', Origin: 'https://page.example' } }, 415, PAGE_RULE],
    [{ headers: { 'Content-Type': '', Origin: 'null' } }, 415, PAGE_RULE],
    [{ headers: { 'Content-Type': 'application/json; charset=latin1' } }, 415, 'Content-Type: charset must be utf-8'],
    [{ headers: { 'Content-Encoding': 'gzip' } }, 415, 'Content-Encoding: a compressed body is not accepted'],
  ])('as HTTP: %o', async (options, status, message) => {
    const answer = await sent(strict, signed(onSearch()), options)
    expect([answer.status, answer.ack.error]).toEqual([status, { code: 'err.request.bad', message }])
  })

  it('when it is no UTF-8, or grows beyond its size, or breaks off', async () => {
    const chunk = (bytes: Uint8Array) => (controller: ReadableStreamDefaultController) => controller.enqueue(bytes)
    const endless = new ReadableStream({ pull: chunk(new Uint8Array(1_000)) })
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) })
    const answers = [new Uint8Array([0x22, 0xff, 0x22]), endless, broken].map((body) => sent(strict, body))
    expect((await Promise.all(answers)).map(({ status, ack }) => [status, ack.error.message])).toEqual([
      [400, 'body: must be UTF-8'],
      [413, 'body: must be at most 5000 bytes'],
      [400, 'body: ended before its announced length'],
    ])
  })

  it('when the request itself may not pass', async () => {
    const guarded = receiver({ handlers, authorize: (one) => one.headers.get('authorization') === 'Bearer a' })
    const { status, headers, ack } = await sent(guarded, signed(onSearch()))
    expect([status, headers.get('www-authenticate'), ack.error]).toEqual([
      401,
      'Bearer',
      { code: 'err.request.unauthorized', message: 'the access token is missing or not valid' },
    ])
    expect((await sent(guarded, signed(onSearch()), { headers: { Authorization: 'Bearer a' } })).status).toBe(200)
  })

  it('when nobody here would ever know of it', async () => {
    const { status, ack } = await sent(receiver(), signed(notify()), { path: '/notify' })
    expect([status, ack.error]).toEqual([404, { code: 'err.request.not_found', message: 'nothing here takes notify' }])
  })
})

describe('signature policies', () => {
  const answers = async (signature: 'required' | 'if-present' | 'off', body: string): Promise<number> =>
    (await sent(receiver({ handlers: keeping().handlers, peers: [{ ...CIVIL, signature }] }), body)).status

  it('take what they say they take', async () => {
    const unsigned = JSON.stringify({ ...onSearch(), signature: 'unsigned' })
    const bad = JSON.stringify({ ...onSearch(), signature: 'namespace="x"' })
    const table = await Promise.all(
      (['required', 'if-present', 'off'] as const).map(async (policy) => [
        policy,
        await answers(policy, signed(onSearch())),
        await answers(policy, unsigned),
        await answers(policy, bad),
      ]),
    )
    expect(table).toEqual([
      ['required', 200, 401, 401],
      ['if-present', 200, 200, 401],
      ['off', 200, 200, 200],
    ])
  })
})
