/** Finds grants that allow more than necessary. */
import { ALL, type GrantTerms } from '../model/grant.ts'

/**
 * Whether the grant allows to ask and see all attributes, without a condition on rows and without a consent, whatever it says of
 * minors, identifier types and protected persons. Grants of earlier versions do.
 */
export const isWeakGrant = ({ ask, see, rows, basis }: GrantTerms): boolean =>
  see === ALL && ask === ALL && rows === undefined && basis === 'law'
