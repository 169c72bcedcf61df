/** Who searches when: the few connections of searches, shared out among the participants of a node. */
import { ItemRejection } from '@rollcall/protocol'

export interface SearchPlaces {
  /**
   * Does the work of a participant, known by its id, in one of the places; waits until there is one. Throws what the
   * work throws.
   * @throws ItemRejection rjct.search_criteria.invalid when no place comes free in time, or too many wait already
   * @throws NoPlace where work is put off
   */
  run<Result>(participant: number, work: () => Promise<Result>): Promise<Result>
  /** Whether `run` would put its work off at once. */
  isFull(participant: number): boolean
}

/** Enough work of this participant waits for slow searches: what can be done later had better not wait as well. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace'
}

interface Parts {
  /** Searches at a time. */
  readonly places: number
  /** Seconds to wait for a place. */
  readonly patience: number
  /** Searches of one participant that may wait: those of all its requests, under the default limits. */
  readonly waiting?: number
  /**
   * For work that nobody waits for, and that holds something while it waits: what has waited for so many seconds behind
   * so many others of its participant is put off, and so is what comes then.
   */
  readonly putOff?: { readonly after: number; readonly behind: number }
}

/** Starts what has waited. */
type Waiter = () => void

/**
 * A participant holds half of the places at most, and never the last one beside another of its own: whoever holds none
 * finds one while two others search as much as they may. Of those who wait, the one who holds the fewest is next; those
 * who hold as few take turns. What one participant has waiting is served in its order.
 */
export function createSearchPlaces({ places, patience, waiting = 1_000, putOff }: Parts): SearchPlaces {
  const share = Math.ceil(places / 2)
  const held = new Map<number, number>()
  /** With the time since when each waits; the first is next. */
  const queues = new Map<number, Map<Waiter, number>>()
  let free = places

  const heldBy = (participant: number): number => held.get(participant) ?? 0
  const mayTake = (participant: number): boolean => {
    const mine = heldBy(participant)
    return mine < share && free > (mine === 0 ? 0 : 1)
  }
  const take = (participant: number): void => {
    free -= 1
    held.set(participant, heldBy(participant) + 1)
  }
  const leave = (participant: number): void => {
    free += 1
    const rest = heldBy(participant) - 1
    if (rest > 0) held.set(participant, rest)
    else held.delete(participant)
    for (let next = nextInTurn(); next !== undefined; next = nextInTurn()) serve(next)
  }

  const nextInTurn = (): number | undefined => {
    let next: number | undefined
    for (const participant of queues.keys()) {
      if (!mayTake(participant)) continue
      if (next === undefined || heldBy(participant) < heldBy(next)) next = participant
    }
    return next
  }
  const serve = (participant: number): void => {
    const [first] = queues.get(participant)?.keys() ?? []
    if (first === undefined) return
    remove(participant, first)
    // Behind all others, for the next turn.
    const queue = queues.get(participant)
    if (queue !== undefined && queues.delete(participant)) queues.set(participant, queue)
    take(participant)
    first()
  }
  const remove = (participant: number, waiter: Waiter): void => {
    const queue = queues.get(participant)
    queue?.delete(waiter)
    if (queue?.size === 0) queues.delete(participant)
  }

  const isFull = (participant: number): boolean => {
    const queue = queues.get(participant)
    if (putOff === undefined || queue === undefined || queue.size < putOff.behind) return false
    const [since = 0] = queue.values()
    return performance.now() - since >= putOff.after * 1_000
  }
  const turn = (participant: number): Promise<void> => {
    const queue = queues.get(participant) ?? new Map<Waiter, number>()
    if (isFull(participant)) throw new NoPlace()
    if (queue.size >= waiting) {
      throw refusal(`more than ${waiting} searches of this participant are waiting; send fewer at a time`)
    }
    queues.set(participant, queue)
    return new Promise((resolve, reject) => {
      const waiter = (): void => {
        clearTimeout(timer)
        clearTimeout(look)
        resolve()
      }
      const look =
        putOff &&
        setTimeout(() => {
          if ([...queue.keys()].indexOf(waiter) < putOff.behind) return
          clearTimeout(timer)
          remove(participant, waiter)
          reject(new NoPlace())
        }, putOff.after * 1_000)
      const timer = setTimeout(() => {
        remove(participant, waiter)
        const whose = heldBy(participant) > 0 ? 'of this participant ' : ''
        const help = whose === '' ? 'try again later' : 'send fewer at a time'
        reject(
          refusal(
            `not begun within ${patience} seconds: too many slow searches ${whose}are under way; ${help}`,
          ),
        )
      }, patience * 1_000)
      queue.set(waiter, performance.now())
    })
  }

  return {
    isFull,
    async run(participant, work) {
      if (mayTake(participant)) take(participant)
      else await turn(participant)
      try {
        return await work()
      } finally {
        leave(participant)
      }
    },
  }
}

const refusal = (text: string): ItemRejection =>
  new ItemRejection('rjct.search_criteria.invalid', `search_criteria.query: ${text}`)
