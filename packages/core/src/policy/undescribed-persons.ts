/** Other persons in what is shown who stand where the kind describes nobody: an account names them by what they bear there. */
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
import type { PersonIdentifier } from '../model/account.ts'
import type { RelatedPerson } from './cut.ts'

/** All of them stand in one relation: where a query chose one, it chose all. */
const UNDESCRIBED: Relation = { name: '', paths: [] }

/** Members by which an object bears identifiers, or is one. */
const BEARING = new Set(['identifier_value', 'identifier', 'member_identifier', 'demographic_info', 'person'])

/**
 * @param shown of a record of this type
 * @param described the persons in it of the kind's relations
 * @param knownOf the identifiers of the record's person and of those persons: whoever bears no other is one of them
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
  const bearers: JsonObject[] = []
  const visit = (value: JsonValue): void => {
    if (Array.isArray(value)) for (const element of value) visit(element)
    if (!isJsonObject(value)) return
    const names = Object.keys(value)
    if (!types.has(value) && names.some(isBearing)) bearers.push(value)
    const own = ownMembers(types.get(value))
    for (const name of names) if (!own.has(name)) visit(value[name] ?? null)
  }
  visit(shown)
  return bearers.length === 0 ? [] : unknown(kind, bearers, knownOf())
}

/** Most names need no closer look. */
const isBearing = (name: string): boolean => BEARING.has(name) || (/[^a-z_]/.test(name) && BEARING.has(searchKey(name)))

function unknown(
  kind: Kind,
  bearers: readonly JsonObject[],
  known: readonly PersonIdentifier[],
): readonly RelatedPerson[] {
  const keys = new Set(known.map(keyOf))
  const values = new Set(known.map(({ value }) => value))
  return bearers.flatMap((person) => {
    const identifiers = identifiersWithin(kind, person).filter(
      (one) => !keys.has(keyOf(one)) && !(one.untyped && values.has(one.value)),
    )
    for (const one of identifiers) keys.add(keyOf(one))
    return identifiers.length === 0 ? [] : [{ relation: UNDESCRIBED, person, shown: person }]
  })
}

const keyOf = ({ type, value }: PersonIdentifier): string => `${type}\0${value}`

const NONE: ReadonlySet<string> = new Set()
const own = new WeakMap<RecordType, ReadonlySet<string>>()

/** In which members identifiers of the record itself stand: nobody else's. */
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
