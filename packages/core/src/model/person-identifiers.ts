/**
 * Finds the identifiers that name one person: identifiers of the person's record, and of records merged into it, that no other
 * record has. Audits, erasures, holds and withdrawals use them. A protection has rules of its own.
 */
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
import { oncePerObject } from './once-per.ts'
import { PROTECTION_CATEGORIES } from './protection.ts'
import type { RecordReader } from './record-source.ts'
import type { FoundRecord, Identifier } from './records.ts'
import type { RegistryShape } from './registry.ts'

/** The registry and the record type in which to search, and the reader of the records. */
export interface RecordSearchScope {
  readonly registry: RegistryShape
  readonly recordType: RecordType
  readonly reader: Pick<RecordReader, 'find' | 'merged'>
}

/** The largest number of records that are compared: very many records may have the same value of an unlisted type. */
const MOST_RECORDS_WITH_SAME_VALUE = 10

/** The kind with the identifier types of all kinds: a record may have identifiers of types that its own kind does not list. */
export const withAllIdentifierTypes = oncePerObject((kind: Kind): Kind => {
  const types: IdentifierType[] = [...kind.identifier_types]
  for (const type of KINDS.flatMap((one) => one.identifier_types)) {
    if (!types.some(({ name }) => name === type.name)) types.push(type)
  }
  return { ...kind, identifier_types: types }
})

/**
 * The records that have the identifier as their own, or into which a record with this identifier was merged: at most two, which
 * tell the caller that the identifier is shared. If ten or more records have the value, the first two are returned although their
 * identifiers may have another type.
 * @param kind a kind that lists the type of the identifier
 */
export async function recordsWithIdentifier(
  place: RecordSearchScope,
  kind: Kind,
  { type, value }: Identifier,
): Promise<readonly FoundRecord[]> {
  const { registry, recordType, reader } = place
  const listed = resolveIdentifierType(registry.kind, type)
  const stored = identifierValue(listed ?? UNLISTED, value)
  if (stored === null) return []
  const identifiers = [{ type: listed?.name ?? UNLISTED.name, value: stored }]
  const page = {
    sort: [],
    limit: MOST_RECORDS_WITH_SAME_VALUE,
    offset: 0,
    cap: MOST_RECORDS_WITH_SAME_VALUE,
    categories: PROTECTION_CATEGORIES,
  }
  const predicate = { is: 'identifier', identifiers } as const
  const { records } = await reader.find(registry, { recordType, predicate, page })
  // The limit was reached, so more records may have the identifier. Two records tell the caller that it is shared.
  if (records.length >= MOST_RECORDS_WITH_SAME_VALUE) return records.slice(0, 2)
  const names = await identifiersWithAliases(place, kind, records)
  const hasIdentifier = (_: FoundRecord, at: number): boolean =>
    names[at]?.some((one) => one.type === type && one.value === value) === true
  return records.filter(hasIdentifier).slice(0, 2)
}

/**
 * The identifiers of a record, and of records merged into it, that no other record has. An identifier that names a record of
 * another type, such as the HOUSEHOLD_ID of the person's household, is left out.
 * @param options.contacts true includes telephones and e-mail addresses
 */
export async function unsharedRecordIdentifiers(
  place: RecordSearchScope,
  record: FoundRecord,
  { contacts = false }: { readonly contacts?: boolean } = {},
): Promise<readonly Identifier[]> {
  const { registry, recordType } = place
  const kind = withAllIdentifierTypes(registry.kind)
  const [names = []] = await identifiersWithAliases(place, kind, [record])
  const personal = names.filter(({ type: name }) => {
    const type = resolveIdentifierType(kind, name)
    return type !== undefined && (contacts || !isContact(type)) && !isOfAnother(kind, recordType, name)
  })
  const alone = await Promise.all(
    personal.map(async (one) => {
      if (one.type === recordType.primary_identifier) return true
      return (await recordsWithIdentifier(place, kind, one)).length <= 1
    }),
  )
  return personal.filter((_, at) => alone[at])
}

/** Returns the identifiers of each record, with those of records merged into it, each identifier once. */
async function identifiersWithAliases(
  { registry, recordType, reader }: RecordSearchScope,
  kind: Kind,
  records: readonly FoundRecord[],
): Promise<readonly (readonly Identifier[])[]> {
  const merged = await reader.merged(
    registry,
    recordType,
    records.map(({ id }) => id),
  )
  return records.map(({ id, document }) => {
    const texts = [document, ...(merged.get(id) ?? []).map((one) => one.document)]
    const names = texts.flatMap((text) => identifiersNamingRecord(kind, recordType, JSON.parse(text)))
    return [...new Map(names.map((one) => [`${one.type} ${one.value}`, one])).values()]
  })
}

/** The identifiers by which a document names its own record, not persons inside of it. */
export const identifiersNamingRecord = (kind: Kind, recordType: RecordType, document: JsonValue): readonly Identifier[] =>
  readIdentifiers(kind, recordType, document)
    .filter(({ names }) => names === 'record')
    .map(({ type, value }) => ({ type, value }))
