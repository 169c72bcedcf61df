/**
 * Handles a message once, as long as the store `ReceivedMessages` has it. A copy that comes during the handling gets the result
 * of the handling; a later copy is not handled.
 */
import { RequestFault } from '@rollcall/protocol'
import { sleep } from '../http/retry.ts'
import type { MessageKey, ReceivedMessages } from './received-messages.ts'

/**
 * Milliseconds, while another process handles the message: the longest wait (`most`), and the pause before each new try (`step`).
 */
const CLAIM_WAIT_MS = { most: 5_000, step: 100 }

/** Runs `handle` for a new message. @param handle when it rejects, the message counts as new again */
export type HandleOnce = (key: MessageKey, handle: () => Promise<void>) => Promise<void>

/** Makes a function that handles each message once, as long as `memory` has it. */
export function makeHandleOnce(memory: ReceivedMessages, wait = CLAIM_WAIT_MS): HandleOnce {
  /** The messages that this process is handling. */
  const running = new Map<string, Promise<void>>()

  const handleFirst = async (key: MessageKey, handle: () => Promise<void>): Promise<void> => {
    if (!(await claimWhenFree(memory, key, wait))) return
    try {
      await handle()
    } catch (error) {
      // The handler's error is thrown, even if the memory cannot release the message.
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

/**
 * True when we must handle the message, false when it was handled already.
 * @throws RequestFault another process is still handling it, after `wait.most`
 */
async function claimWhenFree(memory: ReceivedMessages, key: MessageKey, wait: typeof CLAIM_WAIT_MS): Promise<boolean> {
  for (let waited = 0; ; waited += wait.step) {
    const claim = await memory.claim(key)
    if (claim !== 'busy') return claim === 'claimed'
    if (waited >= wait.most) {
      throw new RequestFault('err.service.unavailable', 'the message is being handled; send it again', 503, { retryAfter: 1 })
    }
    await sleep(wait.step)
  }
}
