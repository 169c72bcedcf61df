/** Base64url without padding (RFC 4648, 5), in the one spelling that each sequence of bytes has. */

const ALPHABET = /^[A-Za-z0-9_-]*$/
/** What the last character may be when it carries four or two bits that stand for nothing: those are zero. */
const LAST: Readonly<Record<number, RegExp>> = { 2: /[AQgw]$/, 3: /[AEIMQUYcgkosw048]$/ }

/**
 * The number of bytes that a text stands for, or null when it is no base64url: another alphabet, padding, white
 * space, a length that no bytes have, or bits at the end that stand for nothing and are not zero.
 */
export function base64urlBytes(text: unknown): number | null {
  if (typeof text !== 'string' || text.length % 4 === 1 || !ALPHABET.test(text)) return null
  if (LAST[text.length % 4]?.test(text) === false) return null
  return Math.floor((text.length * 3) / 4)
}
