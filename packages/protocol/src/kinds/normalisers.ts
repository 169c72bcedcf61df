/** The rules that make values of identifiers comparable, one row for each normaliser. */
import type { IdentifierType } from './kind.ts'

/** Longer values are not stored and cannot be searched. */
export const IDENTIFIER_MAX_LENGTH = 256

/** White space of every script, and invisible characters, such as a zero-width space. */
const UNSEEN = /[\s\p{Cf}]+/gu
const UNUSABLE = /[\p{Cc}\p{Cs}]/u
const PLAIN_CODE = /^[A-Z0-9-]+$/

const PHONE_PUNCTUATION = /[-./()]/g
const PHONE = /^[0-9]{3,32}$/
const EMAIL = /^[^@]+@[^@]+$/

/** Composed, without what is not seen. A spacing accent becomes a space and an accent, which then composes once more. */
const seen = (raw: string): string => raw.replace(UNSEEN, '').normalize('NFKC').replace(UNSEEN, '').normalize('NFKC')

/**
 * Every row keeps leading zeros, returns null for an unusable value, and does not change an already normalised value.
 */
const NORMALISERS: Record<IdentifierType['normaliser'], (raw: string) => string | null> = {
  /** Case and spaces make no difference: "ab 0012" is "AB0012". */
  code: (raw) => {
    if (PLAIN_CODE.test(raw)) return raw
    return seen(seen(raw).toUpperCase()) || null
  },
  /** Only digits: the plus before a country code is often left out. */
  phone: (raw) => {
    const digits = raw
      .replace(UNSEEN, '')
      .normalize('NFKC')
      .replace(/^tel:/i, '')
      .replace(PHONE_PUNCTUATION, '')
      .replace(/^\+/, '')
    return PHONE.test(digits) ? digits : null
  },
  email: (raw) => {
    const address = seen(seen(raw).toLowerCase())
    return EMAIL.test(address) ? address : null
  },
  /** Keeps the value as it is written, except for composition and space at the ends. */
  exact: (raw) => raw.normalize('NFC').trim() || null,
}

/**
 * The value by which an identifier is stored and compared, or null where `raw` is no usable value of its type:
 * empty, longer than 256 characters, holding control characters, or no phone number or e-mail address at all.
 */
export function normaliseIdentifier(type: IdentifierType, raw: string): string | null {
  if (raw.length > IDENTIFIER_MAX_LENGTH * 4) return null
  const trimmed = raw.trim()
  if (UNUSABLE.test(trimmed)) return null
  const value = NORMALISERS[type.normaliser](trimmed)
  return value !== null && value.length <= IDENTIFIER_MAX_LENGTH ? value : null
}
