/** Makes codes of subscriptions. A code is random, so nobody can guess it. It only names the subscription. */

import { randomValues } from '../model/digests.ts'

/** The 32 digits of base 32, without letters that look like digits. */
const BASE32_DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CODE_DIGIT_COUNT = 24

/** A new code: `SUB-` and 120 random bits. */
export const newSubscriptionCode = (): string =>
  `SUB-${[...randomValues(CODE_DIGIT_COUNT)].map((byte) => BASE32_DIGITS[byte % BASE32_DIGITS.length]).join('')}`
