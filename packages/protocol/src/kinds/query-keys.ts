/** Finds a name from a query among the names of a record type. */
import { searchKey } from '../attributes/record-keys.ts'
import type { RecordType } from './kind.ts'

/**
 * The search keys under which to look up a name: as written, with camel case as snake case, and both also without a
 * prefix of the record type (`query_prefixes`).
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
