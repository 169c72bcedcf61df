/** The part of records that a signed consent allows to show. */
import { type Kind, searchKey } from '@rollcall/protocol'
import type { VisibleTreeNode } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'
import { visibleMemberTrees } from './visible.ts'

/**
 * For each record type, the tree of the members that a consent allows to show. Names that this registry does not have are
 * ignored, because a consent may be for several registries. Names of relations, such as `parents`, are ignored too: the persons
 * in these relations have not consented.
 * @param names the attributes of the consent, as in `see` of a grant
 */
export function consentCoverage(kind: Kind, names: readonly string[]): ReadonlyMap<string, VisibleTreeNode> {
  const others = kind.record_types.flatMap(({ relations = [] }) => relations.map(({ name }) => searchKey(name)))
  const meant = names.filter((name) => !others.includes(searchKey(name)) && isRecordPartNameInKind(kind, name))
  return visibleMemberTrees(kind, kind.record_types, meant)
}

function isRecordPartNameInKind(kind: Kind, name: string): boolean {
  try {
    visibleMemberTrees(kind, kind.record_types, [name])
    return true
  } catch (error) {
    if (error instanceof GrantProblem) return false
    throw error
  }
}

/** True when the consent names this attribute, list or member. */
export const isNamedInConsent = ({ attributes }: { readonly attributes: readonly string[] }, name: string): boolean =>
  attributes.some((one) => searchKey(one) === searchKey(name))
