/** Reads values of queries as values of records are read, with the exceptions of `LITERAL_READER_OVERRIDES`. */
import type { JsonValue } from '../json.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import {
  ATTRIBUTE_TEXT_MAX_LENGTH,
  type AttributeScalar,
  exactNumberOf,
  finiteOrNull,
  normaliseCodeValue,
  normaliseText,
  SCALAR_READERS,
} from './attribute-types.ts'
import { instantInterval } from './dates.ts'

type LiteralReader = (raw: JsonValue, attribute: Attribute, part: boolean) => AttributeScalar | null

/**
 * The types whose values are read differently in queries. "2024-06" means the whole month; a number with too many digits is
 * refused instead of rounded; a text longer than the part of texts that is compared is refused too.
 */
const LITERAL_READER_OVERRIDES: Partial<Record<AttributeType, LiteralReader>> = {
  text: (raw, attribute, part) => textIfComparable(raw, normaliseText(raw, attribute, part)),
  code: (raw, attribute) => textIfComparable(raw, normaliseCodeValue(raw, attribute)),
  number: (raw) => finiteOrNull(exactNumberOf(raw)),
  datetime: (raw) => (typeof raw === 'string' || typeof raw === 'number' ? instantInterval(String(raw)) : null),
}

/** The text; null when it is longer than the part that is compared, or `raw` is so long that its end was not read. */
function textIfComparable(raw: JsonValue, text: string | null): string | null {
  const longest = Math.max(text?.length ?? 0, typeof raw === 'string' ? raw.length / 8 : 0)
  return longest > ATTRIBUTE_TEXT_MAX_LENGTH ? null : text
}

/**
 * Reads a value of a query; null when the attribute's type does not allow it.
 * - text, code, boolean: as in `AttributeScalar`; number: the same, read by `exactNumber`
 * - date: the interval of days; datetime: the interval of instants, as ISO UTC texts to the millisecond. Without a time
 * of day it is the whole day, month or year in UTC, otherwise `from` and `to` are one instant
 * - age: a whole number of years, 0 to 1000
 * @param part true when the text is compared with a part of a value, such as its beginning: spaces at its ends are kept
 */
export function readLiteral(attribute: Attribute, raw: JsonValue, part = false): AttributeScalar | null {
  const read = LITERAL_READER_OVERRIDES[attribute.type]
  return read === undefined ? SCALAR_READERS[attribute.type](raw, attribute) : read(raw, attribute, part)
}
