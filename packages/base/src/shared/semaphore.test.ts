import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createSemaphore, runInSlot } from './semaphore.ts'

it('work of one key is done one piece at a time, in its order, and goes on after a failure', async () => {
  const turns = createSemaphore(1)
  const seen: string[] = []
  const work = (name: string) => async () => {
    seen.push(`${name} begins`)
    await turn()
    seen.push(`${name} ends`)
    if (name === 'b') throw new Error('b failed')
    return name
  }
  const other = runInSlot(turns, 'other', async () => seen.push('other'))
  const all = await Promise.allSettled(['a', 'b', 'c'].map((name) => runInSlot(turns, 'one', work(name))))
  expect(all).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new Error('b failed') },
    { status: 'fulfilled', value: 'c' },
  ])
  await other
  expect(seen.filter((step) => step !== 'other')).toEqual([...['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']])
  expect(seen.indexOf('other')).toBeLessThan(seen.indexOf('a ends'))
  expect(await runInSlot(turns, 'one', work('d'))).toBe('d')
})

it('weights have room together up to the limit; a larger one waits until it is alone', async () => {
  const room = createSemaphore(10)
  const begun: string[] = []
  const take = (name: string, weight: number) => {
    const slot = room.take('bytes', weight)
    void slot.begun.then(() => begun.push(name))
    return slot
  }
  const [first, second] = [take('6', 6), take('4', 4)]
  const [large, last] = [take('40', 40), take('1', 1)]
  await turn()
  expect(begun).toEqual(['6', '4'])
  first.end()
  first.end()
  await turn()
  expect(begun).toEqual(['6', '4'])
  second.end()
  await turn()
  expect(begun).toEqual(['6', '4', '40'])
  large.end()
  await last.begun
})

it('what leaves the queue gives way to those behind it', async () => {
  const semaphore = createSemaphore(1)
  const [first, second, third] = ['a', 'b', 'c'].map(() => semaphore.take('key'))
  second?.end()
  await second?.begun
  first?.end()
  await third?.begun
})
