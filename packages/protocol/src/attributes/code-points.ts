/** The order of text by code point: that of PostgreSQL's "C" collation over UTF-8, and not JavaScript's own. */

const SURROGATES = 0xd800
const AFTER_SURROGATES = 0xe000

/**
 * Below 0, 0 or above 0 as `one` stands before, with or after `other`. JavaScript compares UTF-16 units, by which an
 * emoji stands before a full-width letter; in UTF-8 and by code point it stands after it.
 */
export function compareCodePoints(one: string, other: string): number {
  const shared = Math.min(one.length, other.length)
  for (let at = 0; at < shared; at += 1) {
    const [unit, against] = [one.charCodeAt(at), other.charCodeAt(at)]
    if (unit !== against) return rank(unit) - rank(against)
  }
  return one.length - other.length
}

/** Halves of a pair stand for code points above all that fit one unit: they change places with what follows them. */
function rank(unit: number): number {
  if (unit < SURROGATES) return unit
  return unit < AFTER_SURROGATES ? unit + 0x2000 : unit - 0x800
}
