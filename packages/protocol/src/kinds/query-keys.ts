/** Looks up a name in a query among the names of a record type. */
import { searchKey } from '../attributes/record-keys.ts'
import type { RecordType } from './kind.ts'

/**
 * Keys for looking up a name of a query: as written, and with camel case as snake case, both also without a prefix of
 * the type.
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
