/** Reads dates in a given format, such as `dd/MM/yyyy`. An ambiguous format is refused. */
import { dayInterval } from '@rollcall/protocol'

/** Returns the ISO date of a text, with the time if the format has hours; null: the text has another form, or is no real date. */
export type DateReader = (text: string) => string | null

type DatePart = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second'

interface FormatToken {
  readonly part: DatePart
  readonly pattern: string
  readonly meaning: string
  /** Set when the token has a varying number of digits. A separator must then stand before a next token of digits. */
  readonly varies?: true
}

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
]
const MONTH_NAMES_PATTERN = MONTHS.join('|')
const SHORT_MONTHS_PATTERN = MONTHS.map((name) => name.slice(0, 3)).join('|')

/** The tokens of a format. Other letters must be between single quotation marks. */
export const DATE_TOKENS: Readonly<Record<string, FormatToken>> = {
  yyyy: { part: 'year', pattern: '\\d{4}', meaning: 'the year, four digits' },
  MMMM: { part: 'month', pattern: MONTH_NAMES_PATTERN, meaning: 'the English name of the month, such as March' },
  MMM: { part: 'month', pattern: SHORT_MONTHS_PATTERN, meaning: 'its first three letters, such as Mar' },
  MM: { part: 'month', pattern: '\\d{2}', meaning: 'the month, two digits' },
  M: { part: 'month', pattern: '\\d{1,2}', meaning: 'the month, one or two digits', varies: true },
  dd: { part: 'day', pattern: '\\d{2}', meaning: 'the day of the month, two digits' },
  d: { part: 'day', pattern: '\\d{1,2}', meaning: 'the day of the month, one or two digits', varies: true },
  HH: { part: 'hour', pattern: '\\d{2}', meaning: 'the hour, 00 to 23' },
  mm: { part: 'minute', pattern: '\\d{2}', meaning: 'the minute' },
  ss: { part: 'second', pattern: '\\d{2}', meaning: 'the second' },
}

/** Advice for tokens that other programs have. */
const TOKEN_HINTS: readonly (readonly [letters: RegExp, rule: string])[] = [
  [/^y{1,3}$|^Y{1,3}$/, 'is ambiguous: a date needs a year of four digits, written yyyy'],
  [/^Y+$/, 'is not a token: write yyyy for the year'],
  [/^D+$/, 'is not a token: write dd for the day'],
  [/^h+$|^k+$/, 'is not a token: write HH for the hour, 00 to 23'],
  [/^S+$|^s$/, 'is not a token: write ss for the second'],
  [/^m$/, 'is not a token: write M for the month, or mm for the minute'],
]

const FORMAT_PIECE_PATTERN = /([A-Za-z])\1*|'([^']*)'|[^A-Za-z']/gu

/** Makes the reader of a format. @returns the reader, or the rule that the format breaks */
export function parseDateFormat(format: string): DateReader | string {
  if (format.includes('%')) return 'is written with letters, such as dd/MM/yyyy, and not with %'
  if (format.replace(FORMAT_PIECE_PATTERN, '') !== '') return 'has a quotation mark that is never closed'
  const pieces = [...format.matchAll(FORMAT_PIECE_PATTERN)].map(([text, letter, literal]) => ({ text, letter, literal }))
  const tokens = pieces.map(({ text, letter }) => (letter === undefined ? undefined : DATE_TOKENS[text]))
  const parts = tokens.flatMap((token) => token?.part ?? [])
  for (const [at, { text, letter }] of pieces.entries()) {
    if (letter !== undefined && tokens[at] === undefined) return unknownTokenProblem(text)
    if (tokens[at]?.varies && tokens[at + 1]?.pattern.startsWith('\\d')) {
      return `is ambiguous: ${text} has one or two digits, so a separator must follow; or write ${text}${text}`
    }
  }
  const problem = findDatePartsProblem(parts)
  if (problem !== null) return problem
  const source = pieces.map(({ text, literal }, at) =>
    tokens[at] === undefined ? escapePattern(literal ?? text) : `(${tokens[at].pattern})`,
  )
  return makeDateReader(new RegExp(`^${source.join('')}$`, 'iu'), parts)
}

/** Returns every text without surrounding spaces that a format reads as this day. @param day such as 2001-02-03 */
export type DayWriter = (day: string) => readonly string[]

/**
 * By token: a function that returns every text that the token accepts for a date. `parts` are the year, month and day of the
 * date, such as 2001, 02, 07: for this date, `d` gives `07` and `7`. Tokens for names of months are missing, because a name has
 * many spellings.
 */
const DAY_TOKEN_WRITERS: Readonly<Record<string, (parts: readonly string[]) => readonly string[]>> = {
  yyyy: ([year = '']) => [year],
  MM: ([, month = '']) => [month],
  M: ([, month = '']) => [...new Set([month, String(Number(month))])],
  dd: ([, , day = '']) => [day],
  d: ([, , day = '']) => [...new Set([day, String(Number(day))])],
}

/**
 * Makes the writer of a format that `parseDateFormat` accepts.
 * @returns null when the format accepts too many texts for a day: it has a time, the name of a month, or letters in quotation
 * marks, which may be upper or lower case in the text
 */
export function findDayWriter(format: string): DayWriter | null {
  const pieces = [...format.matchAll(FORMAT_PIECE_PATTERN)].map(([text, letter, literal]) => {
    if (letter !== undefined) return DAY_TOKEN_WRITERS[text] ?? null
    const own = literal ?? text
    return own.toLowerCase() === own.toUpperCase() ? () => [own] : null
  })
  if (pieces.includes(null)) return null
  return (day) => {
    const parts = day.split('-')
    const texts = pieces.map((write) => write?.(parts) ?? [])
    return texts.reduce<readonly string[]>((before, next) => before.flatMap((one) => next.map((two) => one + two)), [''])
  }
}

function unknownTokenProblem(text: string): string {
  const hint = TOKEN_HINTS.find(([letters]) => letters.test(text))?.[1]
  return `${text} ${hint ?? `is not a token: use ${Object.keys(DATE_TOKENS).join(', ')}, and write other letters in single quotes`}`
}

function findDatePartsProblem(parts: readonly DatePart[]): string | null {
  const twice = parts.find((part, at) => parts.indexOf(part) < at)
  if (twice !== undefined) return `has the ${twice} twice`
  if (parts.includes('minute') && !parts.includes('month') && !parts.includes('hour')) {
    return 'has no month: mm means minutes; write MM for the month'
  }
  for (const [part, token] of [
    ['day', 'dd'],
    ['month', 'MM'],
    ['year', 'yyyy'],
  ] as const) {
    if (!parts.includes(part)) return `has no ${part}: write ${token}; a partial date such as 1985 needs no format`
  }
  if (parts.includes('hour') !== parts.includes('minute')) return 'must have both HH and mm, or neither'
  if (parts.includes('second') && !parts.includes('hour')) return 'must have HH and mm before ss'
  return null
}

function makeDateReader(pattern: RegExp, parts: readonly DatePart[]): DateReader {
  return (text) => {
    const found = pattern.exec(text.trim())
    if (found === null) return null
    const at = (part: DatePart): string => found[parts.indexOf(part) + 1] ?? ''
    const two = (part: DatePart): string => at(part).padStart(2, '0')
    const day = `${at('year')}-${monthNumberText(at('month'))}-${two('day')}`
    const time = parts.includes('hour') ? `T${two('hour')}:${two('minute')}` : ''
    const iso = `${day}${time}${parts.includes('second') ? `:${two('second')}` : ''}`
    return dayInterval(iso) === null ? null : iso
  }
}

function monthNumberText(text: string): string {
  const named = MONTHS.findIndex((name) => text.length > 2 && name.startsWith(text.toLowerCase()))
  return (named === -1 ? text : String(named + 1)).padStart(2, '0')
}

const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
