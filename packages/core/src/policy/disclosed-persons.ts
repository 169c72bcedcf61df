/** Finds the persons about whom a disclosed record shows something, for the audit entry. */
import {
  heldAt,
  type IdentifierSource,
  identifiersWithin,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  type Relation,
  readIdentifiers,
  searchKey,
} from '@rollcall/protocol'
import { type AuditedPerson, identifierKey, type PersonIdentifier } from '../model/audit-entry.ts'
import { oncePerObject } from '../model/once-per.ts'
import type { RelatedPerson } from './cut.ts'

/** Says where the identifier of a related person without a record type is: the whole value (path '') may be the identifier. */
const WHOLE_VALUE_IDENTIFIER_SOURCE: IdentifierSource = { path: '', names: 'record' }

/** The person of a record for the audit entry, with all identifiers that name the record. */
export const auditedPersonOf = (kind: Kind, recordType: Pick<RecordType, 'identifiers'>, record: JsonValue): AuditedPerson => ({
  role: 'seen',
  identifiers: readIdentifiers(kind, recordType, record).flatMap(({ names, type, value }) =>
    names === 'record' ? [{ type, value }] : [],
  ),
})

/**
 * The identifiers in `asked` (those that a request named) that belong to a part of the record, such as a person of a household.
 */
export function askedIdentifiersInRecordParts(
  kind: Kind,
  recordType: Pick<RecordType, 'identifiers'>,
  record: JsonValue,
  asked: readonly PersonIdentifier[],
): readonly PersonIdentifier[] {
  const parts = readIdentifiers(kind, recordType, record).filter(({ names }) => names === 'part')
  return asked.filter((one) => parts.some(({ type, value }) => type === one.type && value === one.value))
}

/**
 * The persons of a record for the audit entry: its own and the related ones. A related person without an identifier is
 * left out: an entry cannot name that person.
 */
export function auditedPersonsOf(
  kind: Kind,
  ownType: Pick<RecordType, 'identifiers'>,
  record: JsonValue,
  related: readonly RelatedPerson[],
): readonly AuditedPerson[] {
  const persons = [auditedPersonOf(kind, ownType, record)]
  for (const { relation, person } of related) {
    const recordType = kind.record_types.find(({ name }) => name === relation.record_type)
    let { role, identifiers } = auditedPersonOf(kind, recordType ?? { identifiers: [WHOLE_VALUE_IDENTIFIER_SOURCE] }, person)
    if (identifiers.length === 0 && isJsonObject(person)) identifiers = identifiersWithin(kind, person, recordType)
    if (identifiers.length > 0) persons.push({ role, identifiers })
  }
  return persons
}

/** For each dotted path, the function that reads the values at the path in a document. */
const readerByPath = new Map<string, (document: JsonValue) => JsonValue[]>()

function readPathValues(path: string, from: JsonValue): JsonValue[] {
  const read = readerByPath.get(path) ?? heldAt(path)
  readerByPath.set(path, read)
  return read(from)
}

/** The other persons in a record: in relations of the kind, and elsewhere those with an identifier. */
export function findRelatedPersons(kind: Kind, recordType: RecordType, record: JsonValue): readonly RelatedPerson[] {
  return addUndescribedPersons(kind, recordType, record, record, findPersonsInRelations(kind, recordType, record))
}

/** Finds the other persons at the paths of a record type's relations, and the persons in relations of these persons. */
export function findPersonsInRelations(
  kind: Kind,
  { relations = [] }: Pick<RecordType, 'relations'>,
  record: JsonValue,
): readonly RelatedPerson[] {
  return relations.flatMap((relation) => {
    const recordType = kind.record_types.find(({ name }) => name === relation.record_type)
    return relation.paths.flatMap((path) =>
      readPathValues(path, record).flatMap((person) => [
        { relation, person, shown: person },
        ...(recordType === undefined ? [] : findPersonsInRelations(kind, recordType, person)),
      ]),
    )
  })
}

/**
 * The related persons of whom the selection of a query still shows something. To test this, all persons of one relation are
 * removed from `shown`: if the selection then gives another text than `text`, it shows something of them, and they are returned.
 * @param shown the value before the selection
 * @param text the selected text of the value
 * @param textOf makes the selected text of a value
 */
export function relatedPersonsAfterSelection(
  related: readonly RelatedPerson[],
  shown: JsonValue,
  text: string,
  textOf: (record: JsonValue) => string,
): readonly RelatedPerson[] {
  return [...Map.groupBy(related, ({ relation }) => relation).values()].flatMap((persons) => {
    const rest = withoutGivenObjects(shown, new Set(persons.map((person) => person.shown)))
    return textOf(rest) === text ? [] : persons
  })
}

/** The value without the given objects inside, which are found by identity, not by content. */
function withoutGivenObjects(value: JsonValue, objects: ReadonlySet<JsonValue>): JsonValue {
  const isLeft = (one: JsonValue): boolean => typeof one !== 'object' || !objects.has(one)
  if (Array.isArray(value)) return value.filter(isLeft).map((element) => withoutGivenObjects(element, objects))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (isLeft(member) ? [[name, withoutGivenObjects(member, objects)]] : [])),
  )
}

/**
 * The relation for persons who are in no relation of the kind. If a selection shows one of them, the audit entry has all of them.
 */
const UNDESCRIBED_PERSONS_RELATION: Relation = { name: '', paths: [] }

/** An object that has one of these members may be an identifier of a person, or may have one inside. */
const IDENTIFIER_MEMBERS = new Set(['identifier_value', 'identifier', 'member_identifier', 'demographic_info', 'person'])

/**
 * Returns `described` and the undescribed persons: objects in `shown` that are in no relation of the kind and have an identifier
 * that belongs neither to the record's person nor to a person in `described`.
 * @param shown the shown part of the record
 * @param described the persons in relations of the kind
 */
export function addUndescribedPersons(
  kind: Kind,
  recordType: RecordType,
  record: JsonValue,
  shown: JsonValue,
  described: readonly RelatedPerson[],
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
    const type = types.get(value)
    const own = type === undefined ? NO_MEMBER_NAMES : ownIdentifierMembers(type)
    for (const name of names) if (!own.has(name)) collect(value[name] ?? null)
  }
  collect(shown)
  if (candidates.length === 0) return described
  const known = auditedPersonsOf(kind, recordType, record, described).flatMap(({ identifiers }) => identifiers)
  return [...described, ...selectUndescribedPersons(kind, candidates, known)]
}

/** True for a name in IDENTIFIER_MEMBERS in any spelling. The first test is fast and enough for most names. */
const isIdentifierMember = (name: string): boolean =>
  IDENTIFIER_MEMBERS.has(name) || (/[^a-z_]/.test(name) && IDENTIFIER_MEMBERS.has(searchKey(name)))

function selectUndescribedPersons(
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
    return identifiers.length === 0 ? [] : [{ relation: UNDESCRIBED_PERSONS_RELATION, person, shown: person }]
  })
}

const NO_MEMBER_NAMES: ReadonlySet<string> = new Set()

/** The names of the members at the top of a record that have identifiers of the record's person. */
const ownIdentifierMembers = oncePerObject(
  ({ identifiers }: RecordType): ReadonlySet<string> =>
    new Set(identifiers.flatMap(({ path, names }) => (names === 'record' && !path.includes('.') ? [path] : []))),
)
