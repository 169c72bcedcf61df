import fc from 'fast-check'
import { expect, it } from 'vitest'
import { divideIntoSlices } from './upload.ts'

async function* stream(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces
}

it('give back every byte in its order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 10_000 }), { maxLength: 5 }), async (arrays) => {
      const pieces = arrays.map((array) => Buffer.from(array))
      const slices: Buffer[] = []
      for await (const slice of divideIntoSlices(stream(pieces))) slices.push(slice)
      expect(Buffer.concat(slices).equals(Buffer.concat(pieces))).toBe(true)
      for (const slice of slices) expect(slice.length).toBeLessThanOrEqual(4_096)
    }),
    { numRuns: 50 },
  )
})

it('give others a turn after each slice, however the stream comes', async () => {
  let turns = 0
  let over = false
  const others = (): void => {
    turns += 1
    if (!over) setImmediate(others)
  }
  setImmediate(others)
  const seen: number[] = []
  for await (const _slice of divideIntoSlices(stream([Buffer.alloc(40_960, '\n'), Buffer.alloc(10)]))) seen.push(turns)
  over = true
  expect(seen).toHaveLength(11)
  expect(new Set(seen).size).toBe(11)
})
