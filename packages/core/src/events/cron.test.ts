import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Cron, cronText, hasRunDay, readCron, shortestGapSeconds } from './cron.ts'

const normal = (text: string): string => cronText(readCron(text))

describe('an expression of 5, 6 or 7 fields', () => {
  it.each([
    ['* * * * *', '0 * * * * * *'],
    ['0 0 * * *', '0 0 0 * * * *'],
    ['0 0 0 * * *', '0 0 0 * * * *'],
    ['0 0 0 5,15 * ? *', '0 0 0 5,15 * * *'],
    ['0 0 0 5,15 * ? 2027-2028', '0 0 0 5,15 * * 2027,2028'],
    ['  0  0   12 * * * ', '0 0 12 * * * *'],
    ['*/15 8-10 * * *', '0 0,15,30,45 8,9,10 * * * *'],
    ['5/15 * * * *', '0 5,20,35,50 * * * * *'],
    ['10-40/10 * * * *', '0 10,20,30,40 * * * * *'],
    ['30,0,30 * * * *', '0 0,30 * * * * *'],
    ['0-59 0-23 * 1-12 *', '0 * * * * * *'],
    ['05 007 * jan,JUL *', '0 5 7 * 1,7 * *'],
    ['0 0 1-31 * *', '0 0 0 * * * *'],
    ['hourly', '0 0 * * * * *'],
    ['Daily', '0 0 0 * * * *'],
    [' weekly ', '0 0 0 * * 0 *'],
    ['monthly', '0 0 0 1 * * *'],
  ])('%j is %j', (text, expected) => {
    expect(normal(text)).toBe(expected)
  })

  it('is equal to its own normal text', () => {
    expect(normal(normal('0 0 0 5,15 * ? 2027'))).toBe('0 0 0 5,15 * * 2027')
  })
})

describe('Sunday is', () => {
  it.each([
    ['0 in five fields', '0 6 * * 0', '0'],
    ['7 in five fields as well', '0 6 * * 7', '0'],
    ['0 in six fields without ?', '0 0 6 * * 0', '0'],
    ['1 in six fields with ?', '0 0 6 ? * 1', '0'],
    ['1 in seven fields', '0 0 6 ? * 1 *', '0'],
    ['1 in seven fields without ?', '0 0 6 * * 1 2027', '0'],
    ['SUN everywhere', '0 6 * * sun', '0'],
    ['SUN in seven fields', '0 0 6 ? * SUN *', '0'],
  ])('%s', (_, text, weekday) => {
    expect(normal(text).split(' ')[5]).toBe(weekday)
  })

  it.each([
    ['0 6 * * MON-FRI', '1,2,3,4,5'],
    ['0 0 6 ? * MON-FRI *', '1,2,3,4,5'],
    ['0 0 6 ? * 2-6 *', '1,2,3,4,5'],
    ['0 6 * * 5-7', '0,5,6'],
    ['0 6 * * 0-6', '*'],
    ['0 0 6 ? * 1-7', '*'],
  ])('the days of %j are %s', (text, weekdays) => {
    expect(normal(text).split(' ')[5]).toBe(weekdays)
  })
})

describe('where both fields name days', () => {
  it.each([
    ['0 0 13 * 5', '0 0 0 13 * 5 *'],
    // Every day of one kind is every day, whatever the other one names.
    ['0 0 1-31 * 5', '0 0 0 * * * *'],
    ['0 0 13 * 0-6', '0 0 0 * * * *'],
  ])('%j is %j', (text, expected) => {
    expect(normal(text)).toBe(expected)
  })
})

describe('refused is', () => {
  const FIELDS = 'must have 5, 6 or 7 fields, or be one of hourly, daily, weekly, monthly'
  const UNREAD = 'field must not have L, W or #: name the days by numbers'
  it.each([
    ['', FIELDS],
    ['yearly', FIELDS],
    ['* * * *', FIELDS],
    ['* * * * * * * *', FIELDS],
    ['x'.repeat(257), 'must have at most 256 characters'],
    ['61 * * * *', 'its minute field must have numbers from 0 to 59'],
    ['* 24 * * *', 'its hour field must have numbers from 0 to 23'],
    ['60 * * * * *', 'its second field must have numbers from 0 to 59'],
    ['0 0 0 * *', 'its day of month field must have numbers from 1 to 31'],
    ['0 0 32 * *', 'its day of month field must have numbers from 1 to 31'],
    ['0 0 * 13 *', 'its month field must have numbers from 1 to 12'],
    ['0 0 * * 8', 'its day of week field must have numbers from 0 to 7'],
    ['0 0 0 ? * 0 *', 'its day of week field must have numbers from 1 to 7'],
    ['0 0 0 ? * 8', 'its day of week field must have numbers from 1 to 7'],
    ['0 0 0 1 1 ? 1969', 'its year field must have numbers from 1970 to 2099'],
    ['0 0 0 L * ?', `its day of month ${UNREAD}`],
    ['0 0 0 LW * ?', `its day of month ${UNREAD}`],
    ['0 0 0 15W * ?', `its day of month ${UNREAD}`],
    ['0 0 0 L-3 * ?', `its day of month ${UNREAD}`],
    ['0 0 0 ? * 6L', `its day of week ${UNREAD}`],
    ['0 0 0 ? * FRIL', `its day of week ${UNREAD}`],
    ['0 0 0 ? * 6#3', `its day of week ${UNREAD}`],
    ['? * * * *', 'its minute field may have ? only in the two fields of days, and alone'],
    ['0 0 0 ?,5 * *', 'its day of month field may have ? only in the two fields of days, and alone'],
    ['0 0 * * FRI-MON', 'its day of week field must not have a range that runs backwards'],
    ['50-10 * * * *', 'its minute field must not have a range that runs backwards'],
    ['*/0 * * * *', 'its minute field must have steps from 1 to 60'],
    ['*/61 * * * *', 'its minute field must have steps from 1 to 60'],
    ['1,,2 * * * *', 'its minute field must have numbers from 0 to 59, with "," "-" "/" and "*"'],
    ['-1 * * * *', 'its minute field must have numbers from 0 to 59, with "," "-" "/" and "*"'],
    ['1.5 * * * *', 'its minute field must have numbers from 0 to 59, with "," "-" "/" and "*"'],
    ['0 0 * FOO *', 'its month field must have numbers from 1 to 12, or names such as FEB, with "," "-" "/" and "*"'],
  ])('%j', (text, message) => {
    expect(() => readCron(text)).toThrow(message)
  })

  it('whatever is no expression, with a CronProblem and nothing else', () => {
    const piece = fc.oneof(
      fc.constantFrom('*', '?', 'L', 'W', '#', '/', '-', ',', 'MON', 'jan', '0', '59', '2027', ' '),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          expect(normal(normal(pieces.join('')))).toBe(normal(pieces.join('')))
        } catch (error) {
          expect(error).toHaveProperty('name', 'CronProblem')
        }
      }),
    )
  })
})

const subset = (min: number, max: number) =>
  fc.option(fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 4 }), { nil: null })
const ordered = (values: number[] | null) => values?.toSorted((one, other) => one - other) ?? null

describe('the shortest gap', () => {
  it.each([
    ['* * * * * *', 1],
    ['*/5 * * * * *', 5],
    ['* * * * *', 60],
    ['0,58 * * * * *', 2],
    ['0 0 0,23 * * *', 3_600],
    ['59 59 23 * * *', 86_400],
    ['0,58 0,59 0,23 * * *', 2],
  ])('of %j is %d seconds', (text, seconds) => {
    expect(shortestGapSeconds(readCron(text))).toBe(seconds)
  })

  it('is that of all times of two days', () => {
    fc.assert(
      fc.property(subset(0, 59), subset(0, 59), subset(0, 23), (seconds, minutes, hours) => {
        const [second, minute, hour] = [ordered(seconds), ordered(minutes), ordered(hours)]
        const every = (count: number) => Array.from({ length: count }, (_, index) => index)
        const times = (hour ?? every(24)).flatMap((at) =>
          (minute ?? every(60)).flatMap((past) => (second ?? every(60)).map((more) => at * 3_600 + past * 60 + more)),
        )
        let shortest = (times[0] ?? 0) + 86_400 - (times.at(-1) ?? 0)
        for (const [index, time] of times.entries()) {
          if (index > 0) shortest = Math.min(shortest, time - (times[index - 1] ?? 0))
        }
        const cron: Cron = { second, minute, hour, day: null, month: null, weekday: null, year: null }
        expect(shortestGapSeconds(cron)).toBe(shortest)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a day on which it runs', () => {
  it.each([
    ['0 0 31 2 *', 2026, 2126, false],
    ['0 0 31 4,6,9,11 *', 2026, 2126, false],
    ['0 0 31 4,5 *', 2026, 2026, true],
    ['0 0 29 2 *', 2026, 2027, false],
    ['0 0 29 2 *', 2026, 2028, true],
    ['0 0 29 2 *', 2097, 2103, false],
    ['0 0 29 2 *', 2097, 2104, true],
    ['0 0 31 2 1', 2026, 2026, true],
    ['0 0 0 29 2 ? 2026', 2026, 2030, false],
    ['0 0 0 29 2 ? 2028', 2026, 2030, true],
    ['0 0 0 1 1 ? 2025', 2026, 2030, false],
    ['0 0 0 1 1 ? 2025', 2020, 2030, true],
  ])('%j in the years %d to %d: %s', (text, first, last, expected) => {
    expect(hasRunDay(readCron(text), first, last)).toBe(expected)
  })
})
