/**
 * Reads a JSON value of a record as the type of an attribute. Values of queries are read by the same functions, except
 * for the types that `read-literal.ts` reads differently.
 */
import type { JsonValue } from '../json.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import { exactNumber } from '../numbers.ts'
import { normaliseCode } from '../records/code-lists.ts'
import { type DayInterval, dayInterval, readInstantText } from './dates.ts'
import { firstUtf16Units, foldText, normaliseToNfc } from './text.ts'

/**
 * A value that can be compared:
 * - text: the first 512 characters in NFC, folded if the attribute has `fold`
 * - code: the first 512 characters, see `normaliseCode`
 * - date: the first and the last day that the text names; datetime: ISO UTC to the millisecond, "2014-05-31T23:10:00.000Z"
 * - number: a finite number; boolean: true or false; age: whole years
 */
export type AttributeScalar = string | number | boolean | DayInterval

/** The value of an attribute in one record. For an attribute that may occur many times, a list that is not empty. */
export type AttributeValue = AttributeScalar | readonly AttributeScalar[]

/** Reads one value; null when it is not a value of the type. Never throws. */
export type ScalarReader = (raw: JsonValue, attribute: Attribute) => AttributeScalar | null

/**
 * The number of characters (UTF-16 units) of a normalised text that are compared. Queries cannot ask for a longer text.
 * So many characters of any script fit into an entry of a database index.
 */
export const ATTRIBUTE_TEXT_MAX_LENGTH = 512
/** The number of characters that are read of a text: more than are compared, because folding may remove accents. */
const MOST_CHARACTERS_READ_OF_TEXT = 8 * ATTRIBUTE_TEXT_MAX_LENGTH

/**
 * The version of each type's reader. Raise it when the reader reads a value differently: columns must then be
 * backfilled before a query uses them (`reading-rules.ts`). A test fails when a reader reads a sample value differently.
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

/** The greatest age in years that a query may name, so that the day of birth is always after the year 1. */
const MAX_AGE_YEARS = 1_000

const NUMBER_PATTERN = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const BOOLEAN_SPELLINGS: ReadonlyMap<JsonValue, boolean> = new Map<JsonValue, boolean>([
  [true, true],
  ['true', true],
  [1, true],
  ['1', true],
  [false, false],
  ['false', false],
  [0, false],
  ['0', false],
])

/** For each type of attribute, the function that reads one value. */
export const SCALAR_READERS: Readonly<Record<AttributeType, ScalarReader>> = {
  text: (raw, attribute) => cutToAttributeTextMaxLength(normaliseText(raw, attribute)),
  code: (raw, attribute) => cutToAttributeTextMaxLength(normaliseCodeValue(raw, attribute)),
  // A record often has a year as a JSON number, such as 1985.
  date: (raw) => (typeof raw === 'number' ? dayInterval(String(raw)) : typeof raw === 'string' ? dayInterval(raw) : null),
  datetime: (raw) => (typeof raw === 'string' ? readInstantText(raw) : null),
  number: (raw) => finiteOrNull(readNumberOrNaN(raw)),
  // Only queries have ages; records have dates.
  age: (raw) => {
    const years = exactNumberOrNaN(raw)
    return Number.isInteger(years) && years >= 0 && years <= MAX_AGE_YEARS ? years : null
  },
  boolean: (raw) => BOOLEAN_SPELLINGS.get(typeof raw === 'string' ? raw.trim().toLowerCase() : raw) ?? null,
}

/**
 * The normal form of a text (its first 4,096 characters) or number, not yet cut to the 512 characters that are compared;
 * null for other values, or when nothing is left. A folded text has no spaces at its ends.
 * @param part true when a query looks for the text in longer texts: spaces at its ends are then kept
 */
export function normaliseText(raw: JsonValue, attribute: Attribute, part = false): string | null {
  const text = readValueAsText(raw)
  if (text === null || !attribute.fold) return text === null ? null : normaliseToNfc(text)
  const folded = foldText(text)
  return (part ? folded : folded.trim()) || null
}

/**
 * The code of a text or number by `normaliseCode` (the text itself when the attribute has no code list), not yet cut to the
 * 512 characters that are compared; null for other values, or when nothing is left.
 */
export function normaliseCodeValue(raw: JsonValue, { codes }: Attribute): string | null {
  const text = readValueAsText(raw)
  return text === null || codes === undefined ? text : normaliseCode(codes, text)
}

/** The first 4,096 characters of a text, or a number as text, because postal codes may be numbers; null for all else and "". */
function readValueAsText(raw: JsonValue): string | null {
  if (typeof raw === 'string') return firstUtf16Units(raw, MOST_CHARACTERS_READ_OF_TEXT) || null
  return typeof raw === 'number' ? String(raw) : null
}

/**
 * Cuts a text to `ATTRIBUTE_TEXT_MAX_LENGTH`, the part that is compared, and removes spaces at its end. Null when the given text
 * is null, or the cut text has only spaces.
 */
function cutToAttributeTextMaxLength(text: string | null): string | null {
  if (text === null || text.length <= ATTRIBUTE_TEXT_MAX_LENGTH) return text
  return firstUtf16Units(text, ATTRIBUTE_TEXT_MAX_LENGTH).trimEnd() || null
}

/** The number, with 0 in place of -0; null for NaN and infinity. */
export function finiteOrNull(number: number): number | null {
  return Number.isFinite(number) ? number + 0 : null
}

/** The number in a value, NaN when there is none. A text is read as the nearest double; the record keeps the text. */
function readNumberOrNaN(raw: JsonValue): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && NUMBER_PATTERN.test(raw.trim()) ? Number(raw) : Number.NaN
}

/** The number in a value of a query; NaN when the value is no number, or is a text whose number would change as a double. */
export function exactNumberOrNaN(raw: JsonValue): number {
  if (typeof raw !== 'string') return readNumberOrNaN(raw)
  const text = raw.trim()
  return NUMBER_PATTERN.test(text) ? (exactNumber(text) ?? Number.NaN) : Number.NaN
}
