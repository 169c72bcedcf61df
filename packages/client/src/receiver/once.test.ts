import { describe, expect, it } from 'vitest'
import { makeHandleOnce } from './once.ts'
import { type Claim, rememberInMemory } from './received-messages.ts'

const KEY = { sender_id: 'a.example', message_id: '1' }
const WAIT = { most: 20, step: 5 }

/** A memory that another process works with, too: it answers this. */
const answering = (claims: Claim[]) => {
  const told: string[] = []
  const memory = {
    claim: async () => claims.shift() ?? 'busy',
    done: async () => void told.push('done'),
    release: async () => void told.push('release'),
  }
  return { memory, told }
}

describe('once', () => {
  it('waits for another process, and does not handle what that has handled', async () => {
    const { memory, told } = answering(['busy', 'busy', 'done'])
    let handled = 0
    await makeHandleOnce(memory, WAIT)(KEY, async () => {
      handled += 1
    })
    expect([handled, told]).toEqual([0, []])
  })

  it('handles what another process has given up', async () => {
    const { memory, told } = answering(['busy', 'claimed'])
    let handled = 0
    await makeHandleOnce(memory, WAIT)(KEY, async () => {
      handled += 1
    })
    expect([handled, told]).toEqual([1, ['done']])
  })

  it('asks the peer to come again when another process takes too long', async () => {
    const { memory } = answering([])
    await expect(makeHandleOnce(memory, WAIT)(KEY, async () => {})).rejects.toMatchObject({
      code: 'err.service.unavailable',
      message: 'the message is being handled; send it again',
      httpStatus: 503,
      retryAfter: 1,
    })
  })

  it('releases what failed, and says the same to all who brought it', async () => {
    const { memory, told } = answering(['claimed'])
    const handle = makeHandleOnce(memory, WAIT)
    const fail = async (): Promise<void> => {
      throw new Error('no')
    }
    const outcomes = await Promise.allSettled([handle(KEY, fail), handle(KEY, fail)])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(told).toEqual(['release'])
  })

  it('handles different messages side by side', async () => {
    const handle = makeHandleOnce(rememberInMemory(), WAIT)
    const order: string[] = []
    const release = Promise.withResolvers<void>()
    const slow = handle(KEY, async () => {
      await release.promise
      order.push('slow')
    })
    await handle({ ...KEY, message_id: '2' }, async () => void order.push('quick'))
    release.resolve()
    await slow
    expect(order).toEqual(['quick', 'slow'])
  })
})
