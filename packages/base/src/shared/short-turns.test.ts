import { expect, it } from 'vitest'
import { ShortEventLoopTurns } from './short-turns.ts'

it('other work runs once the steps have taken 20 milliseconds, and not before', async () => {
  let time = 0
  const turns = new ShortEventLoopTurns(() => time)
  let others = 0
  const step = async (took: number): Promise<number> => {
    const other = setImmediate(() => (others += 1))
    time += took
    await turns.next()
    clearImmediate(other)
    return others
  }
  expect(await step(19)).toBe(0)
  expect(await step(1)).toBe(1)
  // Counted anew from there.
  expect(await step(19)).toBe(1)
  expect(await step(500)).toBe(2)
})
