/**
 * Going round destinations, some at a poll: always behind the last one that was given a permit, so that each has its turn
 * before any has a second one, for any number of them, and also if some have no permit at the moment.
 */
import type { WaitingDestination } from '../store/deliveries/destinations.ts'

export interface Round {
  /** The origin at which the next poll begins. */
  readonly from: () => string
  /**
   * Notes the result of a poll: the destinations with due deliveries, and the last one that got a permit.
   * @returns `on`: poll again. Otherwise all destinations were polled since one got a permit: `idle`: nothing was due;
   * `busy`: there was no permit for due deliveries
   */
  readonly looked: (
    seen: readonly WaitingDestination[],
    due: readonly WaitingDestination[],
    served: WaitingDestination | undefined,
  ) => 'on' | 'idle' | 'busy'
}

/**
 * @param limit destinations in one poll, which goes on with the first one behind the last; fewer: these are all, in their
 * order from `from` on
 */
export function createRound(limit: number): Round {
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
        // Nothing is behind the greatest.
        start = isAll && seen.every(({ origin }) => origin <= served.origin) ? '' : behind(served)
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

/** A key just after a destination, from which a poll goes on: no origin has a space. */
const behind = ({ origin }: WaitingDestination): string => `${origin} `
