/** Finds a name from a query among the names of a record type. */
import { searchKey } from '../attributes/record-keys.ts'
import type { RecordType } from './kind.ts'

/**
 * Looks up a name from a query: as written, then with camel case as snake case, each also without a prefix of the record
 * type (`query_prefixes`).
 * @param find looks up one search key
 * @returns the first result of `find` that is not undefined; undefined when there is none
 */
export function findMeaningOfQueryName<Meaning>(
  recordType: RecordType,
  spelling: string,
  find: (key: string) => Meaning | undefined,
): Meaning | undefined {
  // Most names are found as written: skip making the other keys.
  const written = searchKey(spelling)
  return find(written) ?? findMeaningOfRewrittenName(recordType, spelling, written, find)
}

function findMeaningOfRewrittenName<Meaning>(
  { query_prefixes = [] }: RecordType,
  spelling: string,
  written: string,
  find: (key: string) => Meaning | undefined,
): Meaning | undefined {
  const snake = searchKey(spelling.replace(/([a-z0-9])([A-Z])/g, '$1_$2'))
  const prefixes = query_prefixes.map((prefix) => `${searchKey(prefix)}.`)
  const withoutPrefix = (key: string) =>
    prefixes.filter((prefix) => key.startsWith(prefix)).map((prefix) => key.slice(prefix.length))
  for (const key of [...withoutPrefix(written), snake, ...withoutPrefix(snake)]) {
    const meaning = find(key)
    if (meaning !== undefined) return meaning
  }
  return undefined
}
