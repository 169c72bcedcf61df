/** What a query compares with, read by the rows that read records, so that the two always mean the same. */
import type { JsonValue } from '../json.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import {
  ATTRIBUTE_TYPES,
  type AttributeScalar,
  exactNumberOf,
  finite,
  type ReadScalar,
} from './attribute-types.ts'
import { instantInterval } from './dates.ts'

/**
 * The types that a query writes in its own way: who asks for "2024-06" means all of it, and who compares with a number
 * of too many digits would be answered about another one.
 */
const LITERALS: Partial<Record<AttributeType, ReadScalar>> = {
  number: (raw) => finite(exactNumberOf(raw)),
  datetime: (raw) =>
    typeof raw === 'string' || typeof raw === 'number' ? instantInterval(String(raw)) : null,
}

/**
 * The value of a query, as the attribute's type compares it; null where it is none of the type's.
 * - text, code, boolean: as in `AttributeScalar`; number: the same, of what `exactNumber` reads
 * - date: the interval of days; datetime: the interval of instants, as ISO UTC texts to the millisecond. Without a
 *   time of day it is the whole day, month or year in UTC, else `from` and `to` are one instant
 * - age: a whole number of years, 0 to 1000
 */
export function readLiteral(attribute: Attribute, raw: JsonValue): AttributeScalar | null {
  const read = LITERALS[attribute.type] ?? ATTRIBUTE_TYPES[attribute.type]
  return read(raw, attribute)
}
