import { expect, test } from 'vitest'
import { HeaderRejection, ItemRejection, REASON_MAX_LENGTH, RequestFault, reasonText } from './faults.ts'

test('a request fault carries the HTTP status of its code', () => {
  const fault = new RequestFault('err.request.unauthorized', 'the token has expired')
  expect(fault).toBeInstanceOf(Error)
  expect(fault).toMatchObject({
    name: 'RequestFault',
    code: 'err.request.unauthorized',
    httpStatus: 401,
    message: 'the token has expired',
  })
})

test('a request fault may say a closer HTTP status', () => {
  expect(new RequestFault('err.request.bad', 'the body is too large', 413)).toMatchObject({
    code: 'err.request.bad',
    httpStatus: 413,
    message: 'the body is too large',
  })
})

test('a request fault may say when to try again', () => {
  const fault = new RequestFault('err.request.too_many_requests', 'too many', undefined, { retryAfter: 2 })
  expect(fault).toMatchObject({ httpStatus: 429, retryAfter: 2 })
  expect(new RequestFault('err.request.bad', 'x').retryAfter).toBeUndefined()
})

test('a header and an item rejection carry code and message', () => {
  expect(new HeaderRejection('rjct.version.invalid', 'header.version: is not 1.0.0')).toMatchObject({
    name: 'HeaderRejection',
    code: 'rjct.version.invalid',
    message: 'header.version: is not 1.0.0',
  })
  expect(new ItemRejection('rjct.sort.invalid', 'sort[0]: is not sortable')).toMatchObject({
    name: 'ItemRejection',
    code: 'rjct.sort.invalid',
    message: 'sort[0]: is not sortable',
  })
})

test('messages are cut at 999 characters', () => {
  const long = 'x'.repeat(2000)
  expect(REASON_MAX_LENGTH).toBe(999)
  expect(new RequestFault('err.request.bad', long).message).toBe('x'.repeat(999))
  expect(new HeaderRejection('rjct.action.invalid', long).message).toBe('x'.repeat(999))
  expect(new ItemRejection('rjct.filter.invalid', long).message).toBe('x'.repeat(999))
  expect(reasonText('x'.repeat(999))).toBe('x'.repeat(999))
})

test('a cut inside a surrogate pair leaves no half of it', () => {
  const text = reasonText(`${'x'.repeat(998)}\u{1f600}`)
  expect(text).toBe(`${'x'.repeat(998)}\ufffd`)
  expect(text.isWellFormed()).toBe(true)
})
