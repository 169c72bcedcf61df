/** Finds grants that allow more than necessary. */
import { ALL, type GrantTerms } from '../model/grant.ts'

/**
 * Whether the grant allows to ask and see everything of every record, without a consent. Grants of earlier versions do.
 */
export const isWeakGrant = ({ ask, see, rows, basis }: GrantTerms): boolean =>
  see === ALL && ask === ALL && rows === undefined && basis === 'law'
