import { expect, test } from 'vitest'
import { boundsOf } from './conditions.ts'

test('a bound beyond the largest number is none', () => {
  const largest = { is: 'numbers', from: -Number.MAX_VALUE, to: Number.MAX_VALUE } as const
  expect(boundsOf(largest, 1e-15)).toEqual({ least: null, most: null })
  expect(boundsOf({ is: 'numbers', from: 1, to: null }, 0.5)).toEqual({ least: 0.5, most: null })
})
