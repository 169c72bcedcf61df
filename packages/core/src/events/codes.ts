/** Codes of subscriptions. A code cannot be guessed, and whoever knows one can only name the subscription with it. */
import { randomValues } from '../model/digests.ts'

/** Base 32 without letters that look like digits. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 24

/** `SUB-` and 120 random bits. */
export const newCode = (): string =>
  `SUB-${[...randomValues(LENGTH)].map((byte) => LETTERS[byte % LETTERS.length]).join('')}`
