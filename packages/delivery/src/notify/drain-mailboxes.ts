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
  type MailboxPoll,
  type PolledMailboxes,
} from '../store/events/mailboxes.ts'
import { drainMailbox, type Notifying } from './drain-mailbox.ts'

export interface Mailboxes {
  /** Announces mailboxes in which something may be due; an empty list means that it may be any of them. */
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
/** Milliseconds until a mailbox that could not be drained is tried again. */
const AFTER_FAILURE = 1_000

interface Options {
  /** Mailboxes that are drained at a time. */
  readonly slots: number
  /** Asks for the next poll after so many milliseconds; without them, now. */
  readonly wake: (after?: number) => void
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

/** Claims mailboxes in one statement. */
type ClaimDue = (pool: Notifying['db']['pool'], poll: MailboxPoll) => Promise<PolledMailboxes>
type BeginDraining = (wanted: number, claim: ClaimDue, signal: AbortSignal) => Promise<PolledMailboxes>

type Deps = Omit<Notifying, 'mailboxDue'> & { readonly metrics: Pick<Metrics, 'taskEnded'> }

export function createMailboxes(deps: Deps, { slots, wake, now = () => performance.now() }: Options): Mailboxes {
  const { pool } = deps.db
  const inWork = new Map<number, Promise<void>>()
  /** Announced mailboxes that were not polled since. */
  const announced = new Set<number>()
  const passes = createPasses(now, () => slots - inWork.size)

  const due = (mailboxes: readonly number[]): void => {
    for (const id of mailboxes) announced.add(id)
    if (mailboxes.length === 0) {
      passes.wanted(now())
      // A pass leaves out the mailboxes in work.
      for (const id of inWork.keys()) announced.add(id)
    }
    wake()
  }

  const drain = async (mailbox: ClaimedMailbox, claim: string, signal: AbortSignal): Promise<void> => {
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
      if (!passes.isUnderWay() || slots - inWork.size >= REFILL * slots) wake()
    }
  }

  /** Claims mailboxes in which something is due, and starts to drain them. */
  const begin = async (wanted: number, claim: ClaimDue, signal: AbortSignal): Promise<PolledMailboxes> => {
    const id = randomUUID()
    const found = await claim(pool, { claim: { id, seconds: CLAIM }, wanted, inWork: [...inWork.keys()] })
    for (const mailbox of found.claimed) inWork.set(mailbox.id, drain(mailbox, id, signal))
    return found
  }

  const pollAnnounced = async (signal: AbortSignal): Promise<void> => {
    // A mailbox that is announced while it is in work is polled again afterwards.
    const ids = [...announced].filter((id) => !inWork.has(id)).slice(0, slots - inWork.size)
    if (ids.length === 0) return
    for (const id of ids) announced.delete(id)
    const found = await begin(ids.length, (db, poll) => claimNamedMailboxes(db, { ...poll, ids }), signal)
    // A mailbox that another node has claimed, or that rests, is polled again.
    passes.wanted(now() + Math.min((found.wait ?? Number.POSITIVE_INFINITY) * 1_000, LONGEST_WAIT))
  }

  return {
    due,
    async poll(signal) {
      await pollAnnounced(signal)
      await passes.goOn(begin, signal)
      const after = passes.next()
      if (after !== null) wake(after)
    },
    async idle() {
      while (inWork.size > 0) await Promise.all(inWork.values())
    },
  }
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

/** The passes of one node, one after another. @param free slots that are free now */
function createPasses(now: () => number, free: () => number) {
  let pass: Pass | null = null
  /** When the next pass is wanted. */
  let at = 0
  /** Before this time no pass begins. */
  let earliest = 0

  const end = ({ took, next, waits }: Pass): void => {
    pass = null
    earliest = now() + Math.min(took * (1 / SHARE - 1), LONGEST_WAIT)
    at = waits ? Math.min(next, now() + LONGEST_WAIT) : Number.POSITIVE_INFINITY
  }

  /** Polls mailboxes until the free slots are taken; what is left is polled next. */
  const goOn = async (current: Pass, begin: BeginDraining, signal: AbortSignal): Promise<void> => {
    let most = 0
    while (!signal.aborted) {
      const wanted = free()
      if (wanted === 0) return
      most = Math.max(wanted, Math.min(2 * most, MOST_POLLED))
      const portion = { from: current.from, most }
      const began = now()
      const found = await begin(wanted, (db, poll) => claimMailboxes(db, { ...poll, ...portion }), signal)
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
    /** A pass is wanted at this time, or earlier. */
    wanted(time: number): void {
      at = Math.min(at, time)
    },
    /** Goes on with the pass that is under way, or with a new one when its time has come. */
    async goOn(begin: BeginDraining, signal: AbortSignal): Promise<void> {
      if (pass === null && now() >= Math.max(at, earliest)) {
        pass = { from: 0, took: 0, next: Number.POSITIVE_INFINITY, waits: false }
        at = Number.POSITIVE_INFINITY
      }
      if (pass !== null) await goOn(pass, begin, signal)
    },
    /** Milliseconds until the next pass; null: one is under way, or none is wanted. */
    next: (): number | null => (pass === null && at < Number.POSITIVE_INFINITY ? Math.max(at, earliest) - now() : null),
  }
}
