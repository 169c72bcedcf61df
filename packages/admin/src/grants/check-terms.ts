/** The checks of a grant's terms against a registry. */
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { readTerms } from '@rollcall/core/policy/grant'
import { GrantProblem } from '@rollcall/core/policy/grant-problem'
import { StoreRefusal } from '@rollcall/database/refusal'
import { GRANT_END_RULE, requireGrantPeriod } from '@rollcall/participants/store/grants'
import { type Kind, type PathStep, pathText } from '@rollcall/protocol'
import { AdminRefusal } from '../admin-function.ts'
import { isExpiredGrant } from './terms.ts'

/** Returns the reason why the terms cannot be used in a registry of this kind; null: they can. */
export function grantProblemIn(kind: Kind, terms: GrantTerms): GrantProblem | null {
  try {
    readTerms(kind, terms)
    return null
  } catch (error) {
    if (error instanceof GrantProblem) return error
    throw error
  }
}

/**
 * Checks terms, and returns them.
 * @param at the member of the input that has them
 * @throws AdminRefusal a member is not valid in the registry, such as a name that it does not have, or `valid_until` is refused
 */
export function checkTerms({ kind }: Pick<Registry, 'kind'>, terms: GrantTerms, at: readonly PathStep[]): GrantTerms {
  try {
    readTerms(kind, terms)
    if (isExpiredGrant(requireGrantPeriod(terms))) throw new StoreRefusal(GRANT_END_RULE)
    return terms
  } catch (error) {
    if (!(error instanceof GrantProblem || error instanceof StoreRefusal)) throw error
    const member = error instanceof GrantProblem ? error.member : 'valid_until'
    throw new AdminRefusal(`${pathText(at)}.${error.message}`, { cause: error, at: [...at, ...member.split('.')] })
  }
}
