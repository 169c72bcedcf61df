/** The terms of grants, as admin functions take and give them. */

import { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { readTerms } from '@rollcall/core/policy/grant'
import { GrantProblem } from '@rollcall/core/policy/grant-problem'
import { StoreRefusal } from '@rollcall/database/refusal'
import { type StoredGrant, timesOf } from '@rollcall/participants/store/grants'
import { type Kind, type PathStep, pathText } from '@rollcall/protocol'
import Type from 'typebox'
import { AdminRefusal } from '../use-case.ts'

export const Terms = Type.Unsafe<GrantTerms>(GrantTerms)

/** Why the terms mean nothing in a registry of this kind; null: they mean something. */
export function problemOf(kind: Kind, terms: GrantTerms): GrantProblem | null {
  try {
    readTerms(kind, terms)
    return null
  } catch (error) {
    if (error instanceof GrantProblem) return error
    throw error
  }
}

/** Whether a grant does not count any more. */
export const hasEnded = ({ valid_until }: Pick<StoredGrant, 'valid_until'>, now: Date): boolean =>
  valid_until !== null && valid_until <= now

/**
 * The terms, as they are stored.
 * @param at the member of the input in which they stand
 * @throws AdminRefusal a member names something that the registry does not have
 */
export function checkedTerms({ kind }: Pick<Registry, 'kind'>, terms: GrantTerms, at: readonly PathStep[]): GrantTerms {
  try {
    readTerms(kind, terms)
    timesOf(terms)
    return terms
  } catch (error) {
    if (!(error instanceof GrantProblem || error instanceof StoreRefusal)) throw error
    const member = error instanceof GrantProblem ? error.member : 'valid_until'
    throw new AdminRefusal(`${pathText(at)}.${error.message}`, { cause: error, at: [...at, ...member.split('.')] })
  }
}
