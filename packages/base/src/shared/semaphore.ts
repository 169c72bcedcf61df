/**
 * A semaphore for each key: work beyond the limit waits in the order of its arrival. One piece of work may count as several (its
 * weight).
 */

export interface Semaphore {
  /** Asks for a slot of the key, with a weight (default: 1). A weight above the limit gets a slot when the key has no other. */
  take(key: string, weight?: number): Slot
}

export interface Slot {
  /** Resolves when the slot is given, or when `end` was called before that. */
  readonly begun: Promise<void>
  /** Gives the slot back, or stops waiting for it. May be called more than once. */
  end(): void
}

interface WaitingSlot {
  readonly weight: number
  readonly begin: () => void
}

interface SlotsOfKey {
  taken: number
  readonly waiting: Set<WaitingSlot>
}

/** Makes a semaphore. @param most the limit: the largest total weight of the slots that one key has at the same time */
export function createSemaphore(most: number): Semaphore {
  const keys = new Map<string, SlotsOfKey>()
  const admit = (name: string, key: SlotsOfKey): void => {
    for (const next of key.waiting) {
      if (key.taken > 0 && key.taken + next.weight > most) return
      key.waiting.delete(next)
      key.taken += next.weight
      next.begin()
    }
    if (key.taken === 0) keys.delete(name)
  }
  return {
    take(name, weight = 1) {
      const key = keys.get(name) ?? { taken: 0, waiting: new Set() }
      keys.set(name, key)
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      const own: WaitingSlot = { weight, begin }
      key.waiting.add(own)
      admit(name, key)
      let ended = false
      const end = (): void => {
        if (ended) return
        ended = true
        if (key.waiting.delete(own)) begin()
        else key.taken -= weight
        admit(name, key)
      }
      return { begun, end }
    },
  }
}

/** Runs work in a slot of the key. Throws what the work throws. */
export async function runInSlot<Result>(semaphore: Semaphore, key: string, work: () => Promise<Result>): Promise<Result> {
  const slot = semaphore.take(key)
  await slot.begun
  return work().finally(slot.end)
}
