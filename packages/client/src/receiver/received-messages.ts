/** Which messages were handled before: a peer sends one until it hears that it has arrived (N16). */

export interface MessageKey {
  readonly sender_id: string
  readonly message_id: string
}

/**
 * `claimed`: it is new, or was released, and is ours to handle. `done`: it was handled. `busy`: somebody is
 * handling it now.
 */
export type Claim = 'claimed' | 'done' | 'busy'

/** Remembers messages. Every claimed one is told to be done or is released. */
export interface ReceivedMessages {
  claim(key: MessageKey): Promise<Claim>
  done(key: MessageKey): Promise<void>
  /** It was not handled: the next that comes is new. */
  release(key: MessageKey): Promise<void>
}

const DAY = 24 * 3_600_000

export interface MemoryLimits {
  /** Messages remembered; the oldest are forgotten first. 100 000 by default. */
  readonly messages?: number
  /** Milliseconds for which one is remembered. Five days by default: longer than any peer of ours keeps trying. */
  readonly age?: number
  readonly now?: () => number
}

/** Remembers in this process: what was handled before a restart is handled again when it comes again. */
export function rememberInMemory({
  messages = 100_000,
  age = 5 * DAY,
  now = Date.now,
}: MemoryLimits = {}): ReceivedMessages {
  /** When it was handled, or null while it is; in the order of arrival. */
  const known = new Map<string, number | null>()
  const nameOf = ({ sender_id, message_id }: MessageKey): string => JSON.stringify([sender_id, message_id])

  const forget = (): void => {
    const oldest = now() - age
    for (const [name, at] of known) {
      if (at === null) continue
      if (known.size <= messages && at > oldest) break
      known.delete(name)
    }
  }

  return {
    async claim(key) {
      const name = nameOf(key)
      const at = known.get(name)
      if (at === null) return 'busy'
      if (at !== undefined && at > now() - age) return 'done'
      known.set(name, null)
      forget()
      return 'claimed'
    },
    async done(key) {
      // To the end of the order, which is that of the times.
      known.delete(nameOf(key))
      known.set(nameOf(key), now())
    },
    async release(key) {
      known.delete(nameOf(key))
    },
  }
}
