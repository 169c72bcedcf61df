import { BodyUnreadable } from '@rollcall/keys/bodies'
import { AddressRefused, CredentialsUnusable, RequestFailed } from '@rollcall/participants/egress/problems'
import { RequestFault } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import { resultOfAnswer, resultOfError, unsentResults } from './failures.ts'

const answer = (status: number, body: string | Uint8Array = '{"message":{"ack_status":"ACK"}}') =>
  resultOfAnswer({ status, headers: {}, body: Buffer.from(body) })

test.each([200, 201, 202, 204, 299])('%i is delivered', (status) =>
  expect(answer(status)).toEqual({ name: 'delivered', verdict: 'delivered', status, peer: 'up' }),
)

test.each([400, 405, 410, 411, 413, 414, 415, 422, 431, 501, 505])('%i would be answered again to the same request', (status) =>
  expect(answer(status)).toEqual({ name: 'http_permanent', verdict: 'dead', status, peer: 'up' }),
)

test.each([
  [301, 'http_redirect'],
  [308, 'http_redirect'],
  [401, 'http_4xx'],
  [403, 'http_4xx'],
  [404, 'http_4xx'],
  [408, 'http_4xx'],
  [425, 'http_4xx'],
  [429, 'http_4xx'],
  [500, 'http_5xx'],
  [502, 'http_5xx'],
  [503, 'http_5xx'],
  [599, 'http_5xx'],
])('%i may pass', (status, name) => expect(answer(status)).toEqual({ name, verdict: 'retry', status, peer: 'down' }))

describe('an ack ERR', () => {
  const nested = '{"message":{"ack_status":"ERR","error":{"code":"err.request.bad"}}}'
  test.each([
    [200, nested],
    [200, '{"ack_status":"ERR"}'],
    [400, nested],
    [422, nested],
  ])('with %i is the refusal of the peer: %s', (status, body) =>
    expect(answer(status, body)).toEqual({ name: 'ack_err', verdict: 'refused', status, peer: 'up' }),
  )
  test.each([401, 404, 429, 500, 503])('with %i may pass like any other', (status) =>
    expect(answer(status, nested).verdict).toBe('retry'),
  )
  test.each([
    '',
    'null',
    '[]',
    '"ERR"',
    '{"message":"ERR"}',
    '{"message":{"ack_status":"NACK"}}',
    '{"message":{"ack_status":"ERR"}',
    '{"message":null}',
    '{"ack":{"ack_status":"ERR"}}',
    Uint8Array.of(0xff, 0xfe, 0),
  ])('is not in %j', (body) => expect(answer(200, body).verdict).toBe('delivered'))
})

test.each([
  [new AddressRefused('scheme'), { name: 'address_scheme', verdict: 'dead', status: null, peer: 'unknown' }],
  [new AddressRefused('network', 'loopback'), { name: 'address_network', verdict: 'dead' }],
  [new RequestFailed('timeout'), { name: 'timeout', verdict: 'retry', status: null, peer: 'down' }],
  [new RequestFailed('connection', 'ECONNREFUSED'), { name: 'connection', verdict: 'retry', peer: 'down' }],
  [new RequestFailed('unresolved'), { name: 'unresolved', verdict: 'retry', peer: 'down' }],
  [new CredentialsUnusable('token'), { name: 'credentials_token', verdict: 'retry', peer: 'unknown' }],
  [new RequestFault('err.encryption.invalid', 'no key'), unsentResults.no_encryption_key],
  [new RequestFault('err.sender_uri.invalid', 'not allowed'), unsentResults.address_not_registered],
  [new BodyUnreadable('forgotten'), unsentResults.body_forgotten],
  [new TypeError('ours'), { name: 'internal', verdict: 'retry', peer: 'unknown' }],
])('%o', (error, result) => expect(resultOfError(error)).toMatchObject(result))

test('a database that is away is no result of an attempt', () => {
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  expect(() => resultOfError(away)).toThrow(away)
})
