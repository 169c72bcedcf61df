/** The paths of a record type: those of its schema, and those of its attributes and identifiers. */
import { oncePerObject } from '@rollcall/core/model/once-per'
import { type Attribute, type Kind, namesOf, otherKeys, type RecordType } from '@rollcall/protocol'

/** A path in the records of one type, and what may be there: plain values, lists, identifiers, attributes. */
export interface RecordPath {
  readonly path: string
  /** True when a text, number or boolean may be at the path, or the schema does not describe what is there. */
  readonly holdsValue: boolean
  /** True when the schema allows any members below the path. */
  readonly open: boolean
  /** True when several values may be at the path. */
  readonly list: boolean
  /** True when the schema allows only a JSON array at the path. False where it also allows a single value. */
  readonly array: boolean
  /** True when an object with identifier_type and identifier_value may be at the path. */
  readonly identifier: boolean
  /** The attributes read at the path: of the record type, also those that operators added, and of the elements of its lists. */
  readonly attributes: readonly Attribute[]
  /** The identifier types, such as UIN, whose values are at the path without an identifier_type beside them. */
  readonly types: readonly string[]
}

interface PathTreeNode extends RecordPath {
  holdsValue: boolean
  open: boolean
  list: boolean
  array: boolean
  identifier: boolean
  readonly attributes: Attribute[]
  readonly types: string[]
  readonly members: Map<string, PathTreeNode>
}

/** The parts of JSON Schema that describe records. */
interface RecordSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, RecordSchema>>
  readonly items?: RecordSchema
  readonly anyOf?: readonly RecordSchema[]
}

/** A member that every JSON-LD document may have, even if the schema does not list it. */
const CONTEXT_MEMBER = '@context'

/** The properties of a path that the schema does not describe, below a member that may have any members. */
const UNDESCRIBED_PATH_PROPERTIES = {
  holdsValue: true,
  open: true,
  list: true,
  array: false,
  identifier: true,
  attributes: [],
  types: [],
}

/** Finds a path in any spelling in which documents are read; undefined when records of the type have no such path. */
export function findRecordPath(recordType: RecordType, path: string): RecordPath | undefined {
  let place = pathTreeOf(recordType)
  for (const key of path.split('.')) {
    const next = findMemberNode(place, key)
    if (next === undefined) return place.open ? { ...UNDESCRIBED_PATH_PROPERTIES, path } : undefined
    place = next
  }
  return place
}

/** Lists every described path at which a value may be, the paths with fewer steps first. */
export function listValuePaths(recordType: RecordType): readonly RecordPath[] {
  const found: PathTreeNode[] = []
  let level = [...pathTreeOf(recordType).members.values()]
  while (level.length > 0) {
    found.push(...level.filter(({ holdsValue }) => holdsValue))
    level = level.flatMap(({ members }) => [...members.values()])
  }
  return found
}

/**
 * Maps names to paths. The names of a path are the path itself, the names of its attributes and its last member. If paths share a
 * name, the earlier sort of name in this order wins, then the path that is listed first.
 */
export function pathsByName(recordTypes: readonly RecordType[]): ReadonlyMap<string, string> {
  const paths = recordTypes.flatMap(listValuePaths)
  const names = new Map<string, string>()
  const add = (name: string, path: string): void => {
    if (!names.has(name)) names.set(name, path)
  }
  for (const { path } of paths) add(path, path)
  for (const { path, attributes } of paths) {
    for (const name of attributes.flatMap(namesOf)) add(name, path)
  }
  for (const { path } of paths) add(path.slice(path.lastIndexOf('.') + 1), path)
  return names
}

/**
 * True for a member name of the records of one of the kinds, in any spelling. Another name in a document may be a value of a
 * person, such as an identifier.
 */
export function isMemberName(kinds: readonly Kind[], name: string): boolean {
  const key = name.replace(/^spdci:/, '')
  return kinds.some((kind) => memberNamesOf(kind).has(key))
}

const memberNamesOf = oncePerObject(({ record_types }: Kind): ReadonlySet<string> => {
  const names = new Set<string>()
  let level = record_types.map(pathTreeOf)
  while (level.length > 0) {
    for (const key of level.flatMap(({ members }) => [...members.keys()])) {
      for (const spelling of [key, ...otherKeys(key)]) names.add(spelling)
    }
    level = level.flatMap(({ members }) => [...members.values()])
  }
  return names
})

const pathTreeOf = oncePerObject((recordType: RecordType): PathTreeNode => {
  const root = emptyPathNode('')
  addSchemaToNode(root, recordType.schema as RecordSchema)
  ensureNodeBelow(root, CONTEXT_MEMBER).open = true
  const { attributes, compounds = [], identifiers } = recordType
  for (const attribute of attributes) {
    for (const path of attribute.paths) addAttributeToNode(ensureNodeBelow(root, path), attribute)
  }
  for (const { paths, members } of compounds) {
    for (const path of paths) {
      const element = ensureNodeBelow(root, path)
      element.list = path !== ''
      for (const member of members) {
        for (const inside of member.paths) addAttributeToNode(ensureNodeBelow(element, inside), member)
      }
    }
    for (const member of members) {
      for (const path of member.record_paths ?? []) addAttributeToNode(ensureNodeBelow(root, path), member)
    }
  }
  for (const { path, type } of identifiers) {
    const place = ensureNodeBelow(root, path)
    place.identifier = true
    place.list = true
    if (type === undefined) continue
    place.holdsValue = true
    place.types.push(type)
  }
  root.holdsValue = false
  return root
})

function addAttributeToNode(place: PathTreeNode, attribute: Attribute): void {
  place.holdsValue = true
  place.list ||= attribute.many === true
  place.attributes.push(attribute)
}

function addSchemaToNode(place: PathTreeNode, schema: RecordSchema): void {
  if (schema.anyOf !== undefined) {
    for (const one of schema.anyOf) addSchemaToNode(place, one)
    place.array = schema.anyOf.every(({ items }) => items !== undefined)
    return
  }
  if (schema.items !== undefined) {
    addSchemaToNode(place, schema.items)
    place.list = true
    place.array = true
    return
  }
  if (schema.properties !== undefined) {
    for (const [name, member] of Object.entries(schema.properties)) addSchemaToNode(ensureMemberNode(place, name), member)
    place.identifier ||= schema.properties.identifier_value !== undefined
    return
  }
  place.holdsValue = true
  place.open ||= schema.type === undefined || schema.type === 'object'
}

function ensureNodeBelow(from: PathTreeNode, path: string): PathTreeNode {
  return path === '' ? from : path.split('.').reduce(ensureMemberNode, from)
}

function ensureMemberNode(place: PathTreeNode, name: string): PathTreeNode {
  const found = findMemberNode(place, name)
  if (found !== undefined) return found
  const made = emptyPathNode(place.path === '' ? name : `${place.path}.${name}`)
  place.members.set(name, made)
  return made
}

/** Finds a member as documents are read: by its key or another spelling, with or without a prefix such as `spdci:`. */
function findMemberNode({ members }: PathTreeNode, name: string): PathTreeNode | undefined {
  const key = name.slice(name.lastIndexOf(':') + 1)
  for (const spelling of [key, ...otherKeys(key)]) {
    const found = members.get(spelling)
    if (found !== undefined) return found
  }
  return undefined
}

function emptyPathNode(path: string): PathTreeNode {
  const nothing = { holdsValue: false, open: false, list: false, array: false, identifier: false }
  return { path, ...nothing, attributes: [], types: [], members: new Map() }
}
