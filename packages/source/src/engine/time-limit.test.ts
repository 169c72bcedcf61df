import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { AnswerTimeLimit } from './time-limit.ts'

beforeAll(() => void vi.useFakeTimers())
afterAll(() => void vi.useRealTimers())

const limitOf = (milliseconds: number) => new AnswerTimeLimit(milliseconds, () => new Error('late'))
const never = new Promise<never>(() => undefined)

test('each wait has the whole time, and an answer in time is passed on', async () => {
  const limit = limitOf(100)
  for (let wait = 0; wait < 2; wait += 1) {
    vi.advanceTimersByTime(99)
    expect(await limit.wait(Promise.resolve(wait))).toBe(wait)
    await expect(limit.wait(Promise.reject(new Error('of the answer')))).rejects.toThrow('of the answer')
    vi.advanceTimersByTime(1_000)
  }
  const late = limit.wait(never).catch((error: Error) => error.message)
  vi.advanceTimersByTime(100)
  expect(await late).toBe('late')
})

test('an answer that comes too late does not end the wait for the next one', async () => {
  const limit = limitOf(100)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = limit.wait(promise).catch((error: Error) => error.message)
  vi.advanceTimersByTime(100)
  expect(await first).toBe('late')
  const second = limit.wait(never).catch((error: Error) => error.message)
  resolve()
  await promise
  await Promise.resolve()
  vi.advanceTimersByTime(100)
  expect(await second).toBe('late')
})
