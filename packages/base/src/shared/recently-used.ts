import { LRUCache } from 'lru-cache'

/**
 * A cache of at most `limit` entries that forgets the least recently used one. Its memory grows with its entries; with
 * the option `max`, LRUCache would reserve memory for all entries at once, 3 MB for 100,000.
 * @param release is called with a value that is replaced or forgotten
 */
export function createLruCache<Key extends {}, Value extends {}>(
  limit: number,
  release: (value: Value) => unknown = () => undefined,
): LRUCache<Key, Value> {
  return new LRUCache<Key, Value>({ maxSize: limit, sizeCalculation: () => 1, dispose: (value) => void release(value) })
}
