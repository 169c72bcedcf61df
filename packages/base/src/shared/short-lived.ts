/** A cache that forgets quickly, so that every node follows a change in the database within the cache's maximum age. */
import { createLruCache } from './recently-used.ts'

export interface ShortLivedCache<Value> {
  /**
   * The value for `key`, if its load began less than the maximum age ago; else it is loaded now. Calls within that time
   * share one load, unless it failed or the key was forgotten.
   */
  get(key: string): Promise<Value>
  /** Makes the next `get` for `key` load the value again, because this node has changed it. */
  forget(key: string): void
}

/** A change must take effect on every node within a second. The cache delays it by at most half a second. */
const MAX_AGE_MS = 500

/**
 * Makes a cache of the results of `load`. The age of a value is counted from the start of its load. Failed loads are
 * not remembered. Beyond `maxKeys` keys, the least recently used one is forgotten.
 */
export function createShortLivedCache<Value>(
  load: (key: string) => Promise<Value>,
  {
    maxAge = MAX_AGE_MS,
    maxKeys = 10_000,
    now = () => performance.now(),
  }: { maxAge?: number; maxKeys?: number; now?: () => number } = {},
): ShortLivedCache<Value> {
  // The start of each load is stored here, because `createLruCache` knows no ages.
  const loads = createLruCache<string, { readonly since: number; readonly value: Promise<Value> }>(maxKeys)
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
