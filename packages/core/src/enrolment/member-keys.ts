/** Remembers the `searchKey` of member names: records repeat the same names. */
import { searchKey } from '@rollcall/protocol'

/** The most member names whose keys are remembered: a peer may send any number of names. */
const MOST_CACHED_KEYS = 5_000
const keyByMemberName = new Map<string, string>()

/** The `searchKey` of the name of a JSON member. */
export function memberSearchKey(name: string): string {
  const found = keyByMemberName.get(name)
  if (found !== undefined) return found
  const key = searchKey(name)
  if (keyByMemberName.size >= MOST_CACHED_KEYS) keyByMemberName.clear()
  if (name.length <= MOST_CACHED_NAME_CHARACTERS) keyByMemberName.set(name, key)
  return key
}

const MOST_CACHED_NAME_CHARACTERS = 64
