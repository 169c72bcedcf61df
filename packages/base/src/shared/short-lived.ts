/** A cache with a short memory, so that every node follows a change in the database within its age. */
import { recentlyUsed } from './recently-used.ts'

export interface ShortLived<Value> {
  /** The value loaded for `key` less than the maximum age ago, else loaded now; one load at a time per key. */
  get(key: string): Promise<Value>
  /** The next `get` loads the value: this node has just changed it. */
  forget(key: string): void
}

/** Milliseconds. A change takes effect on every node within a second: this is half of that, the rest is slack. */
const MAX_AGE = 500

/**
 * Remembers results of `load` for at most `maxAge` milliseconds from the start of the load: a result is never older.
 * Failures are not remembered. Beyond `maxKeys` keys, the least recently used one is forgotten.
 */
export function shortLived<Value>(
  load: (key: string) => Promise<Value>,
  {
    maxAge = MAX_AGE,
    maxKeys = 10_000,
    now = () => performance.now(),
  }: { maxAge?: number; maxKeys?: number; now?: () => number } = {},
): ShortLived<Value> {
  // Promises are stored with the start of their load, because the cache's own ages would begin at its end.
  const loads = recentlyUsed<string, { readonly since: number; readonly value: Promise<Value> }>(maxKeys)
  return {
    get(key) {
      const since = now()
      const known = loads.get(key)
      if (known !== undefined && since - known.since < maxAge) return known.value
      const loaded = { since, value: load(key) }
      loads.set(key, loaded)
      loaded.value.catch(() => {
        if (loads.peek(key) === loaded) loads.delete(key)
      })
      return loaded.value
    },
    forget: (key) => loads.delete(key),
  }
}
