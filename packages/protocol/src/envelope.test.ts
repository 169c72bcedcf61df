import { describe, expect, it } from 'vitest'
import {
  Ack,
  callbackEnvelope,
  EncryptedMessage,
  ErrorAnswer,
  HttpErrors,
  IncomingEnvelope,
  requestEnvelope,
} from './envelope.ts'
import { SearchRequest, SearchResponse } from './messages/search.ts'
import { validator } from './validate.ts'

const request = validator(requestEnvelope(SearchRequest, 'SearchEnvelope'))
const callback = validator(callbackEnvelope(SearchResponse, 'OnSearchEnvelope'))
const incoming = validator(IncomingEnvelope)

const header = {
  message_id: 'm-1',
  message_ts: '2026-02-03T09:15:00Z',
  action: 'search',
  sender_id: 'spmis.demo',
  total_count: 1,
}
const message = { transaction_id: 'tx-1', search_request: [] }
const encrypted = {
  header: { alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'k' },
  ciphertext: 'a',
  encrypted_key: 'b',
  tag: 'c',
  iv: 'd',
}
const callbackHeader = { message_id: 'm-2', message_ts: '2026-02-03T09:15:01Z', action: 'on-search', status: 'succ' }

/** `value` without the member at a dotted path. */
function without(value: object, path: string): unknown {
  const copy = structuredClone(value) as Record<string, Record<string, unknown>>
  const [outer, inner] = path.split('.') as [string, string?]
  if (inner === undefined) delete copy[outer]
  else delete copy[outer]?.[inner]
  return copy
}

describe('the envelope of a request', () => {
  it.each([
    ['the least (N1)', { header, message }],
    ['an encrypted message', { header: { ...header, is_msg_encrypted: true }, message: encrypted }],
    [
      'everything',
      {
        signature: 'x',
        header: {
          ...header,
          version: '1.0.0',
          sender_uri: 'https://spmis.demo/registry/on-search',
          receiver_id: 'crvs.demo',
          is_msg_encrypted: false,
          meta: { a: 1 },
        },
        message,
      },
    ],
  ])('holds %s', (_, value) => {
    expect(request.problem(value, '')).toBeNull()
    expect(incoming.problem(value, '')).toBeNull()
  })

  it.each(['header', 'message', 'header.message_id', 'header.message_ts', 'header.action', 'header.sender_id'])(
    'is refused without %s, documented and incoming',
    (path) => {
      const value = without({ header, message }, path)
      expect(request.problem(value, '')).toBe(`${path}: is required`)
      expect(incoming.problem(value, '')).toBe(`${path}: is required`)
    },
  )

  it('is documented with total_count and taken without (spec "Header")', () => {
    const value = without({ header, message }, 'header.total_count')
    expect(request.problem(value, '')).toBe('header.total_count: is required')
    expect(incoming.problem(value, '')).toBeNull()
  })

  it.each([
    ['a total_count that lies', { total_count: -5 }],
    ['a total_count beyond all batches', { total_count: 1e30 }],
    ['a version that is not spoken', { version: '2.0.0' }],
    ['a sender_uri that is none', { sender_uri: 'nowhere' }],
    ['the members of a callback header', { status: 'succ', completed_count: 0 }],
  ])('is taken with %s, to be judged later', (_, changes) => {
    expect(incoming.problem({ header: { ...header, ...changes }, message }, '')).toBeNull()
  })

  it.each([
    ['message_ts', '2026-02-03T09:15:00', 'the zone (Z or an offset such as +02:00) is missing'],
    ['message_id', 7, 'must be a string'],
    ['message_id', '', 'must not be empty'],
    ['sender_id', null, 'must be a string'],
    ['total_count', 'many', 'must be a whole number'],
    ['total_count', 1.5, 'must be a whole number'],
    ['is_msg_encrypted', 'no', 'must be true or false'],
    ['meta', [], 'must be an object'],
    ['version', 1, 'must be a string'],
  ])('is refused with %s %j', (member, value, rule) => {
    const problem = incoming.problem({ header: { ...header, [member]: value }, message }, '')
    expect(problem?.startsWith(`header.${member}: `)).toBe(true)
    expect(problem?.endsWith(rule)).toBe(true)
  })

  it.each([
    ['a message that is a text', { header, message: 'x' }, 'message: must be an object'],
    ['a message that is an array', { header, message: [] }, 'message: must be an object'],
    ['a header that is null', { header: null, message }, 'header: must be an object'],
  ])('is refused with %s', (_, value, problem) => {
    expect(incoming.problem(value, '')).toBe(problem)
  })
})

describe('the envelope of a callback', () => {
  it('needs the header only (spec "Envelope")', () => {
    expect(callback.problem({ header: callbackHeader }, '')).toBeNull()
  })

  it.each(['message_id', 'message_ts', 'action', 'status'])('needs %s in its header (N1)', (member) => {
    const value = without({ header: callbackHeader }, `header.${member}`)
    expect(callback.problem(value, '')).toBe(`header.${member}: is required`)
  })

  it.each([
    ['status', 'done', 'header.status: must be one of rcvd, pdng, succ, rjct'],
    ['status_reason_message', 'x'.repeat(1000), 'header.status_reason_message: must have at most 999 characters'],
    ['completed_count', -1, 'header.completed_count: must be at least 0'],
  ])('refuses %s out of its bounds', (member, value, problem) => {
    expect(callback.problem({ header: { ...callbackHeader, [member]: value } }, '')).toBe(problem)
  })

  it('takes reason codes of headers only (N18)', () => {
    const withCode = (code: string) => ({ header: { ...callbackHeader, status_reason_code: code } })
    expect(callback.problem(withCode('rjct.version.invalid'), '')).toBeNull()
    expect(callback.problem(withCode('rjct.sort.invalid'), '')).toMatch(
      /^header\.status_reason_code: must be one of rjct\.version\.invalid, /,
    )
  })
})

describe('EncryptedMessage', () => {
  const sealed = validator(EncryptedMessage)
  it.each(['header', 'header.alg', 'header.enc', 'header.kid', 'ciphertext', 'encrypted_key', 'tag', 'iv'])(
    'needs %s',
    (path) => {
      expect(sealed.problem(encrypted, '')).toBeNull()
      expect(sealed.problem(without(encrypted, path), '')).toBe(`${path}: is required`)
    },
  )
})

describe('the answers outside an envelope', () => {
  const fault = { code: 'err.request.bad', message: 'body: must be an object' }
  const ack = { ack_status: 'ACK', timestamp: '2026-02-03T09:15:00Z', correlation_id: 'c-1' }

  it.each(['ACK', 'NACK'])('%s is an ack', (ack_status) => {
    expect(validator(Ack).problem({ message: { ...ack, ack_status } }, '')).toBeNull()
    expect(validator(ErrorAnswer).problem({ message: { ...ack, ack_status, error: fault }, errors: [fault] }, '')).toBe(
      'message.ack_status: must be one of ERR',
    )
  })

  it('an error answer satisfies all three published shapes (D2)', () => {
    const answer = { message: { ...ack, ack_status: 'ERR', error: fault }, errors: [fault] }
    for (const schema of [ErrorAnswer, Ack, HttpErrors]) expect(validator(schema).problem(answer, '')).toBeNull()
  })

  it.each(['message', 'errors', 'message.error', 'message.correlation_id'])('an error answer needs %s', (path) => {
    const answer = { message: { ...ack, ack_status: 'ERR', error: fault }, errors: [fault] }
    expect(validator(ErrorAnswer).problem(without(answer, path), '')).toBe(`${path}: is required`)
  })

  it('an error names a code of the ack table (N19)', () => {
    const answer = { errors: [{ ...fault, code: 'rjct.sort.invalid' }] }
    expect(validator(HttpErrors).problem(answer, '')).toMatch(/^errors\[0\]\.code: must be one of err\.request\.bad, /)
  })
})
