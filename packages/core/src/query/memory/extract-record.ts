/** Reads all searchable values of one record, for any number of queries in memory. */
import {
  type Attribute,
  type AttributeValue,
  type Compound,
  type Element,
  type JsonValue,
  type Kind,
  type RecordType,
  readAttribute,
  readElements,
  readIdentifiers,
} from '@rollcall/protocol'
import { oncePerObject } from '../../model/once-per.ts'
import type { Identifier } from '../../model/records.ts'

/**
 * The searchable values of a record, under the names of attributes, compounds and identifier types. The code that fills the
 * columns of the database reads the same values. A missing value is undefined.
 */
export interface SearchableValues {
  /** For each attribute, its value; for an attribute with `many`, a list that is not empty. */
  readonly values: Pick<ReadonlyMap<string, AttributeValue>, 'get'>
  /** For each compound, its elements; the lists are not empty, and have each element once. */
  readonly elements: Pick<ReadonlyMap<string, readonly Element[]>, 'get'>
  /** For each identifier type, the values at all places that the record type lists, and those of records merged into this one. */
  readonly identifiers: Pick<ReadonlyMap<string, ReadonlySet<string>>, 'get' | 'has'>
}

/** All values of a record. A missing value has no entry. */
export interface RecordValues extends SearchableValues {
  readonly values: ReadonlyMap<string, AttributeValue>
  readonly elements: ReadonlyMap<string, readonly Element[]>
  readonly identifiers: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Reads the values of a record. Never throws: values that cannot be read are missing. A larger document takes longer.
 * @param aliases identifiers of records that were merged into this one
 */
export function readRecordValues(
  kind: Kind,
  recordType: RecordType,
  document: JsonValue,
  aliases: readonly Identifier[] = [],
): RecordValues {
  const values = new Map<string, AttributeValue>()
  for (const attribute of recordType.attributes) {
    const value = readAttribute(attribute, document)
    if (value !== null) values.set(attribute.name, value)
  }
  const elements = new Map<string, readonly Element[]>()
  for (const compound of recordType.compounds ?? []) {
    const found = readElements(compound, document)
    if (found.length > 0) elements.set(compound.name, found)
  }
  return { values, elements, identifiers: readIdentifiersByType(kind, recordType, document, aliases) }
}

/**
 * Returns a record that reads each value of the document at the first look-up of this value, and all identifiers at the first
 * look-up of an identifier: a query needs few of the attributes.
 */
export function lazyRecordValues(
  kind: Kind,
  recordType: RecordType,
  document: JsonValue,
  aliases: readonly Identifier[] = [],
): SearchableValues {
  const { attributes, compounds } = attributesAndCompoundsOf(recordType)
  let identifiers: SearchableValues['identifiers'] | undefined
  const all = () => (identifiers ??= readIdentifiersByType(kind, recordType, document, aliases))
  return {
    values: lazyMap((name) => {
      const attribute = attributes.get(name)
      return attribute === undefined ? null : readAttribute(attribute, document)
    }),
    elements: lazyMap((name) => {
      const compound = compounds.get(name)
      const found = compound === undefined ? [] : readElements(compound, document)
      return found.length === 0 ? null : found
    }),
    identifiers: { get: (type) => all().get(type), has: (type) => all().has(type) },
  }
}

function lazyMap<Value>(read: (name: string) => Value | null): Pick<ReadonlyMap<string, Value>, 'get'> {
  const found = new Map<string, Value | undefined>()
  return {
    get(name) {
      if (!found.has(name)) found.set(name, read(name) ?? undefined)
      return found.get(name)
    },
  }
}

interface AttributesAndCompounds {
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly compounds: ReadonlyMap<string, Compound>
}

const attributesAndCompoundsOf = oncePerObject(
  ({ attributes, compounds = [] }: RecordType): AttributesAndCompounds => ({
    attributes: new Map(attributes.map((one) => [one.name, one])),
    compounds: new Map(compounds.map((one) => [one.name, one])),
  }),
)

function readIdentifiersByType(
  kind: Kind,
  recordType: RecordType,
  document: JsonValue,
  aliases: readonly Identifier[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const identifiers = new Map<string, Set<string>>()
  for (const { type, value } of [...readIdentifiers(kind, recordType, document), ...aliases]) {
    identifiers.set(type, (identifiers.get(type) ?? new Set()).add(value))
  }
  return identifiers
}
