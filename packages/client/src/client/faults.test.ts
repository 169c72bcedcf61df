import { operation } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { failure } from '../../test/world.ts'
import { readAck, readEnvelopeAck, readFault } from './faults.ts'

const answer = (status: number, body: object | string, retryAfter: string | null = null) => ({
  status,
  headers: { get: (name: string) => (name === 'retry-after' ? retryAfter : null) },
  text: typeof body === 'string' ? body : JSON.stringify(body),
})
const error = { code: 'err.request.bad', message: 'header: is required' }
const fault = (...args: Parameters<typeof answer>) => readFault(answer(...args))

describe('a refusal', () => {
  it.each<[string, number, object | string, object]>([
    [
      'an ack ERR with errors',
      400,
      { message: { ack_status: 'ERR', correlation_id: 'c', error }, errors: [error, { code: 'b', message: '' }] },
      { code: error.code, message: error.message, errors: [error, { code: 'b', message: '' }], correlation_id: 'c' },
    ],
    ['an ack ERR in a 200', 200, { message: { ack_status: 'err', error } }, { code: error.code, httpStatus: 200 }],
    ['a bare ack', 400, { ack_status: 'ERR', error }, { code: error.code }],
    ['an error body', 403, { errors: [error] }, { code: error.code, correlation_id: undefined }],
    ['an error with a number', 400, { error: { code: 400, message: 'no' } }, { code: '400', message: 'no' }],
    [
      'an ack whose error is empty',
      500,
      { message: { ack_status: 'ERR', error: {} } },
      { code: 'err.service.unavailable', message: 'err.service.unavailable' },
    ],
    ['a status that speaks for itself', 401, '', { code: 'err.request.unauthorized', httpStatus: 401 }],
    ['a page of a proxy', 429, '<html>', { code: 'err.request.too_many_requests' }],
  ])('%s', (_name, status, body, expected) => {
    expect(fault(status, body)).toMatchObject({ name: 'AckError', ...expected })
  })

  it('says when to come back', () => {
    expect(fault(503, { errors: [error] }, '7')?.retryAfter).toBe(7_000)
  })

  it('is none where the answer is good, whatever its words', () => {
    const good = { message: { search_response: [{ note: 'ack_status' }] } }
    expect([fault(200, good), fault(200, { message: { ack_status: 'ACK' } }), fault(204, '')]).toEqual([null, null, null])
  })

  it('that does not speak this protocol is no answer', async () => {
    expect(await failure(Promise.resolve().then(() => fault(500, 'oops')))).toMatchObject({
      name: 'TransportError',
      reason: 'unreadable',
      message: 'HTTP status 500 without an error of this protocol',
    })
  })
})

describe('an ack', () => {
  it.each([
    [{ message: { ack_status: 'ACK', correlation_id: 'c-1', timestamp: 't' } }, 'ACK'],
    [{ ack_status: 'nack', correlation_id: 'c-1', timestamp: 't' }, 'NACK'],
  ])('%j', (body, ack_status) => {
    expect(readAck(answer(202, body))).toEqual({ ack_status, correlation_id: 'c-1', timestamp: 't' })
  })

  it.each([[{ message: { ack_status: 'ACK' } }], [{ message: { correlation_id: 'c' } }], ['[]'], ['{']])('%j is none', (body) => {
    expect(readAck(answer(200, body))).toBeNull()
  })
})

describe('an ack that is the envelope of an empty answer', () => {
  const envelope = (header: object = {}, message: object = {}) => ({
    header: { action: 'on-search', status: 'rcvd', ...header },
    message: { correlation_id: 'c-1', search_response: [], ...message },
  })
  const read = (body: object, status = 202, name = 'search') => readEnvelopeAck(operation(name), answer(status, body))

  it.each(['rcvd', 'pdng', 'succ', 'success'])('is one with 202 and %s, and no more of it is read', (status) => {
    const body = envelope({ status, message_ts: 7 }, { transaction_id: {}, timestamp: 'now' })
    expect(read(body)).toEqual({ ack_status: 'ACK', correlation_id: 'c-1', timestamp: '' })
  })

  it.each<[string, object, number?, string?]>([
    ['with 200, as a registry says at once that it found nobody', envelope(), 200],
    ['with 204', envelope(), 204],
    ['with an item', envelope({}, { search_response: [{ reference_id: '1', status: 'succ' }] })],
    ['with one item in place of a list', envelope({}, { search_response: {} })],
    ['without a list of items', envelope({}, { search_response: undefined })],
    ['without correlation_id', envelope({}, { correlation_id: undefined })],
    ['with an empty correlation_id', envelope({}, { correlation_id: '' })],
    ['that is rejected', envelope({ status: 'rjct' })],
    ['without status', envelope({ status: undefined })],
    ['with another status', envelope({ status: 'done' })],
    ['of another action', envelope({ action: 'on-subscribe' })],
    ['without header', { message: envelope().message }],
    ['without message', { header: envelope().header }],
    ['of another operation', envelope(), 202, 'subscribe'],
  ])('is none %s', (_name, body, status, name) => {
    expect(read(body, status, name)).toBeNull()
  })
})
