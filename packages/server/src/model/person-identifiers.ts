/** Identifiers that mean one person: of a record, those that no other record bears. */
import {
  type IdentifierType,
  identifierValue,
  isContact,
  isOfAnother,
  type JsonValue,
  KINDS,
  type Kind,
  type RecordType,
  readIdentifiers,
  resolveIdentifierType,
  UNLISTED,
} from '@rollcall/protocol'
import { PROTECTION_CATEGORIES } from './protection.ts'
import type { RecordReader } from './record-source.ts'
import type { Identifier } from './records.ts'
import type { RegistryShape } from './registry.ts'

/** Where records are looked for. */
export interface PlaceOfRecords {
  readonly registry: RegistryShape
  readonly recordType: RecordType
  readonly find: RecordReader['find']
}

/** Documents that are compared: an identifier of a type that the kind does not list may be that of several types. */
const MOST = 10

const widened = new WeakMap<Kind, Kind>()

/** The kind, with the identifier types of all kinds: a record names those that its kind does not list as well. */
export function withAllTypes(kind: Kind): Kind {
  let wide = widened.get(kind)
  if (wide === undefined) {
    const types: IdentifierType[] = [...kind.identifier_types]
    for (const type of KINDS.flatMap((one) => one.identifier_types)) {
      if (!types.some(({ name }) => name === type.name)) types.push(type)
    }
    wide = { ...kind, identifier_types: types }
    widened.set(kind, wide)
  }
  return wide
}

/**
 * The documents that bear an identifier as their own, at most two.
 * @param kind that knows the type of the identifier
 */
export async function bearersOf(
  { registry, recordType, find }: PlaceOfRecords,
  kind: Kind,
  { type, value }: Identifier,
): Promise<readonly string[]> {
  const listed = resolveIdentifierType(registry.kind, type)
  const stored = identifierValue(listed ?? UNLISTED, value)
  if (stored === null) return []
  const identifiers = [{ type: listed?.name ?? UNLISTED.name, value: stored }]
  const page = { sort: [], limit: MOST, offset: 0, cap: MOST, categories: PROTECTION_CATEGORIES }
  const { records } = await find(registry, { recordType, predicate: { is: 'identifier', identifiers }, page })
  const documents = records.map(({ document }) => document)
  // Of so many it is not known who else bears it.
  if (documents.length >= MOST) return documents.slice(0, 2)
  const bears = (document: string): boolean =>
    ownOf(kind, recordType, document).some((one) => one.type === type && one.value === value)
  return documents.filter(bears).slice(0, 2)
}

/**
 * Identifiers of a record by which its person is known: those that it alone bears. Never a telephone, nor the number of a
 * household, which are those of several people.
 */
export async function identifiersAlone(
  place: PlaceOfRecords,
  document: string,
): Promise<readonly Identifier[]> {
  const { registry, recordType } = place
  const kind = withAllTypes(registry.kind)
  const personal = ownOf(kind, recordType, document).filter(({ type }) => isPersonal(kind, recordType, type))
  const alone = await Promise.all(
    personal.map(async (one) => {
      if (one.type === recordType.primary_identifier) return true
      return (await bearersOf(place, kind, one)).length <= 1
    }),
  )
  return personal.filter((_, at) => alone[at])
}

const ownOf = (kind: Kind, recordType: RecordType, document: string): readonly Identifier[] =>
  readIdentifiers(kind, recordType, JSON.parse(document) as JsonValue)
    .filter(({ names }) => names === 'record')
    .map(({ type, value }) => ({ type, value }))

function isPersonal(kind: Kind, recordType: RecordType, name: string): boolean {
  const type = resolveIdentifierType(kind, name)
  return type !== undefined && !isContact(type) && !isOfAnother(kind, recordType, name)
}
