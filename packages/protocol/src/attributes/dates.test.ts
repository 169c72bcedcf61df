import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayInterval, instantInterval, readInstantText } from './dates.ts'

const one = (day: string) => ({ from: day, to: day })

describe('dayInterval', () => {
  it.each([
    ['1985', { from: '1985-01-01', to: '1985-12-31' }],
    ['1985-06', { from: '1985-06-01', to: '1985-06-30' }],
    ['2024-02', { from: '2024-02-01', to: '2024-02-29' }],
    ['1900-02', { from: '1900-02-01', to: '1900-02-28' }],
    ['1985-06-12', one('1985-06-12')],
    [' 1985-06-12 ', one('1985-06-12')],
    ['02.05.2004', one('2004-05-02')],
    ['2.5.2004', one('2004-05-02')],
    ['1980-03-23T10:20:15', one('1980-03-23')],
    ['2024-04-12T00:00', one('2024-04-12')],
    ['2024-04-12 23:59:59.999999', one('2024-04-12')],
    ['0001-01-01', one('0001-01-01')],
  ])('reads %s', (text, interval) => {
    expect(dayInterval(text)).toEqual(interval)
  })

  it.each(['2014-06-01T04:10:00+05:00', '2014-06-01T23:10:00-0500', '2014-06-01T00:00:00Z'])(
    'never shifts %s out of the day that is written',
    (text) => {
      expect(dayInterval(text)).toEqual(one('2014-06-01'))
    },
  )

  it.each([
    '',
    'unknown',
    '31',
    '19850612',
    '0000',
    '0000-01-01',
    '2023-02-31',
    '2023-02-29',
    '1900-02-29',
    '2023-04-31',
    '2023-13',
    '2023-00',
    '2023-00-10',
    '2023-10-00',
    '31.02.2004',
    '00.05.2004',
    '02.00.2004',
    '02.13.2004',
    '02/05/2004',
    '2004-05-02T24:00:00Z',
    '2004-05-02T10:60:00Z',
    '2004-05-02T10:00:61Z',
    '2004-05-02T10:00:00+24:00',
    '2004-05-02T10:00:00+05:60',
    '2004-05-02junk',
    '-2004-05-02',
    '+12004-05-02',
    '\u0662\u0660\u0660\u0664-05-02',
  ])('finds no day in %j', (text) => {
    expect(dayInterval(text)).toBeNull()
  })
})

describe('instantText', () => {
  it.each([
    ['2014-06-01T04:10:00+05:00', '2014-05-31T23:10:00.000Z'],
    ['2014-06-01T23:10:00-0500', '2014-06-02T04:10:00.000Z'],
    ['2014-06-01T04:10:00+05', '2014-05-31T23:10:00.000Z'],
    ['2014-06-01T04:10:00Z', '2014-06-01T04:10:00.000Z'],
    ['2014-06-01t04:10:00z', '2014-06-01T04:10:00.000Z'],
    ['2014-06-01T04:10:00.123456Z', '2014-06-01T04:10:00.123Z'],
    ['2014-06-01T04:10:00,5Z', '2014-06-01T04:10:00.500Z'],
    ['2014-06-01T04:10:00', '2014-06-01T04:10:00.000Z'],
    ['2014-06-01T04:10', '2014-06-01T04:10:00.000Z'],
    ['2014-06-01', '2014-06-01T00:00:00.000Z'],
    ['01.06.2014', '2014-06-01T00:00:00.000Z'],
    ['2014-06', '2014-06-01T00:00:00.000Z'],
    ['2014', '2014-01-01T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
    ['0099-01-01T00:00:00-01:00', '0099-01-01T01:00:00.000Z'],
  ])('reads %s', (text, instant) => {
    expect(readInstantText(text)).toBe(instant)
  })

  it.each(['', 'now', '1700000000000', '2023-02-31T00:00:00Z', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])(
    'finds no instant in %j',
    (text) => {
      expect(readInstantText(text)).toBeNull()
    },
  )
})

describe('for every date and text', () => {
  const nearlyDates = fc
    .tuple(fc.nat(9999), fc.nat(14), fc.nat(33))
    .map(([year, month, day]) => [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')])

  const instant = fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  const offset = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 })

  it('an instant is the same in every zone, and its day is the day as written', () => {
    fc.assert(
      fc.property(instant, offset, (date, minutes) => {
        const clock = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1)
        const absolute = Math.abs(minutes)
        const pair = (number: number) => String(number).padStart(2, '0')
        const zone = `${minutes < 0 ? '-' : '+'}${pair(Math.floor(absolute / 60))}:${pair(absolute % 60)}`
        expect(readInstantText(clock + zone)).toBe(date.toISOString())
        expect(dayInterval(clock + zone)).toEqual(one(clock.slice(0, 10)))
      }),
      { numRuns: 1000 },
    )
  })

  it('a month and a year reach from their first to their last day', () => {
    fc.assert(
      fc.property(instant, (date) => {
        const [year, month] = [date.toISOString().slice(0, 4), date.toISOString().slice(0, 7)]
        const nextMonth = new Date(date)
        nextMonth.setUTCDate(1)
        nextMonth.setUTCMonth(nextMonth.getUTCMonth() + 1)
        const last = new Date(nextMonth.getTime() - 86_400_000).toISOString().slice(8, 10)
        expect(dayInterval(month)).toEqual({ from: `${month}-01`, to: `${month}-${last}` })
        expect(dayInterval(year)).toEqual({ from: `${year}-01-01`, to: `${year}-12-31` })
      }),
    )
  })

  it('what is read is a real day: it survives a round trip through the calendar', () => {
    fc.assert(
      fc.property(nearlyDates, (parts) => {
        const text = parts.join('-')
        const date = new Date(`${text}T00:00:00Z`)
        const real = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && parts[0] !== '0000'
        expect(dayInterval(text)).toEqual(real ? one(text) : null)
        expect(dayInterval(parts.toReversed().join('.'))).toEqual(real ? one(text) : null)
      }),
      { numRuns: 2000 },
    )
  })

  it('an instant is one instant of the interval that its text names, and the first where no time is written', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          nearlyDates.map((parts) => parts.join('-')),
          fc.stringMatching(/^2024-0[12]-2\d[T ]\d\d:\d\d\+0\d$/),
        ),
        (text) => {
          const [instant, interval] = [readInstantText(text), instantInterval(text)]
          expect(interval?.from ?? null).toBe(instant)
          const days = text.includes(':') ? null : dayInterval(text)
          const last = days === null ? instant : `${days.to}T23:59:59.999Z`
          expect(interval?.to ?? null).toBe(last)
        },
      ),
    )
  })

  it('any text gives a value or null, in bounded time', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[0-9TZ:.+-]{0,40}$/)), (text) => {
        const interval = dayInterval(text)
        if (interval !== null) expect(interval.from <= interval.to).toBe(true)
        expect(readInstantText(text) ?? '0000-00-00T00:00:00.000Z').toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      }),
      { numRuns: 300 },
    )
    expect(dayInterval('1'.repeat(1_000_000))).toBeNull()
  })
})
