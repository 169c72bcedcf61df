import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { HttpAnswer } from './post.ts'
import { DEFAULT_RETRY, isTransientAnswer, pauseAfter, retryAfter, sleep, withRetries } from './retry.ts'

const NOW = Date.parse('2026-02-03T09:15:00Z')
const saying = (value: string | null) => ({ headers: { get: () => value } })

describe('pauseAfter', () => {
  it('doubles, between half and all, up to the longest', () => {
    const pauses = [1, 2, 3, 10].map((failed) => [0, 1].map((random) => pauseAfter(failed, DEFAULT_RETRY, random)))
    expect(pauses).toEqual([
      [125, 250],
      [250, 500],
      [500, 1_000],
      [5_000, 10_000],
    ])
  })

  it('is never longer than the longest, and never nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failed, random) => {
        const pause = pauseAfter(failed, DEFAULT_RETRY, random)
        expect(pause).toBeGreaterThan(0)
        expect(pause).toBeLessThanOrEqual(DEFAULT_RETRY.longest_pause)
      }),
    )
  })
})

describe('retryAfter', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    ['Tue, 03 Feb 2026 09:15:30 GMT', 30_000],
    ['Tue, 03 Feb 2026 09:14:30 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    [null, undefined],
  ])('%s is %s', (text, milliseconds) => {
    expect(retryAfter(saying(text), NOW)).toBe(milliseconds)
  })
})

describe('withRetries', () => {
  it('waits as long as Retry-After says', async () => {
    const answers = [
      { status: 429, ...saying('7') },
      { status: 200, ...saying(null) },
    ]
    const pauses: number[] = []
    const { status, attempts } = await withRetries(
      async () => ({ text: '', ...answers.shift() }) as HttpAnswer,
      DEFAULT_RETRY,
      undefined,
      async (pause) => void pauses.push(pause),
    )
    expect([status, attempts, pauses]).toEqual([200, 2, [7_000]])
  })
})

it('only answers that speak of the moment are transient', () => {
  const transient = [200, 400, 401, 403, 404, 408, 409, 413, 429, 500, 501, 502, 503, 504]
  expect(transient.filter((status) => isTransientAnswer({ status }))).toEqual([429, 502, 503, 504])
})

describe('sleep', () => {
  it('ends with its signal, at once when that was aborted before', async () => {
    const controller = new AbortController()
    const sleeping = sleep(60_000, controller.signal)
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    await expect(sleep(60_000, controller.signal)).rejects.toThrow('enough')
  })
})
