/** Shares out the slots of searches, which are few, among the participants of a node. */
import { RequestFault } from '@rollcall/protocol'

export interface SearchSlots {
  /**
   * Does the work of a participant, by its id, in one of the slots. Throws what the work throws.
   * @throws RequestFault 503 err.service.unavailable: no slot became free in time, or too many searches of the
   * participant wait
   */
  run<Result>(participant: number, work: () => Promise<Result>): Promise<Result>
}

interface Options {
  /** Searches at a time. */
  readonly slots: number
  /** Seconds to wait for a slot; null: without limit. */
  readonly timeout: number | null
  /** Searches of one participant that may wait, when there is a timeout. */
  readonly waiting?: number
}

/** Seconds after which a request may be sent again for which there was no slot. */
const RETRY_AFTER = 5

/** Starts what has waited. */
type Waiter = () => void

/**
 * Shares out the slots. A participant has at most half of them, and not the last one if it has another: so a
 * participant without a slot finds one while two others use all they may. The next slot goes to the waiting participant
 * with the fewest slots; equal ones take turns. Searches of one participant are served in order.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the slots and their queues
export function createSearchSlots({ slots, timeout, waiting = 1_000 }: Options): SearchSlots {
  const share = Math.ceil(slots / 2)
  const held = new Map<number, number>()
  /** By participant; the first is next. */
  const queues = new Map<number, Set<Waiter>>()
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
    const [first] = queues.get(participant) ?? []
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

  const turn = (participant: number): Promise<void> => {
    const queue = queues.get(participant) ?? new Set<Waiter>()
    if (timeout !== null && queue.size >= waiting) {
      throw refusal(`more than ${waiting} searches of this participant are waiting; send fewer at a time`)
    }
    queues.set(participant, queue)
    return new Promise((resolve, reject) => {
      const late = (): void => {
        remove(participant, waiter)
        const own = heldBy(participant) > 0
        reject(
          refusal(
            `a search was not begun within ${timeout} seconds: too many slow searches ${own ? 'of this participant ' : ''}are under way; ${own ? 'send fewer at a time' : 'try again later'}`,
          ),
        )
      }
      const timer = timeout === null ? undefined : setTimeout(late, timeout * 1_000)
      const waiter = (): void => {
        clearTimeout(timer)
        resolve()
      }
      queue.add(waiter)
    })
  }

  return {
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

const refusal = (text: string): RequestFault =>
  new RequestFault('err.service.unavailable', text, undefined, { retryAfter: RETRY_AFTER })
