/** Finds the persons about whom a disclosed record shows something, for the audit entry. */
import {
  heldAt,
  type IdentifierSource,
  identifiersWithin,
  isJsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  type Relation,
  readIdentifiers,
} from '@rollcall/protocol'
import type { AuditedPerson, PersonIdentifier } from '../model/audit-entry.ts'
import type { RelatedPerson } from './cut.ts'
import { undescribedIn } from './undescribed-persons.ts'

const ITSELF: IdentifierSource = { path: '', names: 'record' }

/** The person of a record, with all identifiers that name the record. */
export const personOf = (
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  record: JsonValue,
): AuditedPerson => ({
  role: 'seen',
  identifiers: readIdentifiers(kind, recordType, record).flatMap(({ names, type, value }) =>
    names === 'record' ? [{ type, value }] : [],
  ),
})

/** Those `asked` identifiers by which a record about several persons, such as a household, was found. */
export function askedMembers(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  record: JsonValue,
  asked: readonly PersonIdentifier[],
): readonly PersonIdentifier[] {
  const parts = readIdentifiers(kind, recordType, record).filter(({ names }) => names === 'part')
  return asked.filter((one) => parts.some(({ type, value }) => type === one.type && value === one.value))
}

/**
 * The related persons with their identifiers. A person without an identifier is left out: an entry cannot name that
 * person.
 */
export function auditedRelatedPersons(kind: Kind, related: readonly RelatedPerson[]): readonly AuditedPerson[] {
  return related.flatMap(({ relation, person }) => {
    const named = relatedIdentifiers(kind, relation, person)
    return named.identifiers.length === 0 ? [] : [named]
  })
}

function relatedIdentifiers(kind: Kind, { record_type }: Relation, person: JsonValue): AuditedPerson {
  const recordType = kind.record_types.find(({ name }) => name === record_type)
  const named = personOf(kind, recordType ?? { identifiers: [ITSELF] }, person)
  return named.identifiers.length > 0 || !isJsonObject(person)
    ? named
    : { ...named, identifiers: identifiersWithin(kind, person, recordType) }
}

/** A function that reads a path, for each path. */
const readers = new Map<string, (document: JsonValue) => JsonValue[]>()

function at(path: string, from: JsonValue): JsonValue[] {
  const read = readers.get(path) ?? heldAt(path)
  readers.set(path, read)
  return read(from)
}

/** All other persons in a record, described by relations of the kind or not. */
export function relatedIn(kind: Kind, recordType: RecordType, record: JsonValue): readonly RelatedPerson[] {
  return withUndescribed(kind, recordType, record, record, describedIn(kind, recordType, record))
}

/** Adds the persons whom no relation of the kind describes. @param shown the shown part of the record */
export const withUndescribed = (
  kind: Kind,
  recordType: RecordType,
  record: JsonValue,
  shown: JsonValue,
  described: readonly RelatedPerson[],
): readonly RelatedPerson[] => [
  ...described,
  ...undescribedIn(kind, recordType, shown, described, () =>
    [personOf(kind, recordType, record), ...auditedRelatedPersons(kind, described)].flatMap(
      ({ identifiers }) => identifiers,
    ),
  ),
]

/** The persons in places that the kind describes as relations. */
export function describedIn(
  kind: Kind,
  { relations = [] }: Pick<RecordType, 'relations'>,
  record: JsonValue,
): readonly RelatedPerson[] {
  return relations.flatMap((relation) => {
    const recordType = kind.record_types.find(({ name }) => name === relation.record_type)
    return relation.paths.flatMap((path) =>
      at(path, record).flatMap((person) => [
        { relation, person, shown: person },
        ...(recordType === undefined ? [] : describedIn(kind, recordType, person)),
      ]),
    )
  })
}

/**
 * The persons about whom a selection still shows something. Persons of one relation are tested together: if the
 * selected text changes without them, it shows something about them.
 * @param shown the value before the selection
 * @param text the selected text
 */
export function relatedAfterSelection(
  related: readonly RelatedPerson[],
  shown: JsonValue,
  text: string,
  textOf: (record: JsonValue) => string,
): readonly RelatedPerson[] {
  return [...Map.groupBy(related, ({ relation }) => relation).values()].flatMap((persons) => {
    const rest = without(shown, new Set(persons.map((person) => person.shown)))
    return textOf(rest) === text ? [] : persons
  })
}

/** The value without these objects, which are compared by identity, not by content. */
function without(value: JsonValue, objects: ReadonlySet<JsonValue>): JsonValue {
  const isLeft = (one: JsonValue): boolean => typeof one !== 'object' || !objects.has(one)
  if (Array.isArray(value)) return value.filter(isLeft).map((element) => without(element, objects))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (isLeft(member) ? [[name, without(member, objects)]] : [])),
  )
}
