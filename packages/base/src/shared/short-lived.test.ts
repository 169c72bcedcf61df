import { expect, test } from 'vitest'
import { createShortLivedCache } from './short-lived.ts'

/** A cache of what is loaded by a number that counts the loads, with a clock that the test sets. */
function counting(options: { maxKeys?: number } = {}) {
  const state = { now: 0, loads: 0, load: async (): Promise<number> => state.loads }
  const cache = createShortLivedCache(
    () => {
      state.loads += 1
      return state.load()
    },
    { maxAge: 500, now: () => state.now, ...options },
  )
  return { state, cache }
}

test('what was loaded is remembered for less than its age', async () => {
  const { state, cache } = counting()
  expect(await cache.get('a')).toBe(1)
  state.now = 499
  expect(await cache.get('a')).toBe(1)
  state.now = 500
  expect(await cache.get('a')).toBe(2)
})

test('a load that takes long is as old as its beginning', async () => {
  const { state, cache } = counting()
  const { promise, resolve } = Promise.withResolvers<number>()
  state.load = () => promise
  const slow = cache.get('a')
  state.now = 499
  expect(cache.get('a')).toBe(slow)
  state.load = async () => 2
  state.now = 500
  expect(await cache.get('a')).toBe(2)
  resolve(1)
  expect(await slow).toBe(1)
  expect(await cache.get('a')).toBe(2)
})

test('a failure is not remembered', async () => {
  const { state, cache } = counting()
  state.load = async () => {
    throw new Error('away')
  }
  await expect(cache.get('a')).rejects.toThrow('away')
  state.load = async () => 2
  expect(await cache.get('a')).toBe(2)
})

test('of too many keys the one that was not asked for longest goes', async () => {
  const { state, cache } = counting({ maxKeys: 2 })
  for (const key of ['a', 'b', 'a', 'c', 'a']) await cache.get(key)
  expect(state.loads).toBe(3)
  await cache.get('b')
  expect(state.loads).toBe(4)
})
