/**
 * Turns the names that a grant shows into trees of visible members. A name is that of an attribute, the identifiers,
 * related persons, or a member of the document (by its dotted path). Everything else is not shown.
 */
import {
  type Attribute,
  type Compound,
  type IdentifierSource,
  type Kind,
  namesOf,
  type RecordType,
  type Relation,
  resolveIdentifierType,
  searchKey,
} from '@rollcall/protocol'
import type { VisibleTreeNode } from '../model/grant.ts'
import { GrantProblem } from './grant-problem.ts'
import { hasPath } from './schema-paths.ts'

/** The name in a grant that means the identifiers of the record. */
export const GRANT_NAME_OF_IDENTIFIERS = 'identifier'

/**
 * The tree of visible members for each record type.
 * @param names the names that the grant shows; a name is added to the tree of each record type that has it
 * @throws GrantProblem one of the names is in no granted or related record type, or may not be granted alone
 */
export function visibleMemberTrees(
  kind: Kind,
  recordTypes: readonly RecordType[],
  names: readonly string[],
): ReadonlyMap<string, VisibleTreeNode> {
  checkAgeNames(kind, names)
  const trees = new Map(kind.record_types.map(({ name }) => [name, emptyNode()]))
  const treeOf = (name: string): VisibleTreeNode => trees.get(name) ?? emptyNode()
  for (const name of names) {
    // A name may also be of a related person's record type, which need not be granted itself.
    const shown = kind.record_types.filter((recordType) => addNameToTree(kind, recordType, name, treeOf))
    if (!shown.some((recordType) => recordTypes.includes(recordType) || isRecordTypeInRelations(recordTypes, recordType))) {
      const known = recordTypes.map((one) => one.name).join(', ')
      throw new GrantProblem('see', `${name} is no attribute, relation or member of ${known}`)
    }
  }
  return trees
}

const isRecordTypeInRelations = (recordTypes: readonly RecordType[], { name }: RecordType): boolean =>
  recordTypes.some(({ relations = [] }) => relations.some(({ record_type }) => record_type === name))

const emptyNode = (): VisibleTreeNode => ({ whole: false, value: false, identifiers: [], members: new Map() })

/** Adds a name to the tree of a record type. @returns false when the record type does not have the name */
function addNameToTree(
  kind: Kind,
  recordType: RecordType,
  name: string,
  treeOf: (recordType: string) => VisibleTreeNode,
): boolean {
  const tree = treeOf(recordType.name)
  const key = searchKey(name)
  const sources = recordType.identifiers.filter((row) => row.names === 'record' && identifierSourceName(kind, row) === key)
  for (const source of sources) ensureNodeAt(tree, source.path).identifiers.push(source)
  if (sources.length > 0) return true
  const relation = recordType.relations?.find((row) => searchKey(row.name) === key)
  if (relation !== undefined) {
    addRelatedPersonsToTree(tree, relation, treeOf)
    return true
  }
  const paths = attributePaths(recordType, key)
  if (paths !== undefined) {
    for (const path of paths) ensureNodeAt(tree, path).value = true
    return true
  }
  return markMemberShown(recordType, tree, name)
}

/**
 * The name that a grant must have in `see` to show the identifiers at a path of records. It is the last member of the path when
 * the kind has an identifier type of that name, such as `phone_number`; otherwise `identifier`.
 */
function identifierSourceName(kind: Kind, { path }: IdentifierSource): string {
  const last = path.slice(path.lastIndexOf('.') + 1)
  return resolveIdentifierType(kind, last) === undefined ? GRANT_NAME_OF_IDENTIFIERS : searchKey(last)
}

function addRelatedPersonsToTree(tree: VisibleTreeNode, relation: Relation, treeOf: (name: string) => VisibleTreeNode): void {
  const { paths, record_type } = relation
  for (const path of paths) {
    const person = ensureNodeAt(tree, path)
    person.relation = relation
    if (record_type === undefined) person.identifiers.push({ path, names: 'part' })
    else person.like = treeOf(record_type)
  }
}

/**
 * The paths of the attribute with this name, in the record or in elements of lists. The name of a list gives the paths of all
 * attributes of its elements; undefined when nothing has the name.
 */
function attributePaths(recordType: RecordType, key: string): readonly string[] | undefined {
  const attribute = recordType.attributes.find((row) => hasNameOfSearchKey(row, key))
  // An age is not stored, so it has no path.
  if (attribute !== undefined) return attribute.type === 'age' ? [] : attribute.paths
  const found = compoundsOutsideRelations(recordType).flatMap((compound) => {
    const members = compound.members.filter((row) => hasNameOfSearchKey(compound, key) || hasNameOfSearchKey(row, key))
    return members.map((member) => [
      ...compound.paths.flatMap((place) => member.paths.map((path) => [place, path].filter((part) => part !== '').join('.'))),
      ...(member.record_paths ?? []),
    ])
  })
  return found.length === 0 ? undefined : found.flat()
}

/** The compounds of the record's own data. A compound in a relation, such as `parents`, is shown by the relation. */
function compoundsOutsideRelations({ compounds = [], relations = [] }: RecordType): readonly Compound[] {
  const others = relations.flatMap(({ paths }) => paths)
  return compounds.filter(({ paths }) => !paths.some((path) => others.some((other) => isWithin(path, other))))
}

const hasNameOfSearchKey = (row: Attribute | Compound, key: string): boolean =>
  namesOf(row).some((name) => searchKey(name) === key)

/**
 * Marks a member as shown; returns false when the record type has no such member.
 * @throws GrantProblem the member contains identifiers or a related person, or is inside a related person
 */
function markMemberShown(recordType: RecordType, tree: VisibleTreeNode, path: string): boolean {
  if (!hasPath(recordType.schema, path)) return false
  const own = searchKey(path)
  const source = recordType.identifiers.find((row) => searchKey(row.path) === own && row.type !== undefined)
  if (source !== undefined) {
    ensureNodeAt(tree, path).identifiers.push(source)
    return true
  }
  const relations = (recordType.relations ?? []).flatMap(({ name, paths }) => paths.map((place) => ({ name, place })))
  const sources = recordType.identifiers.map(({ path: place }) => ({ name: GRANT_NAME_OF_IDENTIFIERS, place }))
  const within = [...relations, ...sources].find(({ place }) => isWithin(searchKey(place), own))
  const around = relations.find(({ place }) => isWithin(own, searchKey(place)))
  const other = within ?? around
  if (other !== undefined) {
    throw new GrantProblem('see', `${path} has ${other.name} in it, which a grant names for itself; name the members one by one`)
  }
  ensureNodeAt(tree, path).whole = true
  return true
}

/** True when the inner path is the outer path, or below it. */
const isWithin = (inner: string, outer: string): boolean => `${inner}.`.startsWith(`${outer}.`)

function ensureNodeAt(tree: VisibleTreeNode, path: string): VisibleTreeNode {
  let part = tree
  for (const key of path.split('.').filter((segment) => segment !== '')) {
    const next = part.members.get(searchKey(key)) ?? emptyNode()
    part.members.set(searchKey(key), next)
    part = next
  }
  return part
}

/** Checks that `names` has, for each age in it, also the date that the age is counted from. @throws GrantProblem */
function checkAgeNames({ record_types }: Kind, names: readonly string[]): void {
  const keys = names.map(searchKey)
  const ages = record_types.flatMap(({ attributes }) => attributes.filter(({ type }) => type === 'age'))
  const alone = ages.find((row) => keys.some((key) => hasNameOfSearchKey(row, key)) && !keys.includes(row.since ?? ''))
  if (alone !== undefined) throw new GrantProblem('see', `${alone.name} needs ${alone.since} beside it`)
}
