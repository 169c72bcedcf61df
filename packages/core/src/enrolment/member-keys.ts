/** Remembers the `searchKey` of member names: records repeat the same names. */
import { searchKey } from '@rollcall/protocol'

/** The most member names whose `searchKey` is remembered: a peer may send any number of names. */
const MOST_CACHED_SEARCH_KEYS = 5_000
const searchKeyByMemberName = new Map<string, string>()

/** The `searchKey` of the name of a JSON member: the form for comparing, equal for all spellings of the name. */
export function memberSearchKey(name: string): string {
  const found = searchKeyByMemberName.get(name)
  if (found !== undefined) return found
  // A prefix that ends with a colon is cut first, because readers of records ignore it. A prefix may have a dot, at which
  // `searchKey` would split the name.
  const key = searchKey(name.slice(name.lastIndexOf(':') + 1))
  if (searchKeyByMemberName.size >= MOST_CACHED_SEARCH_KEYS) searchKeyByMemberName.clear()
  if (name.length <= MOST_CACHED_NAME_CHARACTERS) searchKeyByMemberName.set(name, key)
  return key
}

const MOST_CACHED_NAME_CHARACTERS = 64
