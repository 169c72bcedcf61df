/**
 * Determines at which destination each poll begins, because a poll reads only a limited number of them. A poll begins after the
 * last destination that got a permit, so that each destination has a turn before any has a second one.
 */
import type { WaitingDestination } from '../store/deliveries/destinations.ts'

export interface DestinationPollTracker {
  /** The place in the order of origins from which the next poll reads destinations. */
  readonly from: () => string
  /**
   * Notes the result of a poll.
   * @param served the last destination that got a permit
   * @returns `on`: a destination got a permit, or not all destinations were polled since the last permit, `idle` or `busy`. The
   * caller polls on. `idle` and `busy`: all destinations were polled, and none got a permit. `idle`: nothing was due; the caller
   * pauses or ends. `busy`: something was due; the caller waits for a permit
   */
  readonly looked: (
    seen: readonly WaitingDestination[],
    due: readonly WaitingDestination[],
    served: WaitingDestination | undefined,
  ) => 'on' | 'idle' | 'busy'
}

/**
 * Creates the tracker for the polls in one turn of a participant.
 * @param limit the most destinations in one poll; a poll that finds fewer has read all destinations of the participant
 */
export function createDestinationPollTracker(limit: number): DestinationPollTracker {
  let start = ''
  let from = ''
  let previous = ''
  let wrapped = false
  let quiet = true
  const begin = (): void => {
    from = start
    previous = ''
    wrapped = false
    quiet = true
  }
  return {
    from: () => from,
    looked(seen, due, served) {
      const isAll = seen.length < limit
      if (served !== undefined) {
        // If no destination comes after the served one, the next poll begins with the first of all destinations.
        start = isAll && seen.every(({ origin }) => origin <= served.origin) ? '' : pollStartAfterOriginText(served)
        begin()
        return 'on'
      }
      quiet &&= due.length === 0
      let isOver = isAll
      for (const { origin } of seen) {
        const again = origin <= previous
        isOver ||= wrapped && again
        wrapped ||= again || origin < start
        isOver ||= wrapped && origin >= start
        previous = origin
      }
      if (!isOver) {
        from = `${previous} `
        return 'on'
      }
      const over = quiet ? 'idle' : 'busy'
      begin()
      return over
    },
  }
}

/** A text that sorts just after an origin: a poll continues there. No origin has a space, so no origin equals this text. */
const pollStartAfterOriginText = ({ origin }: WaitingDestination): string => `${origin} `
