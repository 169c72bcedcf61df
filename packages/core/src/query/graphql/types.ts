/**
 * The fields that a selection can choose from a record: members in its schema, at any depth, and its searchable
 * attributes, lists and identifiers.
 */

import {
  type Compound,
  heldElements,
  heldIdentifiers,
  heldMember,
  heldMemberValues,
  heldValue,
  type JsonObject,
  type JsonValue,
  type Kind,
  namesOf,
  otherKeys,
  type RecordType,
} from '@rollcall/protocol'
import { oncePerObject } from '../../model/once-per.ts'

/** The type of an object in GraphQL. */
export interface ObjectType {
  readonly name: string
  /** The fields by every name that finds them, in lower case: names that differ in case are the same field. */
  readonly fields: ReadonlyMap<string, ObjectField>
  /** The names of the fields for messages, without other spellings and aliases. */
  readonly names: readonly string[]
}

/** A field of an object type. `read` returns its value as the record has it, not normalised; undefined when there is none. */
export interface ObjectField {
  readonly name: string
  /** The paths from the object to the values of the field. */
  readonly places: readonly string[]
  readonly read: (object: JsonObject) => JsonValue | undefined
  /** The type of the objects in the field, from which members can be selected. */
  readonly type?: ObjectType
  /** True when the field may be selected without members, because its value need not be an object. */
  readonly whole: boolean
}

/**
 * The object type of a record type. The types of a kind are made at the first call for the kind. Throws an Error when the record
 * type is not one of the kind.
 */
export function objectType(kind: Kind, recordType: RecordType): ObjectType {
  const type = objectTypesOf(kind).get(recordType)
  if (type === undefined) throw new Error(`${recordType.name} is no record type of ${kind.name}`)
  return type
}

const objectTypesOf = oncePerObject((kind: Kind): ReadonlyMap<RecordType, ObjectType> => {
  const types = new ObjectTypeMaker()
  return new Map(
    kind.record_types.map((recordType) => {
      const type = types.ofMembers(recordType.name, membersOfSchema(recordType.schema))
      // Objects inside a record, such as the members of a household, share this type if it has their name, and so these fields.
      addSearchableFields(type, kind, recordType)
      return [recordType, type]
    }),
  )
})

/** An object type while its fields are being added. */
class ObjectTypeDraft implements ObjectType {
  readonly name: string
  readonly fields = new Map<string, ObjectField>()
  readonly names: string[] = []

  constructor(name: string) {
    this.name = name
  }

  /** Adds a field and lists its name in `names`, unless the type already has a field of this name in any case. */
  add(field: ObjectField): void {
    if (this.#add(field)) this.names.push(field.name)
  }

  /** Adds fields under other spellings and aliases. `names` does not get them, so messages do not list them. */
  addAlso(fields: readonly ObjectField[]): void {
    for (const field of fields) this.#add(field)
  }

  #add(field: ObjectField): boolean {
    const key = field.name.toLowerCase()
    if (this.fields.has(key)) return false
    this.fields.set(key, field)
    return true
  }
}

/** Makes the object types of one kind, one for each name. */
class ObjectTypeMaker {
  readonly #byName = new Map<string, ObjectTypeDraft>()

  ofMembers(name: string, members: readonly MemberOfSchema[]): ObjectTypeDraft {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    const type = new ObjectTypeDraft(name)
    this.#byName.set(name, type)
    const fields = members.map(({ name, object, whole }): ObjectField => {
      const field = { name, places: [name], read: heldMember(name), whole }
      return object === undefined ? field : { ...field, type: this.ofMembers(object.name, object.members) }
    })
    for (const field of fields) type.add(field)
    for (const field of fields) {
      type.addAlso(otherKeys(field.name).map((name) => ({ ...field, name, read: heldMember(name) })))
    }
    return type
  }
}

function addSearchableFields(type: ObjectTypeDraft, kind: Kind, recordType: RecordType): void {
  const { attributes, compounds = [] } = recordType
  for (const attribute of attributes) {
    // An age is not stored, so it has no place and no field.
    const { paths: places } = attribute
    if (places.length > 0) addFieldUnderAllNames(type, attribute, { places, read: heldValue(attribute), whole: true })
  }
  for (const compound of compounds) {
    for (const member of compound.members) {
      const places = compound.paths.flatMap((place) => member.paths.map((path) => joinMemberPath(place, path)))
      addFieldUnderAllNames(type, member, { places, read: makeListReader(heldMemberValues(compound, member)), whole: true })
    }
    addFieldUnderAllNames(type, compound, {
      places: compound.paths,
      read: makeListReader(heldElements(compound)),
      type: compoundType(compound),
      whole: true,
    })
  }
  const places = recordType.identifiers.flatMap(({ names, path }) => (names === 'record' ? [path] : []))
  for (const identifierType of kind.identifier_types) {
    const read = valueOrListReader(heldIdentifiers(kind, recordType, identifierType))
    addFieldUnderAllNames(type, identifierType, { places, read, whole: true })
  }
}

/** The type of a compound's elements, whose members have canonical names. */
function compoundType(compound: Compound): ObjectType {
  const type = new ObjectTypeDraft(compound.name)
  for (const member of compound.members) {
    addFieldUnderAllNames(type, member, { places: member.paths, read: (element) => element[member.name], whole: true })
  }
  return type
}

const joinMemberPath = (place: string, path: string): string => [place, path].filter((part) => part !== '').join('.')

function addFieldUnderAllNames(
  type: ObjectTypeDraft,
  row: Parameters<typeof namesOf>[0],
  field: Omit<ObjectField, 'name'>,
): void {
  type.add({ ...field, name: row.name })
  type.addAlso(namesOf(row).map((name) => ({ ...field, name })))
}

function makeListReader(read: (object: JsonObject) => JsonValue[]): ObjectField['read'] {
  return (object) => {
    const values = read(object)
    return values.length === 0 ? undefined : values
  }
}

/** Makes a reader that gives one value as it is, and several values as a list. */
function valueOrListReader(read: (object: JsonObject) => JsonValue[]): ObjectField['read'] {
  return (object) => {
    const values = read(object)
    return values.length > 1 ? values : values[0]
  }
}

/** A member of a record, as the schema describes it. */
export interface MemberOfSchema {
  readonly name: string
  /**
   * The shape of the objects that the member may have, alone or in a list; absent when these objects have several shapes, or when
   * the member has no objects.
   */
  readonly object?: ObjectOfSchema
  /** True when the member may have a value that is not an object of the shape `object`. */
  readonly whole: boolean
}

export interface ObjectOfSchema {
  readonly name: string
  readonly members: readonly MemberOfSchema[]
}

/** The keywords of JSON Schema that describe records here. */
interface RecordSchema {
  readonly title?: string
  readonly properties?: Readonly<Record<string, RecordSchema>>
  readonly items?: RecordSchema
  readonly anyOf?: readonly RecordSchema[]
}

/** Names that GraphQL can write; it cannot write `@type`, for example. */
const GRAPHQL_NAME_PATTERN = /^(?!__)[A-Za-z_]\w*$/

/** The members that GraphQL can name in the schema of a record type. */
export function membersOfSchema(schema: RecordType['schema']): readonly MemberOfSchema[] {
  return membersOfObjectSchema(schema as RecordSchema)
}

function membersOfObjectSchema({ properties = {} }: RecordSchema): readonly MemberOfSchema[] {
  return Object.entries(properties)
    .filter(([name]) => GRAPHQL_NAME_PATTERN.test(name))
    .map(([name, schema]) => {
      const alternatives = alternativeSchemasOf(schema)
      const objects = alternatives.filter((one) => one.title !== undefined && one.properties !== undefined)
      const [object] = objects
      if (object === undefined || objects.some(({ title }) => title !== object.title)) {
        return { name, whole: true }
      }
      const whole = objects.length < alternatives.length
      return { name, object: { name: object.title ?? name, members: membersOfObjectSchema(object) }, whole }
    })
}

/** The possible schemas of a value: those of a list's elements, and of each part of a union. */
function alternativeSchemasOf(schema: RecordSchema): readonly RecordSchema[] {
  if (schema.items !== undefined) return alternativeSchemasOf(schema.items)
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternativeSchemasOf)
}
