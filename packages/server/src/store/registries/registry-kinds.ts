/** The kind of a registry together with what its operator added. */
import {
  type Attribute,
  type AttributeAddition,
  canonicalJson,
  extendKind,
  type Kind,
} from '@rollcall/protocol'

/**
 * As it is kept. For an attribute that the kind itself has, `indexed` alone counts and the rest comes from the kind:
 * a later version of the kind may describe it better.
 */
export interface KeptAttribute {
  readonly record_type: string
  readonly name: string
  readonly definition: Partial<Omit<Attribute, 'name'>>
}

/**
 * By content: much hangs on a kind's record types (tables, statements, reference pages), so what is the same must
 * be the same object, however often it is read. As many entries as there were different additions.
 */
const extended = new Map<string, Kind>()

/** The kind with the additions: the kind itself where there are none, else one object for the same additions. */
export function kindWith(kind: Kind, kept: readonly KeptAttribute[]): Kind {
  const additions = kept.flatMap((attribute) => asAddition(kind, attribute) ?? [])
  if (additions.length === 0) return kind
  const key = `${kind.name} ${canonicalJson(additions as unknown as Parameters<typeof canonicalJson>[0])}`
  const found = extended.get(key) ?? extendKind(kind, additions)
  extended.set(key, found)
  return found
}

/** Null: this version's kind has no place for it. Who asks about it is then refused, as for any unknown attribute. */
function asAddition(kind: Kind, { record_type, name, definition }: KeptAttribute): AttributeAddition | null {
  const recordType = kind.record_types.find((row) => row.name === record_type)
  if (recordType === undefined) return null
  const own = recordType.attributes.find((attribute) => attribute.name === name)
  if (own !== undefined) {
    return definition.indexed ? { record_type, attribute: { ...own, indexed: true } } : null
  }
  const { type, paths } = definition
  return type && paths ? { record_type, attribute: { ...definition, name, type, paths } } : null
}
