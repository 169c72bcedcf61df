/**
 * Finds mailboxes with due notifications and drains them, a limited number at a time. There is no queue in memory: the
 * rows of notifications say what is due. The times in memory only say when to poll.
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
import { drainMailbox, type NotifyDeps } from './drain-mailbox.ts'

/** Drains mailboxes on one node: their due notifications are sent in envelopes. */
export interface MailboxDrainer {
  /** Announces mailboxes that may have something due. */
  due(mailboxes: readonly number[]): void
  /** Announces that any mailbox may have something due. */
  anyDue(): void
  /** Starts to drain mailboxes in which notifications are due. */
  poll(signal: AbortSignal): Promise<void>
  /** Resolves when this node drains no mailbox. */
  idle(): Promise<void>
}

/** Seconds for which a node claims a mailbox. The claim ends earlier when the node commits an envelope of the mailbox. */
const MAILBOX_CLAIM_SECONDS = 15
/** The most milliseconds between two passes (`MailboxPass`) while a notification waits: other nodes change mailboxes too. */
const MOST_PASS_WAIT_MS = 1_000
/** When a mailbox is drained, a pass in progress continues only if this share of the slots is free. It then claims several. */
const LEAST_FREE_SLOT_SHARE = 0.25
/** Milliseconds until a mailbox that could not be drained is polled again. The mailbox may rest longer (`letMailboxRest`). */
const FAILURE_PAUSE_MS = 1_000

interface MailboxDrainerOptions {
  /** The most mailboxes that are drained at the same time. */
  readonly slots: number
  /** Asks the caller to poll again in so many milliseconds; without a number, at once. */
  readonly wake: (after?: number) => void
  /** Returns the milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

/** Claims mailboxes with due notifications in one statement. */
type ClaimDueMailboxes = (pool: NotifyDeps['db']['pool'], poll: MailboxPoll) => Promise<PolledMailboxes>
/** Claims at most `wanted` mailboxes with `claimDue`, and starts to drain them. */
type ClaimAndDrain = (wanted: number, claimDue: ClaimDueMailboxes, signal: AbortSignal) => Promise<PolledMailboxes>

type MailboxDrainerDeps = Omit<NotifyDeps, 'mailboxDue'> & { readonly metrics: Pick<Metrics, 'taskEnded'> }

/** Creates the `MailboxDrainer` of this node. */
export function createMailboxDrainer(
  deps: MailboxDrainerDeps,
  { slots, wake, now = () => performance.now() }: MailboxDrainerOptions,
): MailboxDrainer {
  const { pool } = deps.db
  const inWork = new Map<number, Promise<void>>()
  /** The ids of mailboxes that were announced as due and have not been polled since. */
  const announced = new Set<number>()
  const passes = createMailboxPasses(now, () => slots - inWork.size)

  const due = (mailboxes: readonly number[]): void => {
    for (const id of mailboxes) announced.add(id)
    wake()
  }
  const anyDue = (): void => {
    passes.wanted(now())
    // A pass claims no mailbox that is being drained, so such a mailbox is polled by its id afterwards.
    due([...inWork.keys()])
  }

  const drain = async (mailbox: ClaimedMailbox, claim: string, signal: AbortSignal): Promise<void> => {
    const { id } = mailbox
    const started = now()
    const ended = (outcome: 'done' | 'failed'): void => deps.metrics.taskEnded('notify', outcome, (now() - started) / 1_000)
    try {
      const notifying = { ...deps, mailboxDue: (one: number) => due([one]) }
      const more = await drainMailbox(notifying, mailbox, { id: claim, seconds: MAILBOX_CLAIM_SECONDS }, signal)
      if (more) announced.add(id)
      ended('done')
    } catch (error) {
      ended('failed')
      deps.log.error(
        { task: 'notify', mailbox: id, ...safeDatabaseError(error) },
        'a mailbox could not be drained; tried again later',
      )
      // After a failure `drainMailbox` lets the mailbox rest, unless the database is unavailable. Then the claim ends by itself.
      setTimeout(() => due([id]), FAILURE_PAUSE_MS).unref()
    } finally {
      inWork.delete(id)
      if (!passes.isUnderWay() || slots - inWork.size >= LEAST_FREE_SLOT_SHARE * slots) wake()
    }
  }

  /** Claims mailboxes in which notifications are due, and starts to drain them. */
  const claimAndDrain = async (wanted: number, claimDue: ClaimDueMailboxes, signal: AbortSignal): Promise<PolledMailboxes> => {
    const id = randomUUID()
    const found = await claimDue(pool, { claim: { id, seconds: MAILBOX_CLAIM_SECONDS }, wanted, inWork: [...inWork.keys()] })
    for (const mailbox of found.claimed) inWork.set(mailbox.id, drain(mailbox, id, signal))
    return found
  }

  const pollAnnounced = async (signal: AbortSignal): Promise<void> => {
    // A mailbox that is announced while it is being drained is polled afterwards.
    const ids = [...announced].filter((id) => !inWork.has(id)).slice(0, slots - inWork.size)
    if (ids.length === 0) return
    for (const id of ids) announced.delete(id)
    const found = await claimAndDrain(ids.length, (db, poll) => claimNamedMailboxes(db, { ...poll, ids }), signal)
    // A mailbox that another node has claimed, or that rests, is polled again by the next pass.
    passes.wanted(now() + Math.min((found.wait ?? Number.POSITIVE_INFINITY) * 1_000, MOST_PASS_WAIT_MS))
  }

  return {
    due,
    anyDue,
    async poll(signal) {
      await pollAnnounced(signal)
      await passes.goOn(claimAndDrain, signal)
      const after = passes.next()
      if (after !== null) wake(after)
    },
    async idle() {
      while (inWork.size > 0) await Promise.all(inWork.values())
    },
  }
}

/** A pass: a poll of all mailboxes with waiting notifications, in one or several statements. */
interface MailboxPass {
  /** The pass continues with the mailboxes whose ids are higher than this one. */
  from: number
  /** The milliseconds that this pass has spent on statements which claimed no mailbox. */
  took: number
  /** The time at which the next notification becomes due, in milliseconds of the clock; Infinity: none is known. */
  next: number
  /** True when a mailbox was found in which notifications wait. */
  waits: boolean
}

/**
 * The share of this node's time that passes may spend on statements that claim no mailbox. The pause after a pass is long enough
 * for that, but at most `MOST_PASS_WAIT_MS`, and shorter when a notification becomes due: the share may then be larger.
 */
const EMPTY_PASS_TIME_SHARE = 0.1
/**
 * The most mailboxes that one statement polls. When a pass begins or continues, its first statement polls one mailbox for each
 * free slot, and each further statement twice as many as the last.
 */
const MOST_POLLED_MAILBOXES = 2_000

/** Creates the passes of one node, which follow one another. @param free returns the number of free slots */
function createMailboxPasses(now: () => number, free: () => number) {
  let pass: MailboxPass | null = null
  /** The time at which the next pass should begin, in milliseconds of the clock. */
  let at = 0
  /** The time before which no pass begins, so that passes which find nothing take little time. */
  let earliest = 0

  const end = ({ took, next, waits }: MailboxPass): void => {
    pass = null
    // The pause is the shortest of three: what `EMPTY_PASS_TIME_SHARE` asks for; `MOST_PASS_WAIT_MS`; the time until the next
    // notification becomes due, which counts as at least `took`.
    earliest = now() + Math.min(took * (1 / EMPTY_PASS_TIME_SHARE - 1), MOST_PASS_WAIT_MS, Math.max(next - now(), took))
    at = waits ? Math.min(next, now() + MOST_PASS_WAIT_MS) : Number.POSITIVE_INFINITY
  }

  /** Continues the pass until it has polled all mailboxes, or all slots are in use. */
  const continuePass = async (current: MailboxPass, claimAndDrain: ClaimAndDrain, signal: AbortSignal): Promise<void> => {
    let most = 0
    while (!signal.aborted) {
      const wanted = free()
      if (wanted === 0) return
      most = Math.max(wanted, Math.min(2 * most, MOST_POLLED_MAILBOXES))
      const portion = { from: current.from, most }
      const began = now()
      const found = await claimAndDrain(wanted, (db, poll) => claimMailboxes(db, { ...poll, ...portion }), signal)
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
    /** Asks for a pass to begin at this time or earlier. */
    wanted(time: number): void {
      at = Math.min(at, time)
    },
    /** Continues the pass that is under way, or begins one when its time has come. */
    async goOn(claimAndDrain: ClaimAndDrain, signal: AbortSignal): Promise<void> {
      if (pass === null && now() >= Math.max(at, earliest)) {
        pass = { from: 0, took: 0, next: Number.POSITIVE_INFINITY, waits: false }
        at = Number.POSITIVE_INFINITY
      }
      if (pass !== null) await continuePass(pass, claimAndDrain, signal)
    },
    /** The milliseconds until the next pass should begin; null when one is under way, or none is wanted. */
    next: (): number | null => (pass === null && at < Number.POSITIVE_INFINITY ? Math.max(at, earliest) - now() : null),
  }
}
