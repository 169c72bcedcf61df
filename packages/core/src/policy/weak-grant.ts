/** Which grants are weaker than they need to be. */
import { ALL, type GrantTerms } from '../model/grant.ts'

/** Whether it asks and shows everything of every record, without a consent. Grants of the versions before are such. */
export const isWeakGrant = ({ ask, see, rows, basis }: GrantTerms): boolean =>
  see === ALL && ask === ALL && rows === undefined && basis === 'law'
