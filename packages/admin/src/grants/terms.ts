/** The schema of a grant's terms. Code that only shows terms loads this file, and so not the code that reads queries. */
import { GrantTerms } from '@rollcall/core/model/grant'
import type { StoredGrant } from '@rollcall/participants/store/grants'
import Type from 'typebox'

export const GrantTermsSchema = Type.Unsafe<GrantTerms>(GrantTerms)

/** True when the time of a grant is over. */
export const isExpiredGrant = ({ valid_until }: Pick<StoredGrant, 'valid_until'>, now = new Date()): boolean =>
  valid_until !== null && valid_until <= now
