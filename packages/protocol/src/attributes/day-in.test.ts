import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayIn, isTimeZone } from './day-in.ts'

describe('dayIn', () => {
  it.each([
    ['UTC', '2026-02-28T23:59:59.999Z', '2026-02-28'],
    ['UTC', '2026-03-01T00:00:00Z', '2026-03-01'],
    ['Africa/Nairobi', '2026-02-28T21:00:00Z', '2026-03-01'],
    ['America/Lima', '2026-03-01T04:59:00Z', '2026-02-28'],
    ['Asia/Kathmandu', '2024-02-28T18:15:00Z', '2024-02-29'],
    ['Pacific/Kiritimati', '2025-12-31T10:00:00Z', '2026-01-01'],
    // Summer time moves the border of a day.
    ['Europe/Berlin', '2026-06-30T22:00:00Z', '2026-07-01'],
    ['Europe/Berlin', '2026-12-30T22:30:00Z', '2026-12-30'],
  ])('in %s at %s it is %s', (zone, instant, day) => {
    expect(dayIn(zone, Date.parse(instant))).toBe(day)
  })

  it('in UTC it is the day of the ISO text, in any of ten thousand years', () => {
    const instant = fc.integer({ min: Date.parse('0001-01-02'), max: Date.parse('9999-12-30') })
    // The engine's own calendar is the older one before 1582.
    const modern = instant.filter((at) => at > Date.parse('1582-10-16'))
    fc.assert(
      fc.property(modern, (at) => {
        expect(dayIn('UTC', at)).toBe(new Date(at).toISOString().slice(0, 10))
      }),
    )
  })

  it('is another day a millisecond after the last one of a day, whatever was asked before', () => {
    const midnight = Date.parse('2026-02-28T21:00:00Z')
    const asked = [-1, 0, 999, -1_000, -1, 86_400_000, 0]
    const days = asked.map((after) => dayIn('Africa/Nairobi', midnight + after).slice(5))
    expect(days).toEqual(['02-28', '03-01', '03-01', '02-28', '02-28', '03-02', '03-01'])
    expect(dayIn('Africa/Lagos', midnight)).toBe('2026-02-28')
    expect(() => dayIn('Africa/Lagos', Number.NaN)).toThrow(RangeError)
  })

  it('does not know what is no zone', () => {
    expect(() => dayIn('Mars/Olympus', 0)).toThrow(RangeError)
  })
})

describe('isTimeZone', () => {
  it.each(['UTC', 'Africa/Nairobi', 'America/Argentina/Ushuaia', 'europe/berlin'])('%s is one', (name) => {
    expect(isTimeZone(name)).toBe(true)
  })

  it.each(['', 'Mars/Olympus', 'Nairobi', 'UTC ', '__proto__'])('%j is none', (name) => {
    expect(isTimeZone(name)).toBe(false)
  })
})
