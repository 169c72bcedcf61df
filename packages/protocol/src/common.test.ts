import type { TSchema } from 'typebox'
import { describe, expect, it } from 'vitest'
import {
  CorrelationId,
  INT32_MAX,
  isSpokenVersion,
  Locale,
  oneOf,
  PageRequest,
  Pagination,
  Status,
  Timestamp,
  TransactionId,
} from './common.ts'
import { validator } from './validate.ts'

const page = (page_size: unknown, page_number: unknown = 1, total_count: unknown = 0) => ({ page_size, page_number, total_count })

describe('a field at its bounds', () => {
  const taken: [string, TSchema, unknown][] = [
    ['one character', TransactionId, 'x'],
    ['99 characters', TransactionId, 'x'.repeat(99)],
    ['99 characters beyond the BMP', TransactionId, '𝒙'.repeat(99)],
    ['a UUID', CorrelationId, '5f0c2b7e-0d52-4c6e-9a54-30c1f2d9a001'],
    ['three letters', Locale, 'eng'],
    ['a zone Z', Timestamp, '2026-02-03T09:00:00Z'],
    ['an offset', Timestamp, '2026-02-03T09:00:00.123456+05:30'],
    ['a status', Status, 'pdng'],
    ['the largest int32', PageRequest, { page_size: INT32_MAX }],
    ['a page of nothing', Pagination, page(1)],
  ]
  it.each(taken)('is taken: %s', (_, schema, value) => {
    expect(validator(schema).problem(value, 'x')).toBeNull()
  })

  const refused: [string, TSchema, unknown, string][] = [
    ['nothing', TransactionId, '', 'x: must not be empty'],
    ['100 characters', TransactionId, 'x'.repeat(100), 'x: must have at most 99 characters'],
    ['a number', TransactionId, 900, 'x: must be a string'],
    ['an underscore', CorrelationId, 'c_1', 'x: may hold only letters, digits and "-"'],
    ['a line break at the end', CorrelationId, 'c-1\n', 'x: may hold only letters, digits and "-"'],
    ['four letters', Locale, 'engl', 'x: must be three lower-case letters (ISO 639-3)'],
    ['a capital', Locale, 'Eng', 'x: must be three lower-case letters (ISO 639-3)'],
    ['one above int32', PageRequest, { page_size: INT32_MAX + 1 }, 'x.page_size: must be at most 2147483647'],
    ['half a page', PageRequest, { page_size: 0.5 }, 'x.page_size: must be a whole number'],
    ['a page number of text', PageRequest, { page_size: 1, page_number: '1' }, 'x.page_number: must be a whole number'],
    ['a negative total', Pagination, page(1, 1, -1), 'x.total_count: must be at least 0'],
    ['a status in capitals', Status, 'SUCC', 'x: must be one of rcvd, pdng, succ, rjct'],
    ['a word of a closed list', oneOf(['a', 'b']), 'c', 'x: must be one of a, b'],
  ]
  it.each(refused)('is refused: %s', (_, schema, value, problem) => {
    expect(validator(schema).problem(value, 'x')).toBe(problem)
  })
})

describe('isSpokenVersion (D26)', () => {
  it.each([undefined, '1.0.0', '1.0', '1'])('%s is spoken', (version) => {
    expect(isSpokenVersion(version)).toBe(true)
  })

  it.each(['2.0.0', '1.0.1', '', ' 1.0.0', '1.0.0\n'])('%j is not', (version) => {
    expect(isSpokenVersion(version)).toBe(false)
  })
})
