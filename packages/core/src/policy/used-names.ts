/** Finds the names in the `see` of a grant that are needed to show given paths of records. */
import { type Kind, namesOf, type RecordType, searchKey } from '@rollcall/protocol'
import { ALL_NAMES, type GrantTerms, type VisibleTreeNode } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'
import { GRANT_NAME_OF_IDENTIFIERS, visibleMemberTrees } from './visible.ts'

/** Dotted paths of values, by record type. */
export type ShownPaths = Readonly<Record<string, readonly string[]>>

/**
 * Lists the names of a grant that are needed to show these paths.
 * @param see the `see` of the grant
 * @param recordTypes the granted record types
 * @returns names from `see`; when `see` is `all`, a short list of names that show the same
 */
export function listNeededGrantNames(
  kind: Kind,
  recordTypes: readonly RecordType[],
  see: GrantTerms['see'],
  shown: ShownPaths,
): readonly string[] {
  const relations = recordTypes.flatMap((recordType) => recordType.relations ?? [])
  const isRelation = (name: string): boolean => relations.some((relation) => searchKey(relation.name) === searchKey(name))
  const candidates = see === ALL_NAMES ? [...new Set(allAttributeAndRelationNames(recordTypes))] : see
  const used = candidates.filter(
    (name) =>
      isRelation(name) &&
      relations.some(
        (relation) =>
          searchKey(relation.name) === searchKey(name) &&
          Object.values(shown)
            .flat()
            .some((path) => relation.paths.some((place) => `${searchKey(path)}.`.startsWith(`${searchKey(place)}.`))),
      ),
  )
  const pathsShownBy = (names: readonly string[]) => pathsVisibleBy(kind, recordTypes, names, shown)
  const alone = pathsShownBy(used).size
  const others = candidates.filter((name) => !isRelation(name) && pathsShownBy([...used, name]).size > alone)
  if (see !== ALL_NAMES) return see.filter((name) => used.includes(name) || others.includes(name))
  const known = pathsShownBy([...used, ...others])
  const members = Object.entries(shown).flatMap(([recordType, paths]) =>
    paths.filter((path) => !known.has(`${recordType} ${path}`) && pathsShownBy([path]).size > 0),
  )
  return [...others, ...used, ...new Set(members)]
}

const allAttributeAndRelationNames = (recordTypes: readonly RecordType[]): readonly string[] =>
  recordTypes.flatMap(({ attributes, compounds = [], relations = [] }) => [
    GRANT_NAME_OF_IDENTIFIERS,
    ...attributes.map(({ name }) => name),
    ...compounds.flatMap(({ members }) => members.map(({ name }) => name)),
    ...relations.map(({ name }) => name),
  ])

/**
 * The paths of `shown` that a grant with these names would show, each as `<record type> <path>`; empty when a name is unknown or
 * not allowed in a grant.
 */
function pathsVisibleBy(
  kind: Kind,
  recordTypes: readonly RecordType[],
  names: readonly string[],
  shown: ShownPaths,
): ReadonlySet<string> {
  const trees = visibleTreesWithoutAges(kind, recordTypes, names)
  return new Set(
    Object.entries(shown).flatMap(([name, paths]) => {
      const tree = trees?.get(name)
      if (tree === undefined) return []
      return paths.flatMap((path) => (isMemberPathShown(tree, path.split('.')) ? [`${name} ${path}`] : []))
    }),
  )
}

/**
 * The trees for the names. Names of ages are left out: an age is not stored, so it shows no path. Null when a name is unknown, or
 * no grant may have the name.
 */
function visibleTreesWithoutAges(kind: Kind, recordTypes: readonly RecordType[], names: readonly string[]) {
  const ages = recordTypes.flatMap(({ attributes }) =>
    attributes.flatMap((row) => (row.type === 'age' ? namesOf(row).map(searchKey) : [])),
  )
  try {
    return visibleMemberTrees(
      kind,
      recordTypes,
      names.filter((name) => !ages.includes(searchKey(name))),
    )
  } catch (error) {
    if (error instanceof GrantProblem) return null
    throw error
  }
}

const IDENTIFIER_MEMBERS = ['identifier_type', 'identifier_value']

function isMemberPathShown(tree: VisibleTreeNode, [name, ...rest]: readonly string[]): boolean {
  if (tree.whole) return true
  if (name === undefined) return tree.value || tree.identifiers.length > 0
  const key = searchKey(name)
  if (tree.identifiers.length > 0 && rest.length === 0 && IDENTIFIER_MEMBERS.includes(key)) return true
  return [tree, ...(tree.like === undefined ? [] : [tree.like])].some((part) => {
    const below = part.members.get(key)
    return below !== undefined && isMemberPathShown(below, rest)
  })
}
