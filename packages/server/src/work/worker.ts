/** A worker: it answers accepted exchanges and sends due deliveries, until it is stopped. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from '../delivery/dispatcher.ts'
import type { Limits } from '../limits.ts'
import type { Mailboxes } from '../notify/drain-mailboxes.ts'
import type { Wake } from '../shared/wake.ts'
import { type Database, JOB_SEARCHES } from '../store/db/database.ts'
import { openConnections } from '../store/db/pools.ts'
import { listen } from '../store/db/work-channel.ts'
import { createExchangeWork, type ExchangeWorkParts } from './exchanges.ts'
import { startLoop } from './loop.ts'

export interface RunningWorker {
  /** Whether it takes work. */
  working(): boolean
  /** Takes nothing more, lets what is in work end, and leaves to other nodes what does not end in time. */
  stop(): Promise<void>
}

export type WorkerParts = Pick<ExchangeWorkParts, 'log' | 'metrics' | 'answer'> & {
  readonly db: Database
  readonly limits: Pick<Limits, 'worker_concurrency' | 'large_requests' | 'node_lease' | 'stop_time'>
  readonly dispatcher: Dispatcher
  readonly mailboxes: Mailboxes
  /** Raised where an exchange was accepted on this node. */
  readonly exchangesWake: Wake
  /** Raised where a delivery of this node is due. */
  readonly deliveriesWake: Wake
  /** Raised where a notification may be due. */
  readonly mailboxesWake: Wake
}

/** Milliseconds that the end of listening is waited for. */
const CLOSING = 2_000

/**
 * Starts to work. Resolves when it does.
 * @throws what connecting to the database throws
 */
export async function startWorker(parts: WorkerParts): Promise<RunningWorker> {
  const { db, limits, log, dispatcher, mailboxes, exchangesWake, deliveriesWake, mailboxesWake } = parts
  const stopping = new AbortController()
  const { signal } = stopping
  const exchanges = createExchangeWork({
    ...parts,
    pool: db.claims,
    slots: limits.worker_concurrency,
    large: limits.large_requests,
    batches: db.jobSearches.options.max,
    lease: limits.node_lease,
    wake: exchangesWake.raise,
  })
  // Held from the beginning: answering peers must not take the connections that finish what was accepted.
  await openConnections(db.claims, 1)
  await openConnections(db.jobSearches, JOB_SEARCHES)
  const listening = listen(db.connection, {
    signal,
    onExchanges: exchangesWake.raise,
    onDeliveries: (participant) => dispatcher.due(participant),
    onMailboxes: mailboxes.due,
  })
  const loops = [
    startLoop(() => exchanges.look(signal), { wake: exchangesWake, log, signal }),
    startLoop(() => dispatcher.look(signal), { wake: deliveriesWake, log, signal }),
    startLoop(() => mailboxes.look(signal), { wake: mailboxesWake, log, signal }),
  ]
  return {
    working: () => loops.every((loop) => loop.working()),
    async stop() {
      stopping.abort()
      const idle = [exchanges.idle(), dispatcher.idle(), mailboxes.idle()]
      const ended = Promise.all([...loops.map((loop) => loop.ended), ...idle])
      await Promise.race([ended, sleep(limits.stop_time * 1_000, undefined, { ref: false })])
      await exchanges.leave().catch(() => undefined)
      await Promise.race([listening, sleep(CLOSING, undefined, { ref: false })])
    },
  }
}
