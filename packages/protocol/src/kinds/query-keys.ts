/** Finds a name from a query among the names of a record type. */
import { searchKey } from '../attributes/record-keys.ts'
import type { RecordType } from './kind.ts'

/**
 * The forms of a name under which to look it up: as written, with camel case as snake case, and both without a prefix
 * of the type.
 */
export function queryKeys({ query_prefixes = [] }: RecordType, spelling: string): readonly string[] {
  const snake = spelling.replace(/([a-z0-9])([A-Z])/g, '$1_$2')
  const keys = [...new Set([searchKey(spelling), searchKey(snake)])]
  const prefixes = query_prefixes.map((prefix) => `${searchKey(prefix)}.`)
  return keys.flatMap((key) => [
    key,
    ...prefixes.flatMap((prefix) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : [])),
  ])
}
