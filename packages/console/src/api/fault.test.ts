import { expect, it } from 'vitest'
import { ApiFault, readErrors, readProposalId } from './fault.ts'

it('reads the errors of an answer', () => {
  const errors = [{ code: 'err.request.bad', message: 'limit: is above 100' }]
  expect(readErrors(400, { errors })).toEqual(errors)
  expect(new ApiFault(400, errors).message).toBe('limit: is above 100')
})

it.each([[null], ['<html>'], [{ errors: [] }], [{ errors: [{ message: 1 }] }], [{ errors: 'x' }]])(
  'says the status where the body is %j',
  (body) => {
    expect(readErrors(502, body)).toEqual([{ code: '502', message: 'HTTP 502' }])
  },
)

it.each([
  [0, true],
  [429, true],
  [503, true],
  [400, false],
  [404, false],
])('a fault of status %i passes by itself: %j', (status, passing) => {
  expect(new ApiFault(status, []).isPassing).toBe(passing)
})

it('reads the id of a proposal', () => {
  expect(readProposalId({ proposal: { id: '12' } })).toBe('12')
  expect(readProposalId({ proposal: {} })).toBe(null)
  expect(readProposalId(undefined)).toBe(null)
})
