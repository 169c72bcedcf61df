/** The rule for numbers in JSON: a number is refused when its value would change by reading and writing it as a double. */

/** The rule for numbers in the words of error messages. */
export const NUMBER_RULE = 'the number cannot be kept as it is written; write it as a string'

/**
 * A number of at most this many characters, sign and point included, is accepted without a further check if it has no exponent:
 * a double keeps 15 digits.
 */
const MOST_SURELY_EXACT_CHARACTERS = 15

/**
 * The double for the text of a number; null when this double, written in the shortest form (ECMAScript, RFC 8785), would be
 * another number. `1.0`, `1e2`, `0.1` and `1e20` are accepted; `9007199254740993`, `0.12345678901234567890`, `1e-400` and `1e400`
 * give null.
 * @param literal as in JSON; a plus sign and a missing digit beside the point are also allowed
 */
export function exactNumber(literal: string): number | null {
  const number = Number(literal)
  if (literal.length <= MOST_SURELY_EXACT_CHARACTERS && !literal.includes('e') && !literal.includes('E')) return number
  if (!Number.isFinite(number)) return null
  const written = String(number)
  return written === literal || comparableDecimal(written) === comparableDecimal(literal) ? number : null
}

/** The digits of an integer; null for any other value, and for one that would be written with an exponent. */
export function integerText(value: unknown): string | null {
  return Number.isInteger(value) && Math.abs(Number(value)) < 1e21 ? String(value) : null
}

/**
 * The digits of a literal without leading and trailing zeros, with the power of ten of the first digit: numbers of equal amount
 * give equal texts. The sign is left out, because the two compared literals have the same sign. The time grows only with the
 * length of the literal, which a peer decides.
 */
function comparableDecimal(literal: string): string {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e')
  let first = 0
  while (first < mantissa.length && !isNonZeroDigit(mantissa, first)) first += 1
  if (first === mantissa.length) return '0'
  let last = mantissa.length - 1
  while (!isNonZeroDigit(mantissa, last)) last -= 1
  const found = mantissa.indexOf('.')
  const point = found < 0 ? mantissa.length : found
  const digits = mantissa.slice(first, last + 1).replace('.', '')
  const place = first < point ? point - first - 1 : point - first
  return `${digits}e${place + Number(power)}`
}

function isNonZeroDigit(text: string, at: number): boolean {
  const char = text.charCodeAt(at)
  return char > 0x30 && char <= 0x39
}
