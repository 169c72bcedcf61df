/** Polls all mailboxes in passes: an announcement may be lost, and what waits may become due without one. */
import type { PolledMailboxes, PolledRange } from '../store/events/mailboxes.ts'

/** A pass: a poll of all mailboxes with waiting notifications, in one or several statements. */
interface MailboxPollingPass {
  /** The pass continues with the mailboxes whose ids are higher than this one. */
  from: number
  /** The milliseconds that this pass has spent on statements which claimed no mailbox. */
  took: number
  /** The time at which the next notification becomes due, in milliseconds of the clock; Infinity: none is known. */
  next: number
  /** True when a mailbox was found in which notifications wait. */
  waits: boolean
}

/** The most milliseconds between two passes while a notification waits. */
const MOST_PASS_WAIT_MS = 1_000
/**
 * The share of this node's time that passes may spend on statements that claim no mailbox. The pause after a pass follows from it
 * (`end`). The share may become larger, because the pause is at most `MOST_PASS_WAIT_MS`, and ends when a notification is due.
 */
const NODE_TIME_SHARE_OF_EMPTY_POLLS = 0.1
/**
 * The most mailboxes that one statement polls. When a pass begins or continues, its first statement polls one mailbox for each
 * free slot, and each further statement twice as many as the last.
 */
const MOST_POLLED_MAILBOXES = 2_000

/**
 * Creates the passes of one node, which follow one another.
 * @param now milliseconds of a clock that only goes forward
 * @param claimAndDrain claims mailboxes, one for each free slot, and starts to drain them
 */
export function createMailboxPollingPasses(
  now: () => number,
  claimAndDrain: (range: PolledRange, signal: AbortSignal) => Promise<PolledMailboxes>,
  freeSlots: () => number,
) {
  let pass: MailboxPollingPass | null = null
  /** The time at which the next pass should begin, in milliseconds of the clock. */
  let at = 0
  /** The time before which no pass begins, so that passes which find nothing take little time. */
  let earliest = 0

  const end = ({ took, next, waits }: MailboxPollingPass): void => {
    pass = null
    // The pause is the shortest of three: what `NODE_TIME_SHARE_OF_EMPTY_POLLS` asks for; `MOST_PASS_WAIT_MS`; the time until the
    // next notification becomes due, which counts as at least `took`.
    earliest = now() + Math.min(took * (1 / NODE_TIME_SHARE_OF_EMPTY_POLLS - 1), MOST_PASS_WAIT_MS, Math.max(next - now(), took))
    at = waits ? Math.min(next, now() + MOST_PASS_WAIT_MS) : Number.POSITIVE_INFINITY
  }

  /** Continues the pass until it has polled all mailboxes, or all slots are in use. */
  const continuePass = async (current: MailboxPollingPass, signal: AbortSignal): Promise<void> => {
    let most = 0
    while (!signal.aborted) {
      // `claimAndDrain` reads the same number of free slots, because nothing is awaited in between. It claims at most that many.
      const wanted = freeSlots()
      if (wanted === 0) return
      most = Math.max(wanted, Math.min(2 * most, MOST_POLLED_MAILBOXES))
      const began = now()
      const found = await claimAndDrain({ from: current.from, most }, signal)
      if (found.claimed.length === 0) current.took += now() - began
      current.waits ||= found.seen > 0
      if (found.wait !== null) current.next = Math.min(current.next, now() + found.wait * 1_000)
      const last = found.claimed.at(-1)
      if (last !== undefined && found.claimed.length === wanted) {
        current.from = last.id
        return
      }
      current.from = found.last
      if (found.seen < most) return end(current)
    }
  }

  return {
    isUnderWay: (): boolean => pass !== null,
    /** Asks for a pass to begin in so many seconds (null: not known), or in `MOST_PASS_WAIT_MS` if that is earlier. */
    wanted(seconds: number | null): void {
      at = Math.min(at, now() + Math.min((seconds ?? Number.POSITIVE_INFINITY) * 1_000, MOST_PASS_WAIT_MS))
    },
    /**
     * Continues the pass that is under way, or begins one when its time has come.
     * @returns the milliseconds until the next pass should begin; null when a pass waits for a free slot, or no pass is wanted
     */
    async goOn(signal: AbortSignal): Promise<number | null> {
      if (pass === null && now() >= Math.max(at, earliest)) {
        pass = { from: 0, took: 0, next: Number.POSITIVE_INFINITY, waits: false }
        at = Number.POSITIVE_INFINITY
      }
      if (pass !== null) await continuePass(pass, signal)
      return pass === null && at < Number.POSITIVE_INFINITY ? Math.max(at, earliest) - now() : null
    },
  }
}
