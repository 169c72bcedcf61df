/** Makes codes of subscriptions. A code is random, so nobody can guess it. It only names the subscription. */

import { randomValues } from '../model/digests.ts'

/** The 32 digits of base 32, without letters that look like digits. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 24

/** A new code: `SUB-` and 120 random bits. */
export const newSubscriptionCode = (): string =>
  `SUB-${[...randomValues(LENGTH)].map((byte) => LETTERS[byte % LETTERS.length]).join('')}`
