/** Sends an asynchronous search whose callbacks come to this process. */
import type { Accepted, ReplyCallback, SearchInput } from '@rollcall/client'
import { type CallbackSetup, withCallbacks } from './called-back.ts'
import { callClient } from './failures.ts'
import type { RegistryTarget } from './target.ts'

export interface CallbackWaitOptions extends Pick<CallbackSetup, 'at' | 'sender_uri'> {
  /** Milliseconds to wait for each callback. */
  readonly timeout: number
  readonly signal: AbortSignal
  readonly accepted: (accepted: Accepted) => void
  readonly callback: (callback: ReplyCallback) => void
}

/** Sends the request and reports each callback, until the last page of every item has come. @throws CommandError */
export function searchAndWait(
  target: RegistryTarget,
  questions: readonly SearchInput[],
  wait: CallbackWaitOptions,
): Promise<void> {
  return withCallbacks(target, wait, async (asking, rejected) => {
    const { timeout, accepted } = wait
    const signal = AbortSignal.any([wait.signal, rejected])
    const callbacks = asking.searchByCallback(questions, { timeout, accepted, signal })
    for (;;) {
      const { done, value } = await callClient(callbacks.next(), wait.signal)
      if (done) break
      wait.callback(value)
    }
  })
}
