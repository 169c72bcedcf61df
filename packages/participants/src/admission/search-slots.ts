/** Limits how many searches run at a time on a node, and shares the slots fairly among participants. */
import { RequestFault } from '@rollcall/protocol'

/** The slots in which the searches of a node run. */
export interface SearchSlots {
  /**
   * Runs the work of a participant in one of the slots. Errors of the work are passed on.
   * @param participant `Participant.id`
   * @throws RequestFault 503 err.service.unavailable: no slot became free in time, or too many searches of the participant wait
   */
  run<Result>(participant: number, work: () => Promise<Result>): Promise<Result>
}

interface SearchSlotOptions {
  /** The number of searches that may run at a time. */
  readonly slots: number
  /** Seconds for which a search waits for a slot; null: without limit. */
  readonly timeout: number | null
  /** The number of searches of one participant that may wait, when there is a timeout. */
  readonly waiting?: number
}

/** The `retryAfter` of a refused search, in seconds. */
const RETRY_AFTER_SECONDS = 5

/**
 * Creates the slots. A participant has at most half of them (rounded up). The last free slot is only for a participant that
 * has none. So, with four slots or more, two participants with many searches leave a slot for a third. A free slot goes to
 * the waiting participant with the fewest slots, among those that may get one; participants with equally many take turns.
 * The searches of one participant begin in the order of the calls.
 */
export function createSearchSlots({ slots, timeout, waiting = 1_000 }: SearchSlotOptions): SearchSlots {
  const share = Math.ceil(slots / 2)
  const held = new Map<number, number>()
  const queues = createSearchQueues()
  let free = slots

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
    for (let next = nextInTurn(); next !== undefined; next = nextInTurn()) {
      take(next)
      queues.serve(next)
    }
  }
  const nextInTurn = (): number | undefined => {
    let next: number | undefined
    for (const participant of queues.participants()) {
      if (!mayTake(participant)) continue
      if (next === undefined || heldBy(participant) < heldBy(next)) next = participant
    }
    return next
  }

  const waitForSlot = (participant: number): Promise<void> => {
    if (timeout === null) return queues.wait(participant, null)
    if (queues.length(participant) >= waiting) {
      throw slotRefusal(`more than ${waiting} searches of this participant are waiting; send fewer at a time`)
    }
    const late = (): RequestFault => {
      const own = heldBy(participant) > 0
      return slotRefusal(
        `a search was not begun within ${timeout} seconds: too many slow searches ${own ? 'of this participant ' : ''}are under way; ${own ? 'send fewer at a time' : 'try again later'}`,
      )
    }
    return queues.wait(participant, { seconds: timeout, late })
  }

  return {
    async run(participant, work) {
      if (mayTake(participant)) take(participant)
      else await waitForSlot(participant)
      try {
        return await work()
      } finally {
        leave(participant)
      }
    },
  }
}

/** The searches that wait for a slot, in one queue for each participant. A served queue goes behind all others. */
function createSearchQueues() {
  /** The queues by `Participant.id`. Each entry is a function that begins one search. No queue is empty. */
  const queues = new Map<number, Set<() => void>>()

  const remove = (participant: number, begin: () => void): void => {
    const queue = queues.get(participant)
    queue?.delete(begin)
    if (queue?.size === 0) queues.delete(participant)
  }

  return {
    participants: (): Iterable<number> => queues.keys(),
    length: (participant: number): number => queues.get(participant)?.size ?? 0,
    /** Lets the first search of a participant begin. */
    serve(participant: number): void {
      const [first] = queues.get(participant) ?? []
      if (first === undefined) return
      remove(participant, first)
      const queue = queues.get(participant)
      if (queue !== undefined && queues.delete(participant)) queues.set(participant, queue)
      first()
    },
    /** Waits in the queue of the participant until the search may begin. Rejects with `late()` after the limit. */
    wait(participant: number, limit: { readonly seconds: number; readonly late: () => Error } | null): Promise<void> {
      const queue = queues.get(participant) ?? new Set()
      queues.set(participant, queue)
      return new Promise((resolve, reject) => {
        const end = (): void => {
          remove(participant, begin)
          reject(limit?.late())
        }
        const timer = limit === null ? undefined : setTimeout(end, limit.seconds * 1_000)
        const begin = (): void => {
          clearTimeout(timer)
          resolve()
        }
        queue.add(begin)
      })
    },
  }
}

const slotRefusal = (text: string): RequestFault =>
  new RequestFault('err.service.unavailable', text, undefined, { retryAfter: RETRY_AFTER_SECONDS })
