import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTurns, inTurn } from './turns.ts'

it('work of one key is done one piece at a time, in its order, and goes on after a failure', async () => {
  const turns = createTurns()
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await turn()
    seen.push(`${name} ends`)
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const other = inTurn(turns, 'other', async () => seen.push('other'))
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => inTurn(turns, 'one', work(name))))
  expect(all).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new Error('b failed') },
    { status: 'fulfilled', value: 'c' },
  ])
  await other
  expect(seen.filter((step) => step !== 'other')).toEqual([
    ...['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'],
  ])
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('a ends'))
  expect(await inTurn(turns, 'one', work('d'))).toBe('d')
})
