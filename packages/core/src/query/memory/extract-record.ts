/** Reads all searchable values of one record, for any number of queries in memory. */
import {
  type AttributeValue,
  type Element,
  type JsonValue,
  type Kind,
  type RecordType,
  readAttribute,
  readElements,
  readIdentifiers,
} from '@rollcall/protocol'
import type { Identifier } from '../../model/records.ts'

/** The values of a record, read by the same code that fills columns. A missing value has no entry. */
export interface ExtractedRecord {
  /** For each attribute, its value; for an attribute with `many`, a list that is not empty. */
  readonly values: ReadonlyMap<string, AttributeValue>
  /** For each compound, its elements; the lists are not empty, and have each element once. */
  readonly elements: ReadonlyMap<string, readonly Element[]>
  /** For each identifier type, the values in the record, in its parts, and in records merged into it. */
  readonly identifiers: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Reads the values of a record. Never throws: values that cannot be read are missing. The time grows with the document.
 * @param aliases identifiers of records that were merged into this one
 */
export function extractRecord(
  kind: Kind,
  recordType: RecordType,
  document: JsonValue,
  aliases: readonly Identifier[] = [],
): ExtractedRecord {
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
  const identifiers = new Map<string, Set<string>>()
  for (const { type, value } of [...readIdentifiers(kind, recordType, document), ...aliases]) {
    identifiers.set(type, (identifiers.get(type) ?? new Set()).add(value))
  }
  return { values, elements, identifiers }
}
