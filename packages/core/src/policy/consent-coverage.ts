/** The part of a registry's records that a signed consent allows to show. */
import { type Kind, searchKey } from '@rollcall/protocol'
import type { Visible } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'
import { visibleIn } from './visible.ts'

/**
 * The tree of visible members for each record type. A consent may be written for several registries, so names that this
 * registry does not have are ignored. Names of related persons are ignored too: those persons have not consented.
 * @param names the attributes of the consent, written as in the `see` of a grant
 */
export function visibleUnderConsent(kind: Kind, names: readonly string[]): ReadonlyMap<string, Visible> {
  const others = kind.record_types.flatMap(({ relations = [] }) => relations.map(({ name }) => searchKey(name)))
  const meant = names.filter((name) => !others.includes(searchKey(name)) && isKnownName(kind, name))
  return visibleIn(kind, kind.record_types, meant)
}

function isKnownName(kind: Kind, name: string): boolean {
  try {
    visibleIn(kind, kind.record_types, [name])
    return true
  } catch (error) {
    if (error instanceof GrantProblem) return false
    throw error
  }
}

/** Whether the consent names this attribute, list or member. */
export const isUnderConsent = ({ attributes }: { readonly attributes: readonly string[] }, name: string): boolean =>
  attributes.some((one) => searchKey(one) === searchKey(name))
