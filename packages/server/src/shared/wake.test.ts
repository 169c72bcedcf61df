import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { createWake } from './wake.ts'

it('a wait ends when it is raised, also before it began, and leaves no listener behind', async () => {
  const wake = createWake()
  const { signal } = new AbortController()
  for (let round = 0; round < 20; round += 1) {
    const waiting = wake.wait(60_000, signal)
    wake.raise()
    await waiting
    wake.raise()
    await wake.wait(60_000, signal)
    await wake.wait(0, signal)
  }
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

it('a wait ends when its signal is aborted', async () => {
  const wake = createWake()
  const stopping = new AbortController()
  const waiting = wake.wait(60_000, stopping.signal)
  stopping.abort()
  await waiting
  await wake.wait(60_000, stopping.signal)
})
