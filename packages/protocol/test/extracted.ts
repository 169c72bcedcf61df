/** Everything that is read from one record, for the tests of the kinds. */
import type { AttributeValue } from '../src/attributes/attribute-types.ts'
import { readAttribute } from '../src/attributes/read-attribute.ts'
import { type Element, readElements } from '../src/attributes/read-elements.ts'
import { readIdentifiers } from '../src/attributes/read-identifiers.ts'
import type { JsonValue } from '../src/json.ts'
import type { Kind, RecordType } from '../src/kinds/kind.ts'

/** The attributes that have a value and the compounds that have elements, by name. */
export function attributesOf(type: RecordType, document: JsonValue): Record<string, AttributeValue | readonly Element[]> {
  const values: Record<string, AttributeValue | readonly Element[]> = {}
  for (const attribute of type.attributes) {
    const value = readAttribute(attribute, document)
    if (value !== null) values[attribute.name] = value
  }
  for (const compound of type.compounds ?? []) {
    const elements = readElements(compound, document)
    if (elements.length > 0) values[compound.name] = elements
  }
  return values
}

/** The identifiers, each as "record UIN U-44". */
export function identifiersOf(kind: Kind, type: RecordType, document: JsonValue): string[] {
  return readIdentifiers(kind, type, document).map(({ names, type, value }) => `${names} ${type} ${value}`)
}

/** One day as an attribute holds it. */
export function day(text: string) {
  return { from: text, to: text }
}
