/**
 * Finds mailboxes with due notifications and drains them, a limited number at a time. There is no queue in memory: the
 * rows of notifications say what is due. The times in memory only say when to poll.
 */
import { randomUUID } from 'node:crypto'
import type { DeliveryClaim } from '@rollcall/core/model/delivery'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Metrics } from '@rollcall/observe/metrics'
import { type ClaimedMailbox, claimMailboxes, type PolledMailboxes, type PolledRange } from '../store/events/mailboxes.ts'
import { drainMailbox, type NotifyDeps } from './drain-mailbox.ts'
import { createMailboxPollingPasses } from './mailbox-passes.ts'

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
/**
 * The least share of the slots that must be free before a pass continues after a mailbox was drained. With several free slots,
 * one statement claims several mailboxes.
 */
const LEAST_FREE_MAILBOX_SLOT_SHARE = 0.25
/** Milliseconds until a mailbox that could not be drained is polled again. The mailbox may rest longer (`letMailboxRest`). */
const FAILURE_PAUSE_MS = 1_000

interface MailboxDrainerOptions {
  /** The most mailboxes that are drained at the same time. */
  readonly slots: number
  /** Asks the caller to poll again in so many milliseconds; without a number, at once. */
  readonly wake: (after?: number) => void
}

type MailboxDrainerDeps = Omit<NotifyDeps, 'mailboxDue'> & { readonly metrics: Pick<Metrics, 'taskEnded'> }

/** Creates the `MailboxDrainer` of this node. */
export function createMailboxDrainer(deps: MailboxDrainerDeps, { slots, wake }: MailboxDrainerOptions): MailboxDrainer {
  const { now } = deps.clock
  const inWork = new Map<number, Promise<void>>()
  /** The ids of mailboxes that were announced as due and have not been polled since. */
  const announced = new Set<number>()
  const freeSlots = (): number => slots - inWork.size

  const due = (mailboxes: readonly number[]): void => {
    for (const id of mailboxes) announced.add(id)
    wake()
  }
  const anyDue = (): void => {
    passes.wanted(0)
    // A pass claims no mailbox that is being drained, so such a mailbox is polled by its id afterwards.
    due([...inWork.keys()])
  }

  const drain = async (mailbox: ClaimedMailbox, claim: DeliveryClaim, signal: AbortSignal): Promise<void> => {
    const { id } = mailbox
    const started = now()
    const ended = (outcome: 'done' | 'failed'): void => deps.metrics.taskEnded('notify', outcome, (now() - started) / 1_000)
    try {
      const notifying = { ...deps, mailboxDue: (one: number) => due([one]) }
      if (await drainMailbox(notifying, mailbox, claim, signal)) announced.add(id)
      ended('done')
    } catch (error) {
      ended('failed')
      deps.log.error(
        { task: 'notify', mailbox: id, ...safeDatabaseError(error) },
        'a mailbox could not be drained; tried again later',
      )
      // `drainMailbox` lets the mailbox rest. But if the database is unavailable, no rest is stored, and the claim ends after
      // `MAILBOX_CLAIM_SECONDS`.
      setTimeout(() => due([id]), FAILURE_PAUSE_MS).unref()
    } finally {
      inWork.delete(id)
      if (!passes.isUnderWay() || freeSlots() >= LEAST_FREE_MAILBOX_SLOT_SHARE * slots) wake()
    }
  }

  /** Claims mailboxes in which notifications are due, one for each free slot, and starts to drain them. */
  const claimAndDrain = async (range: PolledRange, signal: AbortSignal): Promise<PolledMailboxes> => {
    const claim = { id: randomUUID(), seconds: MAILBOX_CLAIM_SECONDS }
    const found = await claimMailboxes(deps.db.pool, { claim, wanted: freeSlots(), inWork: [...inWork.keys()] }, range)
    for (const mailbox of found.claimed) inWork.set(mailbox.id, drain(mailbox, claim, signal))
    return found
  }
  const passes = createMailboxPollingPasses(now, claimAndDrain, freeSlots)

  const pollAnnounced = async (signal: AbortSignal): Promise<void> => {
    // A mailbox that is announced while it is being drained is polled afterwards.
    const ids = [...announced].filter((id) => !inWork.has(id)).slice(0, freeSlots())
    if (ids.length === 0) return
    for (const id of ids) announced.delete(id)
    const { wait } = await claimAndDrain({ ids }, signal)
    // A mailbox that another node has claimed, or that rests, is polled again by the next pass.
    passes.wanted(wait)
  }

  return {
    due,
    anyDue,
    async poll(signal) {
      await pollAnnounced(signal)
      const after = await passes.goOn(signal)
      if (after !== null) wake(after)
    },
    async idle() {
      while (inWork.size > 0) await Promise.all(inWork.values())
    },
  }
}
