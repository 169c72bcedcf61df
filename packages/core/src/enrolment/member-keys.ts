/** Remembers the `searchKey` of member names: records repeat the same names. */
import { searchKey } from '@rollcall/protocol'

/** The number of remembered names. It is limited because a peer may send any names. */
const MOST = 5_000
const known = new Map<string, string>()

/** The `searchKey` of the name of a JSON member. */
export function memberSearchKey(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  const key = searchKey(name)
  if (known.size >= MOST) known.clear()
  if (name.length <= LONGEST) known.set(name, key)
  return key
}

const LONGEST = 64
