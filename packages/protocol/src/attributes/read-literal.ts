/** Reads values of queries as values of records are read, with the exceptions of `LITERAL_READER_OVERRIDES`. */
import type { JsonValue } from '../json.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import {
  ATTRIBUTE_TEXT_MAX_LENGTH,
  type AttributeScalar,
  exactNumberOrNaN,
  finiteOrNull,
  normaliseCodeValue,
  normaliseText,
  SCALAR_READERS,
} from './attribute-types.ts'
import { instantInterval } from './dates.ts'

type LiteralReader = (raw: JsonValue, attribute: Attribute, part: boolean) => AttributeScalar | null

/**
 * The types whose values are read differently in queries. As a datetime, "2024-06" means the whole month. A number with too many
 * digits is refused instead of rounded. A text or code of more than 512 characters is refused instead of cut.
 */
const LITERAL_READER_OVERRIDES: Partial<Record<AttributeType, LiteralReader>> = {
  text: (raw, attribute, part) => textUnlessTooLong(raw, normaliseText(raw, attribute, part)),
  code: (raw, attribute) => textUnlessTooLong(raw, normaliseCodeValue(raw, attribute)),
  number: (raw) => finiteOrNull(exactNumberOrNaN(raw)),
  datetime: (raw) => (typeof raw === 'string' || typeof raw === 'number' ? instantInterval(String(raw)) : null),
}

/** The text; null when it has more than 512 characters, or `raw` has more than 4,096, so that only its beginning was read. */
function textUnlessTooLong(raw: JsonValue, text: string | null): string | null {
  const longest = Math.max(text?.length ?? 0, typeof raw === 'string' ? raw.length / 8 : 0)
  return longest > ATTRIBUTE_TEXT_MAX_LENGTH ? null : text
}

/**
 * Reads a value of a query; null when the attribute's type does not allow it.
 * - text, code, boolean: as in `AttributeScalar`; number: a finite number; null when it would change as a double (`exactNumber`)
 * - date: the interval of days; datetime: the interval of instants, as ISO UTC texts to the millisecond. Without a time
 * of day it is the whole day, month or year in UTC, otherwise `from` and `to` are one instant
 * - age: a whole number of years, 0 to 1000
 * @param part true when `raw` is looked for in longer texts, such as at their beginning: spaces at its ends are kept
 */
export function readLiteral(attribute: Attribute, raw: JsonValue, part = false): AttributeScalar | null {
  const read = LITERAL_READER_OVERRIDES[attribute.type]
  return read === undefined ? SCALAR_READERS[attribute.type](raw, attribute) : read(raw, attribute, part)
}
