/**
 * Reduces a record to the identifiers of the record itself, not of persons in it, for notifications that have no other members.
 */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  UNLISTED,
  type WrittenIdentifier,
  writtenIdentifiers,
} from '@rollcall/protocol'
import { oncePerObject } from '../model/once-per.ts'

/** The record type with its identifier lists and its primary identifier only: no telephones, and no other persons. */
const reduceTypeToOwnIdentifiers = oncePerObject((recordType: RecordType): RecordType => {
  const { primary_identifier } = recordType
  const identifiers = recordType.identifiers.filter(
    ({ names, type }) => names === 'record' && (type === undefined || type === primary_identifier),
  )
  return { ...recordType, identifiers }
})

/**
 * A record with only its `@type` and its own identifiers as written, in one list. The list is at the first path where the record
 * type has own identifiers. An identifier whose type the kind does not list is left out.
 */
export function recordWithOwnIdentifiersOnly(kind: Kind, recordType: RecordType, document: JsonValue): JsonObject {
  const identifiers = writtenIdentifiers(kind, reduceTypeToOwnIdentifiers(recordType), document)
    .filter(({ type }) => type !== UNLISTED.name)
    .map(({ written }) => written)
  const type = isJsonObject(document) ? document['@type'] : undefined
  return { ...(type !== undefined && { '@type': type }), ...recordFromIdentifiers(recordType, identifiers) }
}

/** The primary identifier as the document writes it; undefined when it has none. */
export const ownPrimaryIdentifier = (
  kind: Kind,
  recordType: RecordType,
  document: JsonValue,
): WrittenIdentifier['written'] | undefined =>
  writtenIdentifiers(kind, reduceTypeToOwnIdentifiers(recordType), document).find(
    ({ type }) => type === recordType.primary_identifier,
  )?.written

/**
 * Makes a record that has only these identifiers. They form a list at the first path where the record type has identifiers of the
 * record itself, not of other persons.
 */
export function recordFromIdentifiers(recordType: RecordType, identifiers: readonly JsonObject[]): JsonObject {
  const path = reduceTypeToOwnIdentifiers(recordType).identifiers[0]?.path.split('.') ?? []
  const placed = path.reduceRight<JsonValue>((inner, member) => ({ [member]: inner }), [...identifiers])
  return isJsonObject(placed) ? placed : {}
}
