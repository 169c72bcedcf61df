/** Compares texts by code point, as PostgreSQL's collation "C" does. JavaScript's own order is different. */

const FIRST_SURROGATE = 0xd800
const AFTER_SURROGATES = 0xe000

/**
 * Compares two texts by code point: negative, 0 or positive when `one` comes before, is equal to, or comes after
 * `other`. JavaScript compares UTF-16 units, by which an emoji would come before a full-width letter.
 */
export function compareCodePoints(one: string, other: string): number {
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at += 1) {
    const [unit, against] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (unit !== against) return rankOfUtf16Unit(unit) - rankOfUtf16Unit(against)
  }
  return one.length - other.length
}

/** The place of a UTF-16 unit in the order. A surrogate is half of a high code point, so it comes after others. */
function rankOfUtf16Unit(unit: number): number {
  if (unit < FIRST_SURROGATE) return unit
  return unit < AFTER_SURROGATES ? unit + 0x2000 : unit - 0x800
}
