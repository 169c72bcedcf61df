/** Codes of subscriptions: who knows one can do nothing with it but name it, and nobody can guess one. */
import { randomValues } from '../model/digests.ts'

/** Base 32 without letters that look like digits. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 24

/** `SUB-` and 120 random bits. */
export const newCode = (): string =>
  `SUB-${[...randomValues(LENGTH)].map((byte) => LETTERS[byte % LETTERS.length]).join('')}`
