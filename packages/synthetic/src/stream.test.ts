import fc from 'fast-check'
import { expect, test } from 'vitest'
import { populationOf, RandomStream, STREAM_PURPOSES } from './stream.ts'

const draws = (seed: number | string, purpose: (typeof STREAM_PURPOSES)[keyof typeof STREAM_PURPOSES], index: number) => {
  const stream = new RandomStream(populationOf(seed), purpose, index)
  return Array.from({ length: 4 }, () => stream.next()).join()
}

test('a stream depends on seed, purpose and index, and on nothing else', () => {
  expect(draws(7, STREAM_PURPOSES.person, 12)).toBe(draws('7', STREAM_PURPOSES.person, 12))
  const others = [draws(8, STREAM_PURPOSES.person, 12), draws(7, STREAM_PURPOSES.civil, 12), draws(7, STREAM_PURPOSES.person, 13)]
  expect(new Set([draws(7, STREAM_PURPOSES.person, 12), ...others]).size).toBe(4)
})

test('the numbers drawn are fixed for all time: files made with a seed can be made again', () => {
  expect(draws(1, STREAM_PURPOSES.person, 0)).toMatchInlineSnapshot(`"1581650467,254535014,3071320180,505193491"`)
})

test('whole numbers stay within their range', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(), fc.integer({ min: 1, max: 1e9 }), (seed, index, limit) => {
      const stream = new RandomStream(populationOf(seed), STREAM_PURPOSES.person, index)
      const low = stream.below(limit)
      const middle = stream.between(10, 10 + limit)
      expect(low >= 0 && low < limit && Number.isInteger(low)).toBe(true)
      expect(middle >= 10 && middle <= 10 + limit && Number.isInteger(middle)).toBe(true)
    }),
  )
  const stream = new RandomStream(populationOf(1), STREAM_PURPOSES.person, 0)
  expect(stream.between(5, 4)).toBe(5)
})

test('rates come true, and every choice is picked about equally often', () => {
  const stream = new RandomStream(populationOf(3), STREAM_PURPOSES.person, 5)
  let heads = 0
  const picked = { a: 0, b: 0, c: 0 }
  for (let draw = 0; draw < 30_000; draw++) {
    if (stream.chance(0.2)) heads += 1
    picked[stream.pick(['a', 'b', 'c'])] += 1
  }
  expect(heads / 30_000).toBeCloseTo(0.2, 1)
  for (const count of Object.values(picked)) expect(count / 30_000).toBeCloseTo(1 / 3, 1)
})
