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

/** The values of a record, read by the code that fills the columns. A missing value has no entry. */
export interface ExtractedRecord {
  /** The values by the name of the attribute; a non-empty list for an attribute with `many`. */
  readonly values: ReadonlyMap<string, AttributeValue>
  /** The elements by the name of the compound; non-empty lists, each element once. */
  readonly elements: ReadonlyMap<string, readonly Element[]>
  /**
   * The identifier values of the record, of its parts and of records merged into it, by the canonical name of their
   * type.
   */
  readonly identifiers: ReadonlyMap<string, ReadonlySet<string>>
}

/**
 * Extracts the values of a record. Never throws: unreadable values are missing. The time is proportional to the
 * document.
 * @param aliases identifiers of records that were merged into this one; they find it like its own
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
