/** Which names of a grant what was shown needs: those without which a path of it would not be shown. */
import { type Kind, namesOf, type RecordType, searchKey } from '@rollcall/protocol'
import { ALL, type GrantTerms, type Visible } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'
import { IDENTIFIER, visibleIn } from './visible.ts'

/** Dotted paths of values, by record type. */
export type ShownPaths = Readonly<Record<string, readonly string[]>>

/**
 * @param see what the grant shows
 * @param recordTypes that are granted
 * @returns names of `see`, or where that is all, the fewest that are known
 */
export function usedNames(
  kind: Kind,
  recordTypes: readonly RecordType[],
  see: GrantTerms['see'],
  shown: ShownPaths,
): readonly string[] {
  const relations = recordTypes.flatMap((recordType) => recordType.relations ?? [])
  const isRelation = (name: string): boolean =>
    relations.some((relation) => searchKey(relation.name) === searchKey(name))
  const candidates = see === ALL ? [...new Set(allNames(recordTypes))] : see
  const used = candidates.filter(
    (name) =>
      isRelation(name) &&
      relations.some(
        (relation) =>
          searchKey(relation.name) === searchKey(name) &&
          Object.values(shown)
            .flat()
            .some((path) => relation.paths.some((place) => isWithin(path, place))),
      ),
  )
  const covered = (names: readonly string[]) => coveredPaths(kind, recordTypes, names, shown)
  const alone = covered(used).size
  const others = candidates.filter((name) => !isRelation(name) && covered([...used, name]).size > alone)
  if (see !== ALL) return see.filter((name) => used.includes(name) || others.includes(name))
  const known = covered([...used, ...others])
  const members = Object.entries(shown).flatMap(([recordType, paths]) =>
    paths.filter((path) => !known.has(`${recordType} ${path}`) && covered([path]).size > 0),
  )
  return [...others, ...used, ...new Set(members)]
}

const allNames = (recordTypes: readonly RecordType[]): readonly string[] =>
  recordTypes.flatMap(({ attributes, compounds = [], relations = [] }) => [
    IDENTIFIER,
    ...attributes.map(({ name }) => name),
    ...compounds.flatMap(({ members }) => members.map(({ name }) => name)),
    ...relations.map(({ name }) => name),
  ])

const isWithin = (path: string, place: string): boolean => `${searchKey(path)}.`.startsWith(`${searchKey(place)}.`)

/** The paths that these names show, each behind its record type; none where they mean nothing, or nothing alone. */
function coveredPaths(
  kind: Kind,
  recordTypes: readonly RecordType[],
  names: readonly string[],
  shown: ShownPaths,
): ReadonlySet<string> {
  const trees = treesOf(kind, recordTypes, names)
  return new Set(
    Object.entries(shown).flatMap(([name, paths]) => {
      const tree = trees?.get(name)
      if (tree === undefined) return []
      return paths.flatMap((path) => (shows(tree, path.split('.')) ? [`${name} ${path}`] : []))
    }),
  )
}

/** An age shows nothing by itself, and goes with its date. */
function treesOf(kind: Kind, recordTypes: readonly RecordType[], names: readonly string[]) {
  const ages = recordTypes.flatMap(({ attributes }) =>
    attributes.flatMap((row) => (row.type === 'age' ? namesOf(row).map(searchKey) : [])),
  )
  try {
    return visibleIn(
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

function shows(tree: Visible, [name, ...rest]: readonly string[]): boolean {
  if (tree.whole) return true
  if (name === undefined) return tree.value || tree.identifiers.length > 0
  const key = searchKey(name)
  if (tree.identifiers.length > 0 && rest.length === 0 && IDENTIFIER_MEMBERS.includes(key)) return true
  return [tree, ...(tree.like === undefined ? [] : [tree.like])].some((part) => {
    const below = part.members.get(key)
    return below !== undefined && shows(below, rest)
  })
}
