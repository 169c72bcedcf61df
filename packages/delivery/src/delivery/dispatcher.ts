/**
 * Finds the participants that have a delivery due, and drains them. A participant has one turn at a time on this node,
 * and the number of turns is limited. The rows of deliveries say what is due. Memory has only the time of the next check of each
 * participant.
 */

import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Metrics } from '@rollcall/observe/metrics'
import { findWaitingParticipants } from '../store/deliveries/deliveries.ts'
import type { DeliverDeps } from './deliver.ts'
import { drainParticipant } from './drain-participant.ts'

/** Drains participants on one node: their due deliveries are attempted. */
export interface Dispatcher {
  /** Notes that a delivery of this participant is due after `seconds`; 0 means now. */
  due(participant: number, seconds?: number): void
  /** Starts to drain the participants whose deliveries may be due. */
  poll(signal: AbortSignal): Promise<void>
  /** Resolves when this node drains no participant. */
  idle(): Promise<void>
}

/** The most seconds until a participant with pending deliveries is checked again: other nodes change deliveries too. */
const MOST_DELIVERY_RECHECK_SECONDS = 5
/**
 * Seconds from the poll that finds the deliveries of a participant until the participant is drained, if `due` was not called for
 * it. Most of these deliveries are being attempted by the makers of their envelopes, and soon end.
 */
const DRAIN_DELAY_AFTER_POLL_SECONDS = 1
/** Seconds until a participant is drained again after draining it failed. */
const FAILURE_PAUSE_SECONDS = 1

interface DispatcherOptions {
  /** The most participants that are drained at the same time. */
  readonly slots: number
  /** Asks the caller to poll again after this number of milliseconds. */
  readonly wake: (after: number) => void
  /** Returns the milliseconds of a clock that only goes forward. */
  readonly now?: () => number
}

export function createDispatcher(
  deps: Omit<DeliverDeps, 'deliveryDue'> & { readonly metrics: Pick<Metrics, 'taskEnded'> },
  { slots, wake, now = () => performance.now() }: DispatcherOptions,
): Dispatcher {
  /** The time of each participant's next check. A participant that is being drained has one only if `due` is called meanwhile. */
  const dueAt = new Map<number, number>()
  /** The participants for which `due` was called since the last poll began: the poll may not have seen their new deliveries. */
  const noted = new Set<number>()
  const draining = new Map<number, Promise<void>>()
  let last = 0

  const due = (participant: number, seconds = 0): void => {
    const wait = Math.max(0, Math.min(seconds, MOST_DELIVERY_RECHECK_SECONDS)) * 1_000
    const at = now() + wait
    noted.add(participant)
    if (at < (dueAt.get(participant) ?? Number.POSITIVE_INFINITY)) dueAt.set(participant, at)
    wake(wait)
  }

  const run = async (participant: number, signal: AbortSignal): Promise<void> => {
    const started = now()
    const ended = (outcome: 'done' | 'failed'): void => deps.metrics.taskEnded('drain', outcome, (now() - started) / 1_000)
    try {
      const wait = await drainParticipant({ ...deps, deliveryDue: due }, participant, signal)
      ended('done')
      if (wait !== null) due(participant, wait)
    } catch (error) {
      ended('failed')
      deps.log.warn({ task: 'drain', ...safeDatabaseError(error) }, 'deliveries could not be attempted')
      due(participant, FAILURE_PAUSE_SECONDS)
    } finally {
      // Ask for a poll now: another participant may wait for this slot, or this participant may have got new deliveries.
      if (draining.size >= slots || dueAt.has(participant)) wake(0)
      draining.delete(participant)
    }
  }

  return {
    due,
    async poll(signal) {
      noted.clear()
      const waiting = await findWaitingParticipants(deps.db)
      const known = new Set(waiting)
      for (const participant of dueAt.keys()) if (!known.has(participant) && !noted.has(participant)) dueAt.delete(participant)
      // Participants take turns for the slots. Otherwise the first participants would always get all slots.
      const behind = waiting.findIndex((participant) => participant > last)
      const inTurns = behind === -1 ? waiting : [...waiting.slice(behind), ...waiting.slice(0, behind)]
      for (const participant of inTurns) {
        if (draining.size >= slots || signal.aborted) return
        const at = dueAt.get(participant) ?? now() + DRAIN_DELAY_AFTER_POLL_SECONDS * 1_000
        if (!draining.has(participant)) dueAt.set(participant, at)
        if (draining.has(participant) || at > now()) continue
        dueAt.delete(participant)
        last = participant
        draining.set(participant, run(participant, signal))
      }
      for (const [participant, at] of dueAt) if (!draining.has(participant)) wake(at - now())
    },
    async idle() {
      while (draining.size > 0) await Promise.all(draining.values())
    },
  }
}
