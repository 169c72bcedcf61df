import { LRUCache } from 'lru-cache'

/**
 * A cache of at most `limit` entries; the one that was not used for longest goes first. It grows with what it holds:
 * LRUCache's own `max` makes the room for all entries at once, which is 3 MB for 100,000 that may never come.
 * @param release what becomes of a value that is replaced or forgotten
 */
export function recentlyUsed<Key extends {}, Value extends {}>(
  limit: number,
  release: (value: Value) => unknown = () => undefined,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: limit, sizeCalculation: () => 1, dispose: (value) => void release(value) })
}
