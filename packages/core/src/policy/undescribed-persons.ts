/** Finds persons in the shown part of a record whom no relation of the kind describes, for the audit entry. */
import {
  identifiersWithin,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  type Relation,
  searchKey,
} from '@rollcall/protocol'
import { identifierKey, type PersonIdentifier } from '../model/audit-entry.ts'
import type { RelatedPerson } from './cut.ts'

/** One relation for all undescribed persons: if a selection shows one of them, the audit entry names all. */
const UNDESCRIBED: Relation = { name: '', paths: [] }

/** An object with one of these members has identifiers, or is one. */
const IDENTIFIER_MEMBERS = new Set([
  'identifier_value',
  'identifier',
  'member_identifier',
  'demographic_info',
  'person',
])

/**
 * Finds the persons.
 * @param shown the shown part of a record of this type
 * @param described the persons that relations describe
 * @param knownOf the identifiers of the record's person and of the described persons; an object that has only these is
 * no other person
 */
export function undescribedIn(
  kind: Kind,
  recordType: RecordType,
  shown: JsonValue,
  described: readonly RelatedPerson[],
  knownOf: () => readonly PersonIdentifier[],
): readonly RelatedPerson[] {
  const types = new Map<JsonValue, RecordType | undefined>([[shown, recordType]])
  for (const { relation, shown: person } of described) {
    types.set(
      person,
      kind.record_types.find(({ name }) => name === relation.record_type),
    )
  }
  const candidates: JsonObject[] = []
  const collect = (value: JsonValue): void => {
    if (Array.isArray(value)) for (const element of value) collect(element)
    if (!isJsonObject(value)) return
    const names = Object.keys(value)
    if (!types.has(value) && names.some(isIdentifierMember)) candidates.push(value)
    const own = ownMembers(types.get(value))
    for (const name of names) if (!own.has(name)) collect(value[name] ?? null)
  }
  collect(shown)
  return candidates.length === 0 ? [] : unknownPersons(kind, candidates, knownOf())
}

/** True for a name in IDENTIFIER_MEMBERS in any spelling. The first test is fast and enough for most names. */
const isIdentifierMember = (name: string): boolean =>
  IDENTIFIER_MEMBERS.has(name) || (/[^a-z_]/.test(name) && IDENTIFIER_MEMBERS.has(searchKey(name)))

function unknownPersons(
  kind: Kind,
  candidates: readonly JsonObject[],
  known: readonly PersonIdentifier[],
): readonly RelatedPerson[] {
  const keys = new Set(known.map(identifierKey))
  const values = new Set(known.map(({ value }) => value))
  return candidates.flatMap((person) => {
    const identifiers = identifiersWithin(kind, person).filter(
      (one) => !keys.has(identifierKey(one)) && !(one.untyped && values.has(one.value)),
    )
    for (const one of identifiers) keys.add(identifierKey(one))
    return identifiers.length === 0 ? [] : [{ relation: UNDESCRIBED, person, shown: person }]
  })
}

const NONE: ReadonlySet<string> = new Set()
const own = new WeakMap<RecordType, ReadonlySet<string>>()

/** The members in which a record has the identifiers of its own person. */
function ownMembers(recordType: RecordType | undefined): ReadonlySet<string> {
  if (recordType === undefined) return NONE
  const names =
    own.get(recordType) ??
    new Set(
      recordType.identifiers.flatMap(({ path, names }) => (names === 'record' && !path.includes('.') ? [path] : [])),
    )
  own.set(recordType, names)
  return names
}
