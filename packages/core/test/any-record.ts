/** Records and grants of any content, for property tests. */
import { isJsonObject, type JsonValue, type Kind, type RecordType, searchKey } from '@rollcall/protocol'
import fc from 'fast-check'
import type { TSchema } from 'typebox'
import { visibleMemberTrees } from '../src/policy/visible.ts'

/** Attributes, lists and related persons of the record types of a kind, as a grant names them. */
export function grantedNames(kind: Kind): readonly string[] {
  const names = kind.record_types.flatMap(({ attributes, compounds = [], relations = [] }) => [
    ...attributes.filter(({ type }) => type !== 'age').map(({ name }) => name),
    ...compounds.flatMap(({ name, members }) => [name, ...members.map((member) => member.name)]),
    ...relations.filter(({ record_type }) => record_type !== undefined).map(({ name }) => name),
  ])
  return [...new Set(names)]
}

/** The plain values in a document, each as `path = value`. Lists directly inside lists are left out. */
export function leaves(value: JsonValue, path: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((element) => (Array.isArray(element) ? [] : leaves(element, path)))
  if (isJsonObject(value)) return Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, searchKey(name)]))
  return [`${path.join('.')} = ${JSON.stringify(value)}`]
}

/** Generates records by the schema of a record type, with missing members, wrong types and unknown members. */
export function anyRecord(schema: TSchema, depth = 0): fc.Arbitrary<JsonValue> {
  const { properties, items, anyOf } = schema as { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] }
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => anyRecord(one, depth)))
  if (items !== undefined) return fc.array(anyRecord(items, depth + 1), { maxLength: 2 })
  if (properties === undefined || depth > 6) return fc.oneof(fc.string({ maxLength: 3 }), fc.integer(), fc.boolean())
  const members = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, anyRecord(one, depth + 1)]))
  return fc.record(
    { ...members, shoe_size: fc.integer(), notes: fc.array(fc.record({ sex: fc.string({ maxLength: 2 }) })) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonValue>
}

/** Keeps one spelling of each member. Another test says which of several spellings is left. */
export function inOneSpelling(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOneSpelling)
  if (!isJsonObject(value)) return value
  const bySpelling = new Map(Object.entries(value).map((entry) => [searchKey(entry[0]), entry] as const))
  return Object.fromEntries([...bySpelling.values()].map(([name, member]) => [name, inOneSpelling(member)]))
}

/** True when the record type, or one that is related to it, has the name. */
export function isKnownName(kind: Kind, recordType: RecordType, name: string): boolean {
  try {
    visibleMemberTrees(kind, [recordType], [name])
    return true
  } catch {
    return false
  }
}
