import { expect, it } from 'vitest'
import { durationText, longTime, numberText, relativeTime, shortTime } from './times.ts'

const AT = new Date('2026-02-03T21:15:07.000Z')
const zone = { timeZone: 'Asia/Kathmandu' }

it('writes a time in the zone of the reader', () => {
  expect(shortTime(AT, 'en-GB', zone, AT)).toBe('4 Feb, 03:00')
  expect(shortTime(AT, 'en-GB', { ...zone, seconds: true }, AT)).toBe('4 Feb, 03:00:07')
  expect(shortTime(AT, 'en-GB', zone, new Date('2027-06-01T00:00:00.000Z'))).toBe('4 Feb 2026, 03:00')
  expect(longTime(AT, 'en-GB', zone)).toContain('2026-02-03T21:15:07.000Z')
})

it.each([
  [-3_600_000, '1 hour ago'],
  [-59_000, '59 seconds ago'],
  [172_800_000, 'in 2 days'],
  [0, 'now'],
])('says how far %i ms are', (away, expected) => {
  expect(relativeTime(new Date(AT.getTime() + away), AT, 'en-GB')).toBe(expected)
})

it.each([
  [1.26, '1.3 ms'],
  [850, '850 ms'],
  [1_400, '1.4 s'],
  [180_000, '3 min'],
  [9_000_000, '2.5 h'],
])('writes %i ms', (ms, expected) => {
  expect(durationText(ms, 'en-GB')).toBe(expected)
})

it('writes numbers with their thousands', () => {
  expect(numberText(1_234_567, 'en-GB')).toBe('1,234,567')
})
