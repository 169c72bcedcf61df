/**
 * Reads one JSON value as each attribute type, one row for each type. The same row reads records and the values of
 * queries, so both always have the same meaning.
 */
import type { JsonValue } from '../json.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import { exactNumber } from '../numbers.ts'
import { normaliseCode } from '../records/code-lists.ts'
import { type DayInterval, dayInterval, instantText } from './dates.ts'
import { composed, firstUnits, foldText } from './text.ts'

/**
 * One comparable value:
 * - text: NFC, folded where the attribute says so; code: the canonical code of its list; the first 512 characters
 * - date: the interval of days as written; datetime: ISO UTC to the millisecond, "2014-05-31T23:10:00.000Z"
 * - number: a finite number; boolean: true or false
 */
export type AttributeScalar = string | number | boolean | DayInterval

/** The value of an attribute in one record: a non-empty list if it may occur many times. */
export type AttributeValue = AttributeScalar | readonly AttributeScalar[]

/** Reads one value, or gives null where it is no value of the type. Never throws, whatever it is given. */
export type ReadScalar = (raw: JsonValue, attribute: Attribute) => AttributeScalar | null

/**
 * Text of a record is compared by as many characters (UTF-16 units) of its normal form, and no longer text can be asked
 * for. In any script this many fit an entry of a database index, which is bounded.
 */
export const ATTRIBUTE_TEXT_MAX_LENGTH = 512
/** The part of a text that is read, so that a very long text costs no more. Folding may shorten it by its marks. */
const READ_LENGTH = 8 * ATTRIBUTE_TEXT_MAX_LENGTH

/**
 * Raise the version of a type when its reader reads a value differently: columns with earlier values are then
 * backfilled again (`reading-rules.ts`). A test compares the results for samples.
 */
export const READER_VERSIONS: Readonly<Record<AttributeType, number>> = {
  text: 3,
  code: 3,
  date: 1,
  datetime: 1,
  number: 1,
  boolean: 1,
  age: 1,
}

/** In years. With a greater age, no calendar day would be left. */
const MAX_AGE = 1_000

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const BOOLEANS: ReadonlyMap<JsonValue, boolean> = new Map<JsonValue, boolean>([
  [true, true],
  ['true', true],
  [1, true],
  ['1', true],
  [false, false],
  ['false', false],
  [0, false],
  ['0', false],
])

export const ATTRIBUTE_TYPES: Readonly<Record<AttributeType, ReadScalar>> = {
  text: (raw, attribute) => first(normalText(raw, attribute)),
  code: (raw, attribute) => first(normalCode(raw, attribute)),
  // A year is often written as a number.
  date: (raw) =>
    typeof raw === 'number' ? dayInterval(String(raw)) : typeof raw === 'string' ? dayInterval(raw) : null,
  datetime: (raw) => (typeof raw === 'string' ? instantText(raw) : null),
  number: (raw) => finiteOrNull(numberOf(raw)),
  // Only values of queries are read so, because records have no ages.
  age: (raw) => {
    const years = exactNumberOf(raw)
    return Number.isInteger(years) && years >= 0 && years <= MAX_AGE ? years : null
  },
  boolean: (raw) => BOOLEANS.get(typeof raw === 'string' ? raw.trim().toLowerCase() : raw) ?? null,
}

/**
 * Text in its normal form, of any length; null when there is none. Folded text has no space at its ends.
 * @param part whether it is only a part of a text: then spaces at its ends are kept
 */
export function normalText(raw: JsonValue, attribute: Attribute, part = false): string | null {
  const text = textOf(raw)
  if (text === null || !attribute.fold) return text === null ? null : composed(text)
  const folded = foldText(text)
  return (part ? folded : folded.trim()) || null
}

/** The canonical code of its list, of any length; null when there is none. */
export function normalCode(raw: JsonValue, { codes }: Attribute): string | null {
  const text = textOf(raw)
  return text === null || codes === undefined ? text : normaliseCode(codes, text)
}

/** Strings, and numbers by their digits: a postal code is sometimes one. */
function textOf(raw: JsonValue): string | null {
  if (typeof raw === 'string') return firstUnits(raw, READ_LENGTH) || null
  return typeof raw === 'number' ? String(raw) : null
}

/**
 * The part of a text that is compared; null when nothing is left. A cut may leave a space at the end, which is removed.
 */
function first(text: string | null): string | null {
  if (text === null || text.length <= ATTRIBUTE_TEXT_MAX_LENGTH) return text
  return firstUnits(text, ATTRIBUTE_TEXT_MAX_LENGTH).trimEnd() || null
}

/** The number; null for NaN and infinity. -0 becomes 0: they are equal, but some code tells them apart. */
export function finiteOrNull(number: number): number | null {
  return Number.isFinite(number) ? number + 0 : null
}

/** A text in a record is compared as the nearest double; the record keeps the text. */
function numberOf(raw: JsonValue): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && NUMBER.test(raw.trim()) ? Number(raw) : Number.NaN
}

/** The number of a query; NaN if the nearest double is another number. */
export function exactNumberOf(raw: JsonValue): number {
  if (typeof raw !== 'string') return numberOf(raw)
  const text = raw.trim()
  return NUMBER.test(text) ? (exactNumber(text) ?? Number.NaN) : Number.NaN
}
