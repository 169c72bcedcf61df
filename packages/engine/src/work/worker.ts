/** A worker answers accepted exchanges, sends deliveries and notifications, and publishes the event outbox. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLoopWake, type LoopWake } from '@rollcall/base/shared/wake'
import type { Limits } from '@rollcall/core/limits'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import { openMinConnections } from '@rollcall/database/pools'
import { listenForWork } from '@rollcall/database/queue'
import type { Dispatcher } from '@rollcall/delivery/delivery/dispatcher'
import type { MailboxDrainer } from '@rollcall/delivery/notify/drain-mailboxes'
import type { AcceptanceSlots } from '../exchange/acceptance-slots.ts'
import { createExchangeWork, type ExchangeWorkDeps } from './exchanges.ts'
import { pollQueues } from './poll-queues.ts'

/** A worker that was started. */
export interface RunningWorker {
  /** False after `stop`, and when the last poll of one of its loops has failed. */
  working(): boolean
  /** Takes no more work, waits up to `stop_time` for work in progress, and leaves unfinished work to other nodes. */
  stop(): Promise<void>
}

/** The dependencies of a worker. */
export type WorkerDeps = Pick<ExchangeWorkDeps, 'clock' | 'log' | 'metrics' | 'answer'> & {
  readonly db: Database
  readonly limits: Pick<Limits, 'worker_concurrency' | 'node_lease' | 'stop_time'>
  readonly dispatcher: Dispatcher
  readonly mailboxes: MailboxDrainer
  /** Woken when an accepted exchange may be due. */
  readonly exchangesWake: LoopWake
  readonly acceptanceSlots: Pick<AcceptanceSlots, 'open'>
  /** Woken when a delivery may be due. */
  readonly deliveriesWake: LoopWake
  /** Woken when a notification may be due. */
  readonly mailboxesWake: LoopWake
  /** Publishes the events that wait in the event outbox, until the signal is aborted. */
  readonly publishOutbox: (signal: AbortSignal) => Promise<void>
  /** Woken when rows may wait in the event outbox. */
  readonly outboxWake: LoopWake
  /** Woken when the source file of a registry was set or changed. */
  readonly sourcesWake: Pick<LoopWake, 'raise'>
}

/** The most accepted requests above 262,144 bytes that are answered at a time; one of each participant at most. */
const MOST_LARGE_REQUESTS = 2

/** Milliseconds to wait for the end of the connection that listens for announcements. */
const LISTENER_CLOSING_WAIT_MS = 2_000

/** Starts a worker; resolves when it takes work. @throws errors of connecting to the database */
export async function startWorker(deps: WorkerDeps): Promise<RunningWorker> {
  const { clock, db, limits, log, dispatcher, mailboxes } = deps
  const { exchangesWake, deliveriesWake, mailboxesWake, outboxWake } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const exchanges = createExchangeWork({
    ...deps,
    pool: db.claims,
    slots: limits.worker_concurrency,
    large: MOST_LARGE_REQUESTS,
    batches: db.asyncSearches.options.max,
    lease: limits.node_lease,
    wake: exchangesWake.raise,
  })
  // The node opens these connections at the start. If new requests could take all connections that the database allows, accepted
  // requests would not be answered.
  await openMinConnections(db.claims)
  await openMinConnections(db.asyncSearches)
  deps.acceptanceSlots.open((exchange) => exchanges.keepSlot(exchange, signal))
  const pollWake = createLoopWake()
  const listening = listenForWork(db.connection, {
    signal,
    onExchanges: exchangesWake.raise,
    onDeliveries: (participant) => dispatcher.due(participant),
    onMailboxes: mailboxes.due,
    onAnyMailbox: mailboxes.anyDue,
    onOutbox: outboxWake.raise,
    onSources: deps.sourcesWake.raise,
  })
  const loops = [
    startLoop(() => exchanges.poll(signal), { wake: exchangesWake, clock, log, signal }),
    startLoop(() => dispatcher.poll(signal), { wake: deliveriesWake, clock, log, signal }),
    startLoop(() => mailboxes.poll(signal), { wake: mailboxesWake, clock, log, signal }),
    startLoop(() => deps.publishOutbox(signal), { wake: outboxWake, clock, log, signal }),
    startLoop(() => pollQueues({ ...deps, wake: pollWake }), { wake: pollWake, clock, log, signal }),
  ]
  return {
    working: () => loops.every((loop) => loop.working()),
    async stop() {
      stopping.abort()
      const idle = [exchanges.idle(), dispatcher.idle(), mailboxes.idle()]
      const ended = Promise.all([...loops.map((loop) => loop.ended), ...idle])
      await Promise.race([ended, sleep(limits.stop_time * 1_000, undefined, { ref: false })])
      await exchanges.leave().catch(() => undefined)
      await Promise.race([listening, sleep(LISTENER_CLOSING_WAIT_MS, undefined, { ref: false })])
    },
  }
}

/** The fewest milliseconds from the start of a poll to the next. Under load one poll finds the work of several announcements. */
const LEAST_POLL_GAP_MS = 5
/** Milliseconds to wait after a failed poll: at first, and at most. */
const FAILURE_PAUSES_MS = { first: 100, longest: 2_000 }

interface WorkerLoop {
  /** False when its last poll failed, or its signal was aborted. */
  working(): boolean
  /** Resolves when the loop has ended after its signal was aborted. */
  readonly ended: Promise<void>
}

/**
 * Starts a loop of a worker, which polls for work at the start and whenever it is woken.
 * @param poll starts the work that is due
 * @param deps.signal ends the loop
 */
function startLoop(
  poll: () => Promise<void>,
  deps: Pick<WorkerDeps, 'clock' | 'log'> & { readonly wake: LoopWake; readonly signal: AbortSignal },
): WorkerLoop {
  const { clock, log, wake, signal } = deps
  let pause = 0
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const began = clock.now()
        await poll()
        if (pause > 0) log.info('work goes on')
        pause = 0
        await wake.wait(signal)
        const early = began + LEAST_POLL_GAP_MS - clock.now()
        if (early > 0) await sleep(early)
      } catch (error) {
        if (pause === 0) log.warn({ database: safeDatabaseError(error) }, 'work has to wait for the database')
        pause = Math.min(Math.max(pause * 2, FAILURE_PAUSES_MS.first), FAILURE_PAUSES_MS.longest)
        await sleep(pause, undefined, { signal }).catch(() => undefined)
      }
    }
  }
  return { working: () => pause === 0 && !signal.aborted, ended: run() }
}
