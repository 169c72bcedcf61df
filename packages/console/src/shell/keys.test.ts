import { expect, it } from 'vitest'
import { createShortcutReader } from './keys.ts'

it('reads single keys, and pairs that begin with g', () => {
  const read = createShortcutReader(1_500)
  expect(read('?', 0)).toBe('?')
  expect(read('g', 100)).toBe(null)
  expect(read('m', 900)).toBe('g m')
  expect(read('m', 1_000)).toBe('m')
})

it('waits for the second key only so long', () => {
  const read = createShortcutReader(1_500)
  expect(read('g', 0)).toBe(null)
  expect(read('m', 1_500)).toBe('m')
})
