import { expect, test } from 'vitest'
import { createLruCache } from './recently-used.ts'

test('of more entries than the limit the one that was not used for longest goes, and is released', () => {
  const released: string[] = []
  const cache = createLruCache<number, string>(2, (value) => released.push(value))
  cache.set(1, 'one').set(2, 'two')
  cache.get(1)
  cache.set(3, 'three')
  expect([...cache.keys()].sort()).toEqual([1, 3])
  expect(released).toEqual(['two'])
  for (let key = 4; key < 1_000; key += 1) cache.set(key, 'more')
  expect(cache.size).toBe(2)
})

test('a large limit takes no memory before there are entries', () => {
  const before = process.memoryUsage()
  const caches = Array.from({ length: 100 }, () => createLruCache<number, string>(1_000_000))
  const after = process.memoryUsage()
  expect(caches).toHaveLength(100)
  // The room for all entries of one of them is 28 MB.
  expect(after.heapUsed + after.external - before.heapUsed - before.external).toBeLessThan(20_000_000)
})
