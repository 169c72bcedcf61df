/**
 * Finds mailboxes with due notifications and drains them, a limited number at a time. There is no queue: the rows of
 * notifications say what is due. The remembered times only say when to look.
 */
import { randomUUID } from 'node:crypto'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Metrics } from '@rollcall/observe/metrics'
import {
  type ClaimedMailbox,
  claimMailboxes,
  claimNamedMailboxes,
  type PolledMailboxes,
} from '../store/events/mailboxes.ts'
import { drainMailbox, type Notifying } from './drain-mailbox.ts'

export interface Mailboxes {
  /** Something may be due in these; in any of them where none is named. */
  due(mailboxes: readonly number[]): void
  /** Starts to drain mailboxes in which something is due. */
  poll(signal: AbortSignal): Promise<void>
  /** Resolves when none is being drained. */
  idle(): Promise<void>
}

/** Seconds for which nobody else takes a mailbox whose next envelope is being made. */
const CLAIM = 15
/** Milliseconds from one poll at all mailboxes to the next while something waits in them: others change them too. */
const LONGEST_WAIT = 1_000
/** Largest share of the time for polls of all mailboxes that find nothing, within the longest wait. */
const SHARE = 0.1
/** Mailboxes in one statement: as many as may be claimed, then more where few of them were due. */
const MOST_POLLED = 2_000
/** Share of the slots that must be free before further mailboxes are claimed: they are then claimed together. */
const REFILL = 0.25
/** Milliseconds after a mailbox that could not be drained. */
const AFTER_FAILURE = 1_000

interface Options {
  /** Mailboxes that are drained at a time. */
  readonly slots: number
  /** Asks for the next poll after so many milliseconds; without them, now. */
  readonly wake: (after?: number) => void
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

/** A poll of all mailboxes, portion by portion. */
interface Pass {
  /** The last mailbox that was polled. */
  from: number
  /** Milliseconds in which it found nothing. */
  took: number
  /** When the first of those that wait for their time is due, by the clock. */
  next: number
  /** Something waits in a mailbox. */
  waits: boolean
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the mailboxes in work
export function createMailboxes(
  deps: Omit<Notifying, 'mailboxDue'> & { readonly metrics: Pick<Metrics, 'taskEnded'> },
  { slots, wake, now = () => performance.now() }: Options,
): Mailboxes {
  const { pool } = deps.db
  const inWork = new Map<number, Promise<void>>()
  /** Announced, and not polled since. */
  const announced = new Set<number>()
  let pass: Pass | null = null
  /** When all mailboxes are polled next. */
  let passAt = 0
  let earliestPass = 0

  const due = (mailboxes: readonly number[]): void => {
    for (const id of mailboxes) announced.add(id)
    if (mailboxes.length === 0) {
      passAt = Math.min(passAt, now())
      // The pass leaves out what is in work.
      for (const id of inWork.keys()) announced.add(id)
    }
    wake()
  }

  const run = async (mailbox: ClaimedMailbox, claim: string, signal: AbortSignal): Promise<void> => {
    const { id } = mailbox
    const started = now()
    const ended = (outcome: 'done' | 'failed'): void =>
      deps.metrics.taskEnded('notify', outcome, (now() - started) / 1_000)
    try {
      const notifying = { ...deps, mailboxDue: (one: number) => due([one]) }
      const more = await drainMailbox(notifying, mailbox, { id: claim, seconds: CLAIM }, signal)
      if (more) announced.add(id)
      ended('done')
    } catch (error) {
      ended('failed')
      deps.log.error(
        { task: 'notify', mailbox: id, ...safeDatabaseError(error) },
        'a mailbox could not be drained; tried again later',
      )
      // Its claim ends by itself where it could not be given back.
      setTimeout(() => due([id]), AFTER_FAILURE).unref()
    } finally {
      inWork.delete(id)
      if (pass === null || slots - inWork.size >= REFILL * slots) wake()
    }
  }

  const begin = ({ claimed }: PolledMailboxes, claim: string, signal: AbortSignal): void => {
    for (const mailbox of claimed) inWork.set(mailbox.id, run(mailbox, claim, signal))
  }

  const pollAnnounced = async (signal: AbortSignal): Promise<void> => {
    // A mailbox that is announced while it is in work is polled again afterwards.
    const ids = [...announced].filter((id) => !inWork.has(id)).slice(0, slots - inWork.size)
    if (ids.length === 0) return
    for (const id of ids) announced.delete(id)
    const claim = randomUUID()
    const poll = { claim: { id: claim, seconds: CLAIM }, wanted: ids.length, inWork: [...inWork.keys()] }
    const found = await claimNamedMailboxes(pool, { ...poll, ids })
    begin(found, claim, signal)
    // One that is claimed or rests is polled again.
    passAt = Math.min(passAt, now() + Math.min((found.wait ?? Number.POSITIVE_INFINITY) * 1_000, LONGEST_WAIT))
  }

  /** Polls all mailboxes until the free slots are taken; what is left is polled next. */
  const goOn = async (current: Pass, signal: AbortSignal): Promise<void> => {
    let most = 0
    while (!signal.aborted) {
      const wanted = slots - inWork.size
      if (wanted === 0) return
      most = Math.max(wanted, Math.min(2 * most, MOST_POLLED))
      const claim = randomUUID()
      const began = now()
      const found = await claimMailboxes(pool, {
        claim: { id: claim, seconds: CLAIM },
        wanted,
        inWork: [...inWork.keys()],
        from: current.from,
        most,
      })
      if (found.claimed.length === 0) current.took += now() - began
      current.waits ||= found.seen > 0
      begin(found, claim, signal)
      if (found.wait !== null) current.next = Math.min(current.next, now() + found.wait * 1_000)
      const last = found.claimed.at(-1)
      if (last !== undefined && found.claimed.length === wanted) {
        current.from = last.id
        return
      }
      current.from = found.last
      if (found.seen < most) return over(current)
    }
  }

  const over = ({ took, next, waits }: Pass): void => {
    pass = null
    earliestPass = now() + Math.min(took * (1 / SHARE - 1), LONGEST_WAIT)
    passAt = waits ? Math.min(next, now() + LONGEST_WAIT) : Number.POSITIVE_INFINITY
  }

  return {
    due,
    async poll(signal) {
      await pollAnnounced(signal)
      if (pass === null && now() >= Math.max(passAt, earliestPass)) {
        pass = { from: 0, took: 0, next: Number.POSITIVE_INFINITY, waits: false }
        passAt = Number.POSITIVE_INFINITY
      }
      if (pass !== null) await goOn(pass, signal)
      if (pass === null && passAt < Number.POSITIVE_INFINITY) wake(Math.max(passAt, earliestPass) - now())
    },
    async idle() {
      while (inWork.size > 0) await Promise.all(inWork.values())
    },
  }
}
