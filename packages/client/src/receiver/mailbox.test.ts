import { describe, expect, it, vi } from 'vitest'
import { TransportError } from '../errors.ts'
import type { ReplyCallback } from './callbacks.ts'
import { AwaitedCallbacks } from './mailbox.ts'

const callback = (correlation_id: string, page = 1) =>
  ({ name: 'on-search', message: { correlation_id, page } }) as unknown as ReplyCallback
const LIMITS = { callbacks: 3, age: 1_000 }

describe('a mailbox', () => {
  it('gives each callback once, in the order in which they came', async () => {
    const mailbox = new AwaitedCallbacks(LIMITS)
    const early = mailbox.take('c')
    for (const page of [1, 2, 3]) mailbox.put(callback('c', page))
    const got = [await early, await mailbox.take('c'), await mailbox.take('c')]
    expect(got).toEqual([1, 2, 3].map((page) => callback('c', page)))
    await expect(mailbox.take('c', { timeout: 5 })).rejects.toThrow('no callback within 5 ms')
  })

  it('gives two who wait for the same one each, the first to the first', async () => {
    const mailbox = new AwaitedCallbacks(LIMITS)
    const waiting = [mailbox.take('c'), mailbox.take('c')]
    mailbox.put(callback('c', 1))
    mailbox.put(callback('other'))
    mailbox.put(callback('c', 2))
    expect(await Promise.all(waiting)).toEqual([callback('c', 1), callback('c', 2)])
  })

  it('holds so many, for so long', async () => {
    let now = 0
    const mailbox = new AwaitedCallbacks(LIMITS, () => now)
    for (const id of ['a', 'b', 'c', 'd']) mailbox.put(callback(id))
    await expect(mailbox.take('a', { timeout: 5 })).rejects.toThrow(TransportError)
    expect(await mailbox.take('b')).toEqual(callback('b'))
    now = 1_001
    await expect(mailbox.take('c', { timeout: 5 })).rejects.toThrow('no callback within 5 ms')
  })

  it('drops what is too old also when nothing more happens', async () => {
    vi.useFakeTimers()
    try {
      const mailbox = new AwaitedCallbacks(LIMITS)
      for (const id of ['a', 'b']) {
        mailbox.put(callback(id))
        await vi.advanceTimersByTimeAsync(500)
      }
      expect([mailbox.held, vi.getTimerCount()]).toEqual([1, 1])
      await vi.advanceTimersByTimeAsync(500)
      expect([mailbox.held, vi.getTimerCount()]).toEqual([0, 0])
    } finally {
      vi.useRealTimers()
    }
  })

  it('holds nothing where nothing may be held', async () => {
    const mailbox = new AwaitedCallbacks({ ...LIMITS, callbacks: 0 })
    mailbox.put(callback('a'))
    await expect(mailbox.take('a', { timeout: 5 })).rejects.toThrow('no callback within 5 ms')
  })

  it('waits without end where it is told to', async () => {
    vi.useFakeTimers()
    try {
      const mailbox = new AwaitedCallbacks(LIMITS)
      const waiting = mailbox.take('c', { timeout: Number.POSITIVE_INFINITY })
      await vi.advanceTimersByTimeAsync(7 * 86_400_000)
      mailbox.put(callback('c'))
      expect(await waiting).toEqual(callback('c'))
    } finally {
      vi.useRealTimers()
    }
  })

  it('ends with the signal of who waits, and then keeps what comes', async () => {
    const mailbox = new AwaitedCallbacks(LIMITS)
    const controller = new AbortController()
    const waiting = mailbox.take('c', { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    await expect(mailbox.take('c', { signal: controller.signal })).rejects.toThrow('enough')
    mailbox.put(callback('c'))
    expect(await mailbox.take('c')).toEqual(callback('c'))
  })
})
