/** Handles every message once; a sender that repeats it gets the result of the first time. */
import { RequestFault } from '@rollcall/protocol'
import { sleep } from '../http/retry.ts'
import type { MessageKey, ReceivedMessages } from './received-messages.ts'

/** Milliseconds: how long to wait for another process, and how often to check it. */
const WAIT = { most: 5_000, step: 100 }

/** @param handle resolves when the message is handled; when it rejects, the message is not remembered */
export type Once = (key: MessageKey, handle: () => Promise<void>) => Promise<void>

export function once(memory: ReceivedMessages, wait = WAIT): Once {
  /** Messages that this process is handling. */
  const running = new Map<string, Promise<void>>()

  const handleFirst = async (key: MessageKey, handle: () => Promise<void>): Promise<void> => {
    if (!(await claim(memory, key, wait))) return
    try {
      await handle()
    } catch (error) {
      // The handler's error is thrown, also when the memory fails.
      await memory.release(key).catch(() => undefined)
      throw error
    }
    await memory.done(key)
  }

  return (key, handle) => {
    const name = JSON.stringify([key.sender_id, key.message_id])
    const first = running.get(name)
    if (first !== undefined) return first
    const handled = handleFirst(key, handle).finally(() => running.delete(name))
    running.set(name, handled)
    return handled
  }
}

/** True when the message is ours to handle, false when it was handled. */
async function claim(memory: ReceivedMessages, key: MessageKey, wait: typeof WAIT): Promise<boolean> {
  for (let waited = 0; ; waited += wait.step) {
    const claim = await memory.claim(key)
    if (claim !== 'busy') return claim === 'claimed'
    if (waited >= wait.most) {
      throw new RequestFault('err.service.unavailable', 'the message is being handled; send it again', 503, {
        retryAfter: 1,
      })
    }
    await sleep(wait.step)
  }
}
