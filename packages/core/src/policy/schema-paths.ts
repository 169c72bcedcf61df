/** Finds out whether the schema of a record has a member at a dotted path. */
import { searchKey } from '@rollcall/protocol'
import type { TSchema } from 'typebox'

/** The keywords of JSON Schema that decide whether a value has a member, directly or in list elements. */
interface SchemaMemberKeywords {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly patternProperties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
  readonly type?: string
}

/**
 * True when the schema has a member at the path, in any spelling. A path goes on from a list into its elements. Below a member
 * without a defined shape, every path exists.
 */
export function hasPath(schema: TSchema, path: string): boolean {
  return hasPathOfKeys(schema, path.split('.').map(searchKey))
}

function hasPathOfKeys(schema: SchemaMemberKeywords, keys: readonly string[]): boolean {
  const [key, ...rest] = keys
  if (key === undefined) return true
  const { properties, patternProperties, items, anyOf, type } = schema
  if (anyOf !== undefined) return anyOf.some((one) => hasPathOfKeys(one, keys))
  if (items !== undefined) return hasPathOfKeys(items, keys)
  if (patternProperties !== undefined) return Object.values(patternProperties).some((one) => hasPathOfKeys(one, rest))
  if (properties === undefined) return type === undefined
  return Object.entries(properties).some(([name, member]) => searchKey(name) === key && hasPathOfKeys(member, rest))
}
