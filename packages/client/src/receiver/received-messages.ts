/** Remembers handled messages: a peer repeats a message until it gets an ack (N16). */

/** The sender and the message_id, which identify a message together. */
export interface MessageKey {
  readonly sender_id: string
  readonly message_id: string
}

/**
 * `claimed`: the message is new or was released, and the caller must handle it. `done`: it was handled. `busy`: another
 * call is handling it.
 */
export type Claim = 'claimed' | 'done' | 'busy'

/** A memory of messages. Each claimed message is later marked as done, or released. */
export interface ReceivedMessages {
  claim(key: MessageKey): Promise<Claim>
  done(key: MessageKey): Promise<void>
  /** Releases a message that was not handled: its next copy counts as new. */
  release(key: MessageKey): Promise<void>
}

const DAY_MS = 24 * 3_600_000

/** The default limits of `rememberInMemory`: the number of messages, and the days for which a message is remembered. */
const [DEFAULT_MESSAGES, DEFAULT_DAYS] = [100_000, 15]

/** How many messages are remembered, and for how long. */
export interface MemoryLimits {
  /** The most messages that are remembered; the oldest are forgotten first. 100 000 by default. */
  readonly messages?: number
  /**
   * How long a message is remembered, in milliseconds; 15 days by default, because Rollcall repeats a notification for up to 14
   * days.
   */
  readonly age?: number
  readonly now?: () => number
}

/** Remembers messages in this process only. After a restart, a repeated message is handled again. */
export function rememberInMemory({
  messages = DEFAULT_MESSAGES,
  age = DEFAULT_DAYS * DAY_MS,
  now = Date.now,
}: MemoryLimits = {}): ReceivedMessages {
  const running = new Set<string>()
  /** The times at which messages were handled, in order. */
  const handled = new Map<string, number>()
  const nameOf = ({ sender_id, message_id }: MessageKey): string => JSON.stringify([sender_id, message_id])

  const forget = (): void => {
    const oldest = now() - age
    for (const [name, at] of handled) {
      if (handled.size <= messages && at > oldest) break
      handled.delete(name)
    }
  }

  return {
    async claim(key) {
      forget()
      const name = nameOf(key)
      if (handled.has(name)) return 'done'
      if (running.has(name)) return 'busy'
      running.add(name)
      return 'claimed'
    },
    async done(key) {
      running.delete(nameOf(key))
      handled.set(nameOf(key), now())
      forget()
    },
    async release(key) {
      running.delete(nameOf(key))
    },
  }
}
