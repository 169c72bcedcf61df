import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isTimestamp, isTimeWithoutZone, timestampInstant } from './timestamps.ts'

test.each([
  ['2026-02-03T09:15:00Z', Date.UTC(2026, 1, 3, 9, 15)],
  ['2026-02-03t09:15:00z', Date.UTC(2026, 1, 3, 9, 15)],
  ['2026-02-03T09:15:00+02:00', Date.UTC(2026, 1, 3, 7, 15)],
  ['2026-02-03T09:15:00-23:59', Date.UTC(2026, 1, 4, 9, 14)],
  ['2026-02-03T09:15:00-00:00', Date.UTC(2026, 1, 3, 9, 15)],
  ['2026-02-03T09:15:00.5Z', Date.UTC(2026, 1, 3, 9, 15, 0, 500)],
  ['2026-02-03T09:15:00.123456789+00:00', Date.UTC(2026, 1, 3, 9, 15, 0, 123)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
  ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
  ['2016-12-31T23:59:60.9Z', Date.UTC(2017, 0, 1)],
  ['2017-01-01T01:59:60+02:00', Date.UTC(2017, 0, 1)],
  ['2016-12-31T15:59:60-08:00', Date.UTC(2017, 0, 1)],
  ['0050-01-01T00:00:00Z', -60589296000000],
  ['0001-01-01T00:00:00Z', Date.parse('0001-01-01')],
  ['9999-12-31T23:59:59.999Z', Date.UTC(10_000, 0, 1) - 1],
])('%s is read', (text, instant) => {
  expect(timestampInstant(text)).toBe(instant)
  expect(isTimestamp(text)).toBe(true)
})

test.each([
  ['no zone', '2026-02-03T09:15:00'],
  ['no seconds', '2026-02-03T09:15Z'],
  ['no time', '2026-02-03'],
  ['a blank for the T', '2026-02-03 09:15:00Z'],
  ['a blank around', ' 2026-02-03T09:15:00Z'],
  ['a line end', '2026-02-03T09:15:00Z\n'],
  ['an empty fraction', '2026-02-03T09:15:00.Z'],
  ['an offset without colon', '2026-02-03T09:15:00+0200'],
  ['an offset without minutes', '2026-02-03T09:15:00+02'],
  ['an offset of a day', '2026-02-03T09:15:00+24:00'],
  ['an offset of 60 minutes', '2026-02-03T09:15:00+01:60'],
  ['a named zone', '2026-02-03T09:15:00+02:00[Africa/Harare]'],
  ['29 February in a common year', '2023-02-29T00:00:00Z'],
  ['29 February 1900', '1900-02-29T00:00:00Z'],
  ['31 April', '2026-04-31T00:00:00Z'],
  ['day 0', '2026-04-00T00:00:00Z'],
  ['month 13', '2026-13-01T00:00:00Z'],
  ['month 0', '2026-00-01T00:00:00Z'],
  ['hour 24', '2026-02-03T24:00:00Z'],
  ['minute 60', '2026-02-03T09:60:00Z'],
  ['second 61', '2026-12-31T23:59:61Z'],
  ['a leap second at noon', '2016-12-31T12:00:60Z'],
  ['a leap second that is none in UTC', '2016-12-31T23:59:60+01:00'],
  ['a time before the year 1 in UTC', '0001-01-01T00:00:00+01:00'],
  ['a time after the year 9999 in UTC', '9999-12-31T23:59:59-01:00'],
  ['digits of another script', '٢٠٢٦-02-03T09:15:00Z'],
  ['nothing', ''],
])('%s is refused', (_, text) => {
  expect(timestampInstant(text)).toBeNull()
  expect(isTimestamp(text)).toBe(false)
})

test('every instant of a clock is read back as it was written', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      expect(timestampInstant(date.toISOString())).toBe(date.getTime())
    }),
  )
})

test.each([
  ['2026-02-03T09:15:00', true],
  ['2026-02-03T09:15', true],
  ['2026-02-03 09:15:00.5', true],
  ['2026-02-03T09:15:00Z', false],
  ['2026-02-03', false],
  ['', false],
])('%s lacks only its zone: %s', (text, expected) => {
  expect(isTimeWithoutZone(text)).toBe(expected)
})
