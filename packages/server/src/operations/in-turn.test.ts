import { expect, it } from 'vitest'
import { createInTurn } from './in-turn.ts'

it('work is done one piece at a time, in its order, and goes on after a failure', async () => {
  const inTurn = createInTurn()
  const told: string[] = []
  const work = (name: string) => async () => {
    told.push(`${name} begins`)
    await new Promise((resolve) => setTimeout(resolve, 1))
    told.push(`${name} ends`)
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => inTurn(work(name))))
  expect(all).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new Error('b failed') },
    { status: 'fulfilled', value: 'c' },
  ])
  expect(told).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
  expect(await inTurn(work('d'))).toBe('d')
})
