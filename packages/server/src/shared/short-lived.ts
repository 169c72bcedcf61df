/** A memory that forgets soon, so that a change in the database takes effect on every node within its age. */

export interface ShortLived<Value> {
  /** The value loaded for `key` less than the maximum age ago, else loaded now; one load at a time per key. */
  get(key: string): Promise<Value>
}

/**
 * Remembers what `load` answered for at most `maxAge` milliseconds, counted from the moment the load began:
 * what it returns was true not longer than that ago. Failures are not remembered. At most `maxKeys` keys are
 * held; the oldest goes first.
 */
export function shortLived<Value>(
  load: (key: string) => Promise<Value>,
  {
    maxAge,
    maxKeys = 10_000,
    now: clock = () => performance.now(),
  }: { maxAge: number; maxKeys?: number; now?: () => number },
): ShortLived<Value> {
  const held = new Map<string, { since: number; value: Promise<Value> }>()

  const begin = (key: string, since: number): Promise<Value> => {
    const value = load(key)
    held.delete(key)
    held.set(key, { since, value })
    value.catch(() => {
      if (held.get(key)?.value === value) held.delete(key)
    })
    if (held.size > maxKeys) {
      const oldest = held.keys().next()
      if (!oldest.done) held.delete(oldest.value)
    }
    return value
  }

  return {
    get(key) {
      const now = clock()
      const known = held.get(key)
      return known !== undefined && now - known.since < maxAge ? known.value : begin(key, now)
    },
  }
}
