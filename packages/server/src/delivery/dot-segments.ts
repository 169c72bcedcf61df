/**
 * Whether a server could take a path for a step out of its prefix. URL parsers resolve `..` in the spellings that the
 * URL standard names. Servers behind them decode once more, fold compatible characters (NFKC), trim spaces, take `\`
 * for `/`, and cut parameters off a segment, so a path is judged by all that such steps can make of it.
 */

/**
 * @param path of a URL as the URL standard writes it
 * @returns true also for a path that cannot be read with certainty
 */
export function couldLeavePrefix(path: string): boolean {
  if (HIDING.test(path)) return true
  const folded = decoded(path)?.normalize('NFKC')
  if (folded === undefined || !READABLE.test(folded)) return true
  const segments = folded.split('/')
  // More segments than were written: a compatible character was a slash.
  return segments.length !== path.split('/').length || segments.some(couldBeDots)
}

/** Encoded slashes, dots, percent signs and control characters: nobody needs them, and to decode again changes them. */
const HIDING = /%(?:2f|5c|2e|25|[01][0-9a-f]|7f)/i

/** Letters, marks and digits of any script that can be seen, and printable ASCII without `\` and `%`. */
const READABLE = /^(?:(?!\p{Default_Ignorable_Code_Point})[\p{L}\p{M}\p{N}]|[ -$&-[\]-~])*$/u

/** Undefined for what is no percent-encoded UTF-8, such as `%u002e` or an overlong form. */
function decoded(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
  } catch {
    return undefined
  }
}

/** Up to where a server may read a segment, and what it may then drop from it. A plus sign may stand for a space. */
const couldBeDots = (segment: string): boolean => /^(?=[^;?#]*\.)[. +\p{M}]*(?:[;?#]|$)/u.test(segment)
