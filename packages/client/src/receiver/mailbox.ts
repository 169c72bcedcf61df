/** Gives callbacks to callers that wait for a correlation_id. The callback or the call may come first. */
import type { RequestFault } from '@rollcall/protocol'
import { TransportError } from '../errors.ts'
import type { AwaitOptions, ReplyCallback } from './callbacks.ts'
import { RefusedCallbacks } from './refused-callbacks.ts'

/** Limits of the callbacks that are kept until a caller asks for them. */
export interface MailboxLimits {
  readonly callbacks: number
  /** How long a callback is kept for a caller, in milliseconds. */
  readonly age: number
}

const AWAIT_TIMEOUT_MS = 60_000
/** The longest time of a timer, in milliseconds. A timer with a longer time would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface UnclaimedCallback {
  readonly callback: ReplyCallback
  readonly at: number
}

/** The callbacks that came before their callers, and the callers that wait. */
export class AwaitedCallbacks {
  readonly #limits: MailboxLimits
  readonly #now: () => number
  /** The callers that wait, by correlation_id; the first one gets the callback. */
  readonly #waiting = new Map<string, Set<(callback: ReplyCallback) => void>>()
  /** The callbacks that are kept, in the order of arrival. */
  #held: readonly UnclaimedCallback[] = []
  readonly #refused = new RefusedCallbacks()
  #timer: unknown

  constructor(limits: MailboxLimits, now: () => number = Date.now) {
    this.#limits = limits
    this.#now = now
  }

  /** The number of callbacks in memory. */
  get held(): number {
    return this.#held.length
  }

  put(callback: ReplyCallback): void {
    const [first] = this.#waiting.get(callback.message.correlation_id) ?? []
    if (first !== undefined) first(callback)
    else if (this.#limits.callbacks > 0) {
      this.#held = [...this.#live(), { callback, at: this.#now() }].slice(-this.#limits.callbacks)
      this.#dropLater()
    }
  }

  /**
   * Notes a refused callback. Callers of `take` go on waiting; if no other callback comes, their error mentions the refused one.
   */
  refused(fault: RequestFault, sender_id: string | null): void {
    this.#refused.note(this.#now(), fault, sender_id)
  }

  /** Waits for the callback with a correlation_id, and takes it. @throws TransportError no_callback, or the reason of `signal` */
  take(correlation_id: string, { timeout = AWAIT_TIMEOUT_MS, signal }: AwaitOptions = {}): Promise<ReplyCallback> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const here = this.#live().find(({ callback }) => callback.message.correlation_id === correlation_id)
      if (here !== undefined) {
        this.#held = this.#held.filter((held) => held !== here)
        resolve(here.callback)
        return
      }
      const waiters = this.#waiting.get(correlation_id) ?? new Set()
      this.#waiting.set(correlation_id, waiters)
      const settle = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
        waiters.delete(onCallback)
        if (waiters.size === 0 && this.#waiting.get(correlation_id) === waiters) {
          this.#waiting.delete(correlation_id)
        }
      }
      const onCallback = (callback: ReplyCallback): void => {
        settle()
        resolve(callback)
      }
      const onAbort = (): void => {
        settle()
        reject(signal?.reason)
      }
      const began = this.#now()
      const timer = setTimeout(
        () => {
          settle()
          const refused = this.#refused.since(began)
          reject(new TransportError('no_callback', `no callback within ${timeout} ms${refused}`))
        },
        Math.min(timeout, LONGEST_TIMER_MS),
      )
      waiters.add(onCallback)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Starts a timer that drops callbacks when they are too old. The timer does not keep a process running. */
  #dropLater(): void {
    const [oldest] = this.#held
    if (this.#timer !== undefined || oldest === undefined) return
    const wait = Math.min(oldest.at + this.#limits.age - this.#now(), LONGEST_TIMER_MS)
    const timer: unknown = setTimeout(() => {
      this.#timer = undefined
      this.#held = this.#live()
      this.#dropLater()
    }, wait)
    this.#timer = timer
    // A timer of a browser is a number, and has no `unref`.
    ;(timer as { readonly unref?: () => void }).unref?.()
  }

  #live(): readonly UnclaimedCallback[] {
    const oldest = this.#now() - this.#limits.age
    return this.#held.filter(({ at }) => at > oldest)
  }
}
