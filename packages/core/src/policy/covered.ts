/** What a signed consent covers of the records of a registry. */
import { type Kind, searchKey } from '@rollcall/protocol'
import type { Visible } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'
import { visibleIn } from './visible.ts'

/**
 * The tree of each record type. Names that mean nothing in this registry cover nothing, since a consent may be for several;
 * nor do other persons, who have not consented.
 * @param names as in the `see` of a grant
 */
export function coveredBy(kind: Kind, names: readonly string[]): ReadonlyMap<string, Visible> {
  const others = kind.record_types.flatMap(({ relations = [] }) => relations.map(({ name }) => searchKey(name)))
  const meant = names.filter((name) => !others.includes(searchKey(name)) && means(kind, name))
  return visibleIn(kind, kind.record_types, meant)
}

function means(kind: Kind, name: string): boolean {
  try {
    visibleIn(kind, kind.record_types, [name])
    return true
  } catch (error) {
    if (error instanceof GrantProblem) return false
    throw error
  }
}

/** Whether a consent names an attribute, list or member. */
export const covers = ({ attributes }: { readonly attributes: readonly string[] }, name: string): boolean =>
  attributes.some((one) => searchKey(one) === searchKey(name))
