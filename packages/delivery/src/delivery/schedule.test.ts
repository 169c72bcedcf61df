import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_SCHEDULE, parseSchedule, readRetryAfter, secondsUntilNextAttempt } from './schedule.ts'

test('the first retry comes after five seconds, the last after about 72 hours', () => {
  const middle = { random: 0.5 }
  expect(secondsUntilNextAttempt(DEFAULT_SCHEDULE, 1, middle)).toBe(5)
  expect(secondsUntilNextAttempt(DEFAULT_SCHEDULE, 2, middle)).toBe(30)
  const hours = DEFAULT_SCHEDULE.reduce((sum, pause) => sum + pause, 0) / 3_600
  expect(hours).toBeGreaterThan(70)
  expect(hours).toBeLessThan(74)
  expect(secondsUntilNextAttempt(DEFAULT_SCHEDULE, DEFAULT_SCHEDULE.length, middle)).toBe(28_800)
  expect(secondsUntilNextAttempt(DEFAULT_SCHEDULE, DEFAULT_SCHEDULE.length + 1, middle)).toBeNull()
})

test('pauses vary by a tenth and no more', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (random) => {
      const pause = secondsUntilNextAttempt([100], 1, { random }) ?? 0
      expect(pause).toBeGreaterThanOrEqual(90)
      expect(pause).toBeLessThanOrEqual(110 + 1e-9)
    }),
  )
})

test('a peer may ask for more time, for a day at most, and never for less', () => {
  const middle = { random: 0.5 }
  expect(secondsUntilNextAttempt([5], 1, { ...middle, retryAfter: 60 })).toBe(60)
  expect(secondsUntilNextAttempt([5], 1, { ...middle, retryAfter: 1 })).toBe(5)
  expect(secondsUntilNextAttempt([5], 1, { ...middle, retryAfter: 10_000_000 })).toBe(86_400)
  expect(secondsUntilNextAttempt([5], 2, { ...middle, retryAfter: 60 })).toBeNull()
})

const NOW = Date.UTC(2026, 1, 3, 9, 15, 0)

test.each([
  ['120', 120],
  [' 0 ', 0],
  ['Tue, 03 Feb 2026 09:16:30 GMT', 90],
  ['Tue, 03 Feb 2026 09:00:00 GMT', 0],
  [['7', '9'], 7],
  [undefined, 0],
  ['', 0],
  ['soon', 0],
  ['-5', 0],
  ['1e9', 0],
  ['99999999999', 0],
])('Retry-After %j is %i seconds', (header, seconds) => {
  expect(readRetryAfter(header, NOW)).toBe(seconds)
})

describe('a schedule in the environment', () => {
  test.each([
    ['5', [5]],
    ['0.2, 1,60', [0.2, 1, 60]],
    ['0', [0]],
  ])('%j', (text, steps) => expect(parseSchedule(text)).toEqual(steps))

  test.each(['', '5,', '5;6', 'a', '-1', '1e3', '12345678', Array(101).fill('1').join(',')])('not %j', (text) =>
    expect(parseSchedule(text)).toBeNull(),
  )
})
