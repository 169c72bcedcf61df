import { expect, test } from 'vitest'
import { CommandError } from '../failure.ts'
import { readEnrolledPerson } from './enrolled.ts'

test.each([
  ['UIN=8128560370', { person: '8128560370' }],
  ['uin=8128560370', { person: '8128560370' }],
  ['NID=77', { person: '77', identifier_type: 'NID' }],
  ['SHOE=4=2', { person: '4=2', identifier_type: 'SHOE' }],
])('%s is asked with its type, unless that is the primary one', (text, expected) => {
  expect(readEnrolledPerson(text, 'ibr')).toEqual(expected)
  expect(readEnrolledPerson(text, 'ess')).toEqual(expected)
})

test('a person without a type is refused, and the value is not repeated', () => {
  expect(() => readEnrolledPerson('8128560370', 'ibr')).toThrow(
    new CommandError('--person must be a type and a value, such as UIN=8128560370'),
  )
})
