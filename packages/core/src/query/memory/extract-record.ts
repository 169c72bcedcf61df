/** The searchable values of one record, read once for any number of questions in memory. */
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

/** The values are read by the code that reads those of the columns. A missing value has no entry. */
export interface ExtractedRecord {
  /** By the attribute's name; a list, never empty, of an attribute with `many`. */
  readonly values: ReadonlyMap<string, AttributeValue>
  /** By the compound's name; never empty, each element once. */
  readonly elements: ReadonlyMap<string, readonly Element[]>
  /** The values, by the canonical name of their type, that name the record, a part of it, or a record merged into it. */
  readonly identifiers: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Never throws: what cannot be read is missing. Time is in proportion to the document.
 * @param aliases identifiers of records that were merged into it: they find it as its own do
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
