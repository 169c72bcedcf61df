/** Recognises grants that allow nearly everything. */
import { ALL_NAMES, type GrantTerms } from '../model/grant.ts'

/**
 * True when the grant allows to ask and see everything, without conditions and without a consent. Its rules for minors,
 * identifier types and protected persons do not count. Grants of earlier versions are like that.
 */
export const isWeakGrant = ({ ask, see, rows, basis }: GrantTerms): boolean =>
  see === ALL_NAMES && ask === ALL_NAMES && rows === undefined && basis === 'law'
