import { ItemRejection } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Frequency } from '../model/event.ts'
import { cronText, readCron } from './cron.ts'
import { nextScheduledRunOrEnd, nextScheduledRuns, readFrequency } from './frequency.ts'

const NOW = new Date('2026-02-03T09:15:00.000Z')
const SCOPE = { time_zone: 'UTC', now: NOW }
const PERIOD = { start_time: '2026-02-01T00:00:00Z', end_time: '2027-02-01T00:00:00Z' }

const read = (frequency: unknown, more: object = {}, scope: object = {}): Frequency =>
  readFrequency({ ...PERIOD, frequency, ...more } as never, { ...SCOPE, ...scope })

function frequency(cron: string, start = '2020-01-01T00:00:00Z', end = '2040-01-01T00:00:00Z'): Frequency {
  return { cron: cronText(readCron(cron)), start_at: new Date(start), end_at: new Date(end) }
}

/** The runs after an instant, as ISO texts without milliseconds. */
function runs(cron: string, zone: string, after: string, count = 3): readonly string[] {
  return nextScheduledRuns(frequency(cron), zone, new Date(after), count).map((run) => run.toISOString().replace('.000Z', 'Z'))
}

describe('a frequency', () => {
  it('is read into a normal expression and its period', () => {
    expect(read('0 0 0 5,15 * ? *')).toEqual({
      cron: '0 0 0 5,15 * * *',
      start_at: new Date(PERIOD.start_time),
      end_at: new Date(PERIOD.end_time),
    })
  })

  it('may have begun, or begin later', () => {
    expect(read('daily', { start_time: '2020-01-01T00:00:00+05:00' }).start_at).toEqual(new Date('2019-12-31T19:00:00Z'))
    expect(read('daily', { start_time: '2026-12-01T00:00:00Z' }).start_at).toEqual(new Date('2026-12-01T00:00:00Z'))
  })

  it('may run every five seconds, and not more often', () => {
    expect(read('*/5 * * * * *').cron).toBe('0,5,10,15,20,25,30,35,40,45,50,55 * * * * * *')
    expect(() => read('*/4 * * * * *')).toThrow(
      'subscribe_criteria.frequency.frequency: must have at least 5 seconds between two runs',
    )
  })

  const NONE = '.frequency: must have a run between now, or start_time, and end_time'
  it.each<[string, unknown, object, string]>([
    ['each second', '* * * * * *', {}, '.frequency: must have at least 5 seconds between two runs'],
    ['cron of 4 fields', '* * * *', {}, '.frequency: must have 5, 6 or 7 fields'],
    ['cron of 8 fields', '* * * * * * * *', {}, '.frequency: must have 5, 6 or 7 fields'],
    ['61 minutes', '61 * * * *', {}, '.frequency: its minute field must have numbers from 0 to 59'],
    ['31 February', '0 0 31 2 *', {}, NONE],
    ['29 February, in no leap year', '0 0 29 2 *', {}, NONE],
    ['a year that is over', '0 0 0 1 1 ? 2025', {}, NONE],
    ['no run before the end', '0 0 1 1 *', { end_time: '2026-12-31T23:59:59Z' }, NONE],
    ['no expression', undefined, {}, '.frequency: must be a cron expression'],
    ['a number', 5, {}, '.frequency: must be a cron expression'],
    ['an empty text', '', {}, '.frequency: must have 5, 6 or 7 fields'],
    ['no end', 'daily', { end_time: undefined }, '.end_time: must be a date and time with a zone'],
    ['no start', 'daily', { start_time: undefined }, '.start_time: must be a date and time with a zone'],
    ['no zone', 'daily', { end_time: '2027-01-01T00:00:00' }, '.end_time: must be a date and time with a zone'],
    [
      'an end before its start',
      'daily',
      { start_time: '2026-06-01T00:00:00Z', end_time: '2026-05-01T00:00:00Z' },
      '.end_time: must be after start_time',
    ],
    [
      'an end at its start',
      'daily',
      { start_time: '2026-06-01T00:00:00Z', end_time: '2026-06-01T00:00:00Z' },
      '.end_time: must be after start_time',
    ],
    [
      'both in the past',
      'daily',
      { start_time: '2020-01-01T00:00:00Z', end_time: '2021-01-01T00:00:00Z' },
      '.end_time: must be in the future',
    ],
    ['an end that is now', 'daily', { end_time: NOW.toISOString() }, '.end_time: must be in the future'],
  ])('with %s is refused', (_, text, more, message) => {
    const reading = () => read(text, more)
    expect(reading).toThrow(ItemRejection)
    expect(reading).toThrow(expect.objectContaining({ code: 'rjct.notify_details.invalid' }))
    expect(reading).toThrow(`subscribe_criteria.frequency${message}`)
  })

  it.each([null, 'daily', 5, [], true])('that is %j is refused', (given) => {
    expect(() => readFrequency(given, SCOPE)).toThrow(
      'subscribe_criteria.frequency: must be an object with start_time, end_time and frequency',
    )
  })
})

describe('the next tick', () => {
  const daily = frequency('daily', '2026-02-10T00:00:00Z', '2026-02-12T12:00:00Z')

  it.each([
    ['before the period its first instant', '2026-01-01T00:00:00Z', '2026-02-10T00:00:00Z'],
    ['a moment before a tick that tick', '2026-02-10T23:59:59.999Z', '2026-02-11T00:00:00Z'],
    ['at a tick the one after it', '2026-02-11T00:00:00Z', '2026-02-12T00:00:00Z'],
    ['after the last tick the end', '2026-02-12T00:00:00Z', '2026-02-12T12:00:00Z'],
    ['after the end the end', '2026-02-13T00:00:00Z', '2026-02-12T12:00:00Z'],
  ])('is %s', (_, after, tick) => {
    expect(nextScheduledRunOrEnd(daily, 'UTC', new Date(after))).toEqual(new Date(tick))
  })

  it('is the end itself, where it runs then', () => {
    const weekly = frequency('0 12 * * *', '2026-02-10T00:00:00Z', '2026-02-12T12:00:00Z')
    expect(nextScheduledRunOrEnd(weekly, 'UTC', new Date('2026-02-11T12:00:00Z'))).toEqual(weekly.end_at)
  })

  it('is by the clock of the zone', () => {
    expect(runs('0 6 * * *', 'Africa/Nairobi', '2026-02-03T09:15:00Z', 1)).toEqual(['2026-02-04T03:00:00Z'])
    expect(runs('0 6 * * *', 'Asia/Kathmandu', '2026-02-03T09:15:00Z', 1)).toEqual(['2026-02-04T00:15:00Z'])
  })
})

describe('where the clocks change', () => {
  // Berlin: 29 March 2026 has no time from 02:00 to 03:00, 25 October has it twice.
  it('a time that a day leaves out runs when the clocks have gone on', () => {
    expect(runs('30 2 * * *', 'Europe/Berlin', '2026-03-27T12:00:00Z')).toEqual([
      '2026-03-28T01:30:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-30T00:30:00Z',
    ])
  })

  it('so does one of several times', () => {
    expect(runs('30 2,14 * * *', 'Europe/Berlin', '2026-03-28T13:30:00Z')).toEqual([
      '2026-03-29T01:00:00Z',
      '2026-03-29T12:30:00Z',
      '2026-03-30T00:30:00Z',
    ])
  })

  it('a time that a day has twice runs once', () => {
    expect(runs('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z')).toEqual([
      '2026-10-25T00:30:00Z',
      '2026-10-26T01:30:00Z',
      '2026-10-27T01:30:00Z',
    ])
  })

  it('every hour is every hour', () => {
    expect(runs('hourly', 'Europe/Berlin', '2026-10-24T23:30:00Z', 4)).toEqual([
      '2026-10-25T00:00:00Z',
      '2026-10-25T01:00:00Z',
      '2026-10-25T02:00:00Z',
      '2026-10-25T03:00:00Z',
    ])
    expect(runs('hourly', 'Europe/Berlin', '2026-03-28T23:30:00Z', 3)).toEqual([
      '2026-03-29T00:00:00Z',
      '2026-03-29T01:00:00Z',
      '2026-03-29T02:00:00Z',
    ])
  })

  it('at midnight too, in zones that change then', () => {
    // Santiago: 6 September 2026 begins at 01:00.
    expect(runs('daily', 'America/Santiago', '2026-09-05T05:00:00Z', 2)).toEqual(['2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'])
  })
})

describe('at the ends of months and years', () => {
  it.each([
    ['0 0 31 * *', '2026-01-01T00:00:00Z', ['2026-01-31', '2026-03-31', '2026-05-31']],
    ['0 0 29 2 *', '2026-01-01T00:00:00Z', ['2028-02-29', '2032-02-29', '2036-02-29']],
    ['0 0 28-31 2 *', '2027-02-27T00:00:00Z', ['2027-02-28', '2028-02-28', '2028-02-29']],
    ['0 0 30 * *', '2026-01-31T00:00:00Z', ['2026-03-30', '2026-04-30', '2026-05-30']],
    ['monthly', '2026-11-15T00:00:00Z', ['2026-12-01', '2027-01-01', '2027-02-01']],
    ['weekly', '2026-12-21T00:00:00Z', ['2026-12-27', '2027-01-03', '2027-01-10']],
    ['0 0 0 ? * 2 *', '2026-12-21T12:00:00Z', ['2026-12-28', '2027-01-04', '2027-01-11']],
    ['0 0 13 * 5', '2026-02-01T00:00:00Z', ['2026-02-06', '2026-02-13', '2026-02-20']],
    ['0 0 0 1 1,7 ? 2027,2029', '2026-02-01T00:00:00Z', ['2027-01-01', '2027-07-01', '2029-01-01']],
  ])('%j after %s', (cron, after, days) => {
    expect(runs(cron, 'UTC', after)).toEqual(days.map((day) => `${day}T00:00:00Z`))
  })
})

it('every expression ticks at the first minute that its fields name, in UTC', () => {
  const values = (min: number, max: number) =>
    fc.option(
      fc
        .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 3 })
        .map((numbers) => numbers.toSorted((one, other) => one - other)),
      { nil: null },
    )
  const after = fc.integer({ min: Date.parse('2026-01-01'), max: Date.parse('2027-12-31') })
  const listed = (numbers: readonly number[] | null): string => numbers?.join(',') ?? '*'
  const has = (numbers: readonly number[] | null, value: number): boolean => numbers === null || numbers.includes(value)
  const MINUTE = 60_000
  fc.assert(
    fc.property(
      fc.tuple(values(0, 59), values(0, 23), values(1, 28), values(1, 12), values(0, 6)),
      after,
      ([minutes, hours, days, months, weekdays], from) => {
        const cron = [minutes, hours, days, months, weekdays].map(listed).join(' ')
        const isDay = (at: Date): boolean => {
          const [day, weekday] = [has(days, at.getUTCDate()), has(weekdays, at.getUTCDay())]
          const both = days !== null && weekdays !== null
          return has(months, at.getUTCMonth() + 1) && (both ? day || weekday : day && weekday)
        }
        let at = Math.floor(from / MINUTE) * MINUTE + MINUTE
        for (;;) {
          const date = new Date(at)
          if (!isDay(date)) at = Math.floor(at / (1440 * MINUTE)) * 1440 * MINUTE + 1440 * MINUTE
          else if (has(hours, date.getUTCHours()) && has(minutes, date.getUTCMinutes())) break
          else at += MINUTE
        }
        expect(nextScheduledRunOrEnd(frequency(cron), 'UTC', new Date(from))).toEqual(new Date(at))
      },
    ),
    { numRuns: 200 },
  )
})
