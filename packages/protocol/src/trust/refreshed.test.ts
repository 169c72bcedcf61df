import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { Refreshed, type RefreshRules } from './refreshed.ts'

const AGES = { fresh: 100, usable: 1_000 }

/** A publisher with its answer, a clock that the test sets, and the number of times that it was asked. */
function publisher(rules: Partial<RefreshRules> = {}) {
  const state = { now: 0, asked: 0, answer: 'a' as string | Error }
  const refreshed = new Refreshed<string>({
    pause: { withValue: 10, without: 1 },
    survives: () => true,
    now: () => state.now,
    ...rules,
  })
  const get = (enough?: (value: string) => boolean): Promise<string> =>
    refreshed.get(async () => {
      state.asked += 1
      const { answer } = state
      await Promise.resolve()
      if (typeof answer !== 'string') throw answer
      return { ...AGES, value: answer }
    }, enough)
  return { state, refreshed, get }
}

test('all who wait share one request, and the value is used until it is old', async () => {
  const { state, get } = publisher()
  expect(await Promise.all([get(), get(), get()])).toEqual(['a', 'a', 'a'])
  state.answer = 'b'
  state.now = 99
  expect(await get()).toBe('a')
  state.now = 100
  expect(await get()).toBe('b')
  expect(state.asked).toBe(2)
})

test('its age counts from the beginning of the request', async () => {
  const { state, refreshed, get } = publisher()
  await refreshed.get(async () => {
    state.now = 60
    return { ...AGES, value: 'slow' }
  })
  state.now = 99
  expect(await get()).toBe('slow')
  state.now = 100
  expect(await get()).toBe('a')
})

test('one that is not enough is asked for again after a pause, and given all the same', async () => {
  const { state, get } = publisher()
  await get()
  const wantsB = (value: string): boolean => value === 'b'
  expect(await get(wantsB)).toBe('a')
  expect(state.asked).toBe(1)
  state.now = 10
  expect(await get(wantsB)).toBe('a')
  expect(state.asked).toBe(2)
  state.answer = 'b'
  state.now = 20
  expect(await get(wantsB)).toBe('b')
})

describe('while it cannot be fetched', () => {
  const away = new Error('away')

  test('it is used to its end, asked for after each pause', async () => {
    const { state, get } = publisher()
    await get()
    state.answer = away
    state.now = 100
    expect(await get()).toBe('a')
    state.now = 109
    expect(await get()).toBe('a')
    expect(state.asked).toBe(2)
    state.now = 1_000
    expect(await get()).toBe('a')
    state.now = 1_001
    await expect(get()).rejects.toBe(away)
    expect(state.asked).toBe(3)
  })

  test('those who ask too soon where there is none hear the last failure', async () => {
    const { state, get } = publisher()
    state.answer = away
    await expect(get()).rejects.toBe(away)
    await expect(get()).rejects.toBe(away)
    expect(state.asked).toBe(1)
    state.now = 1
    state.answer = 'b'
    expect(await get()).toBe('b')
  })

  test('a failure that says that it is not good any more drops it', async () => {
    const { state, get } = publisher({ survives: () => false })
    await get()
    state.answer = away
    state.now = 100
    await expect(get()).rejects.toBe(away)
    await expect(get()).rejects.toBe(away)
    expect(state.asked).toBe(2)
  })
})

test('a value that was refused is dropped, one that took its place is not', async () => {
  const { state, refreshed, get } = publisher({ pause: { withValue: 0, without: 0 } })
  await get()
  state.answer = 'b'
  refreshed.drop((value) => value === 'a')
  expect(await get()).toBe('b')
  refreshed.drop((value) => value === 'a')
  expect(await get()).toBe('b')
  expect(state.asked).toBe(2)
})

test('it is fetched again after the clock of the machine was set back', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const refreshed = new Refreshed<string>({ pause: { withValue: 0, without: 0 }, survives: () => true })
  const values = ['a', 'b', 'c']
  const get = (enough?: (value: string) => boolean): Promise<string> =>
    refreshed.get(async () => ({ ...AGES, value: values.shift() ?? '' }), enough)
  expect(await get()).toBe('a')
  vi.setSystemTime(Date.now() - 3_600_000)
  expect(await get((value) => value === 'b')).toBe('b')
  vi.setSystemTime(Date.now() - 3_600_000)
  refreshed.drop(() => true)
  expect(await get()).toBe('c')
})
