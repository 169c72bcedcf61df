/** The order of text by code point: that of PostgreSQL's "C" collation over UTF-8, and not JavaScript's own. */

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000

/**
 * Negative, 0 or positive when `one` comes before, is equal to or comes after `other` by code point. JavaScript
 * compares UTF-16 units, in which an emoji comes before a full-width letter; by code point, and in UTF-8, it comes
 * after it.
 */
export function compareCodePoints(one: string, other: string): number {
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at += 1) {
    const [unit, against] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (unit !== against) return rank(unit) - rank(against)
  }
  return one.length - other.length
}

/**
 * Surrogates are halves of code points above all that fit one unit, so they are moved behind the units that follow
 * them.
 */
function rank(unit: number): number {
  if (unit < SURROGATES) return unit
  return unit < AFTER_SURROGATES ? unit + 0x2000 : unit - 0x800
}
