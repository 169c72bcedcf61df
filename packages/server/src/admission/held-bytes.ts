/** Bytes that are held in memory on this node, shared out among the participants: half of them for one at most. */

export interface HeldBytes {
  /** Bytes that one participant may hold. */
  readonly share: number
  /** What the participant, known by its id, holds from now on for one piece of work. */
  begin(participant: number): Holding
}

export interface Holding {
  /**
   * So many bytes more are held until `release`. A single holding may have any size: a participant's only holding as
   * far as its share goes, the only one of all as far as all do. Otherwise nothing is held, and whose bytes are too
   * many is the answer.
   */
  add(bytes: number): 'held' | 'participant' | 'total'
  /** More than once does no harm. */
  release(): void
}

/** @param most bytes at a time, of all participants */
export function createHeldBytes(most: number): HeldBytes {
  const share = Math.floor(most / 2)
  const heldBy = new Map<number, number>()
  let total = 0
  return {
    share,
    begin(participant) {
      let own = 0
      return {
        add(bytes) {
          const others = (heldBy.get(participant) ?? 0) - own
          if (others > 0 && others + own + bytes > share) return 'participant'
          if (total > own && total + bytes > most) return 'total'
          own += bytes
          total += bytes
          heldBy.set(participant, others + own)
          return 'held'
        },
        release() {
          total -= own
          const rest = (heldBy.get(participant) ?? 0) - own
          if (rest > 0) heldBy.set(participant, rest)
          else heldBy.delete(participant)
          own = 0
        },
      }
    },
  }
}
