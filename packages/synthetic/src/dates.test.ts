import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ageAtCensus, CENSUS_DAY, dayNumber, isoDay, isoTime, toDottedDate } from './dates.ts'

test('days and times are written as the platform writes them', () => {
  const day = fc.integer({ min: dayNumber(1600, 1, 1), max: dayNumber(2400, 12, 31) })
  fc.assert(
    fc.property(day, fc.integer({ min: 0, max: 86_399 }), (number, second) => {
      const platform = new Date(number * 86_400_000 + second * 1000).toISOString()
      expect(isoDay(number)).toBe(platform.slice(0, 10))
      expect(isoTime(number, second)).toBe(platform.replace('.000', ''))
    }),
  )
})

test('leap days exist, and the census is on the last day of 2025', () => {
  expect(isoDay(dayNumber(2000, 2, 29))).toBe('2000-02-29')
  expect(isoDay(dayNumber(1900, 2, 29))).toBe('1900-03-01')
  expect(isoDay(CENSUS_DAY)).toBe('2025-12-31')
})

test('the local spelling turns full dates and leaves partial ones', () => {
  expect(toDottedDate('2004-05-02')).toBe('02.05.2004')
  expect(toDottedDate('1985-06')).toBe('1985-06')
  expect(toDottedDate('1985')).toBe('1985')
})

test('age counts completed years', () => {
  expect(ageAtCensus(dayNumber(2007, 12, 31))).toBe(18)
  expect(ageAtCensus(dayNumber(2008, 1, 1))).toBe(17)
  expect(ageAtCensus(CENSUS_DAY)).toBe(0)
})
