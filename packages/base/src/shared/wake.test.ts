import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { createLoopWake } from './wake.ts'

it('a wait ends when it is raised, also before it began, and leaves no listener behind', async () => {
  const wake = createLoopWake()
  const { signal } = new AbortController()
  for (let round = 0; round < 20; round += 1) {
    const waiting = wake.wait(signal)
    wake.raise()
    await waiting
    wake.raise()
    await wake.wait(signal)
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('of several times the earliest ends the wait, and the others are forgotten', async () => {
  const wake = createLoopWake()
  const { signal } = new AbortController()
  wake.raise(10 ** 12)
  const waiting = wake.wait(signal)
  wake.raise(60_000)
  wake.raise(5)
  await waiting
  let ended = false
  const next = wake.wait(signal).then(() => {
    ended = true
  })
  await new Promise(setImmediate)
  expect(ended).toBe(false)
  wake.raise()
  await next
})

it('a wait ends when its signal is aborted', async () => {
  const wake = createLoopWake()
  const stopping = new AbortController()
  const waiting = wake.wait(stopping.signal)
  stopping.abort()
  await waiting
  await wake.wait(stopping.signal)
})
