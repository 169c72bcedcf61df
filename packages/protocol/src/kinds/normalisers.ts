/** Normalises the values of identifiers, so that they can be compared. */
import type { IdentifierType } from './kind.ts'

/** The longest value in characters. Longer values are neither stored nor searched. */
export const IDENTIFIER_MAX_LENGTH = 256

/** White space of every script, and invisible characters such as a zero-width space. */
const INVISIBLE_CHARACTERS = /[\s\p{Cf}]+/gu
const UNUSABLE_CHARACTER = /[\p{Cc}\p{Cs}]/u
const PLAIN_CODE_PATTERN = /^[A-Z0-9-]+$/

const PHONE_PUNCTUATION = /[-./()]/g
const PHONE_DIGITS_PATTERN = /^[0-9]{3,32}$/
const EMAIL_ADDRESS_PATTERN = /^[^@]+@[^@]+$/

/**
 * Removes white space and invisible characters, and composes (NFKC). Both are done twice, because composing changes a lone
 * accent such as "´" into a space and an accent.
 */
const removeInvisibleCharacters = (raw: string): string =>
  raw.replace(INVISIBLE_CHARACTERS, '').normalize('NFKC').replace(INVISIBLE_CHARACTERS, '').normalize('NFKC')

/** Each function keeps leading zeros, returns null for an unusable value, and does not change a normalised value. */
const IDENTIFIER_NORMALISERS: Record<IdentifierType['normaliser'], (raw: string) => string | null> = {
  /** Removes differences of case and spaces: "ab 0012" becomes "AB0012". */
  code: (raw) => {
    if (PLAIN_CODE_PATTERN.test(raw)) return raw
    return removeInvisibleCharacters(removeInvisibleCharacters(raw).toUpperCase()) || null
  },
  /** Leaves out punctuation, a leading `tel:`, and a plus, which many writers omit; 3 to 32 digits must be left. */
  phone: (raw) => {
    const digits = raw
      .replace(INVISIBLE_CHARACTERS, '')
      .normalize('NFKC')
      .replace(/^tel:/i, '')
      .replace(PHONE_PUNCTUATION, '')
      .replace(/^\+/, '')
    return PHONE_DIGITS_PATTERN.test(digits) ? digits : null
  },
  email: (raw) => {
    const address = removeInvisibleCharacters(removeInvisibleCharacters(raw).toLowerCase())
    return EMAIL_ADDRESS_PATTERN.test(address) ? address : null
  },
  /** Keeps the value as written, in NFC and without spaces at its ends. */
  exact: (raw) => raw.normalize('NFC').trim() || null,
}

/**
 * The value by which an identifier is stored and compared. Null when `raw` cannot be used: it is empty, longer than
 * 1024 characters, or than 256 when normalised, has control characters or lone surrogates, or is not a telephone number
 * or e-mail address as the type needs.
 */
export function normaliseIdentifier(type: IdentifierType, raw: string): string | null {
  if (raw.length > IDENTIFIER_MAX_LENGTH * 4) return null
  const trimmed = raw.trim()
  if (UNUSABLE_CHARACTER.test(trimmed)) return null
  const value = IDENTIFIER_NORMALISERS[type.normaliser](trimmed)
  return value !== null && value.length <= IDENTIFIER_MAX_LENGTH ? value : null
}
