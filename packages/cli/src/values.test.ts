import { InvalidArgumentError } from 'commander'
import { expect, test } from 'vitest'
import { CommandError } from './failure.ts'
import { limitValueReader, readInstant, readPersonIdentifier } from './values.ts'

test.each([
  ['0.5', false, 0.5],
  ['200', true, 200],
  ['unlimited', true, Number.POSITIVE_INFINITY],
])('%s is a limit', (text, whole, value) => expect(limitValueReader({ whole })(text)).toBe(value))

test.each([
  ['0', false, 'It must be a number above 0, or unlimited.'],
  ['-1', false, 'It must be a number above 0, or unlimited.'],
  ['1e3', false, 'It must be a number above 0, or unlimited.'],
  ['Infinity', false, 'It must be a number above 0, or unlimited.'],
  ['1.5', true, 'It must be a whole number above 0, or unlimited.'],
])('%s is none', (text, whole, message) =>
  expect(() => limitValueReader({ whole })(text)).toThrow(new InvalidArgumentError(message)),
)

test.each([
  ['2026-07-01', '2026-07-01T00:00:00.000Z'],
  ['2026-07-01T09:30:00+02:00', '2026-07-01T07:30:00.000Z'],
])('%s is a moment', (text, time) => expect(readInstant(text).toISOString()).toBe(time))

test.each(['2026-02-30', 'tomorrow', '2026-07-01T09:30:00', ''])('%j is none', (text) =>
  expect(() => readInstant(text)).toThrow(
    new InvalidArgumentError('It must be a day such as 2026-07-01 or a time such as 2026-07-01T09:30:00Z.'),
  ),
)

test('a person is named by two words or by one', () => {
  expect(readPersonIdentifier('UIN', 'a=b')).toEqual({ type: 'UIN', value: 'a=b' })
  expect(readPersonIdentifier('UIN=a=b', undefined)).toEqual({ type: 'UIN', value: 'a=b' })
  expect(() => readPersonIdentifier('8128560370', undefined)).toThrow(
    new CommandError('an identifier in one word must be a type and a value, such as UIN=8128560370'),
  )
})
