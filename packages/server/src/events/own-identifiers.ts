/** A record that has nothing but its identifiers: what is sent where its other members are not. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  readIdentifiers,
  UNLISTED,
} from '@rollcall/protocol'

const ownSources = new WeakMap<RecordType, RecordType>()

/** With those sources only at which the record is named by its registry: no phone number, and nobody inside of it. */
function ownOnly(recordType: RecordType): RecordType {
  const known = ownSources.get(recordType)
  if (known !== undefined) return known
  const { primary_identifier } = recordType
  const identifiers = recordType.identifiers.filter(
    ({ names, type }) => names === 'record' && (type === undefined || type === primary_identifier),
  )
  const only = { ...recordType, identifiers }
  ownSources.set(recordType, only)
  return only
}

/** The identifiers as a list, where the record type has them first, and the document's own `@type`. */
export function ownIdentifiers(kind: Kind, recordType: RecordType, document: JsonValue): JsonObject {
  const own = ownOnly(recordType)
  const identifiers = readIdentifiers(kind, own, document)
    .filter(({ type }) => type !== UNLISTED.name)
    .map(({ type, value }) => ({ identifier_type: type, identifier_value: value }))
  const type = isJsonObject(document) ? document['@type'] : undefined
  return { ...(type !== undefined && { '@type': type }), ...recordNamedBy(recordType, identifiers) }
}

/** A record that has nothing but this list of identifiers, where the record type has them first. */
export function recordNamedBy(recordType: RecordType, identifiers: readonly JsonObject[]): JsonObject {
  const path = ownOnly(recordType).identifiers[0]?.path.split('.') ?? []
  const placed = path.reduceRight<JsonValue>((inner, member) => ({ [member]: inner }), [...identifiers])
  return isJsonObject(placed) ? placed : {}
}
