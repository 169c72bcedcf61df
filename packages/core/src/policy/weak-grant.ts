/** Recognises grants that allow nearly everything. */
import { ALL_NAMES, type GrantTerms } from '../model/grant.ts'

/**
 * True when the grant allows to ask about and see all attributes, without conditions on records and without a consent. No other
 * member counts, such as operations, record types or minors. Grants of earlier versions are like that.
 */
export const isTooWideGrant = ({ ask, see, rows, basis }: GrantTerms): boolean =>
  see === ALL_NAMES && ask === ALL_NAMES && rows === undefined && basis === 'law'
