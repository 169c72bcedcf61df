/** `searchKey` of the names of members, which are the same ones in every record. */
import { searchKey } from '@rollcall/protocol'

/** Names that are remembered; a peer may send any. */
const MOST = 5_000
const known = new Map<string, string>()

export function memberKey(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  const key = searchKey(name)
  if (known.size >= MOST) known.clear()
  if (name.length <= LONGEST) known.set(name, key)
  return key
}

const LONGEST = 64
