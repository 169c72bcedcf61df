/** Work on jobs under one lock: from getting the lock to its loss, or to the end that is asked for. */

import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Runner, run, type TaskList, type WorkerEventMap, type WorkerEvents } from 'graphile-worker'
import type { Context } from '../context.ts'
import { JOB_SEARCHES, outlivingLosses } from '../store/db/database.ts'
import { FencedPool } from '../store/db/fenced-pool.ts'
import { answerTime, openConnections } from '../store/db/pools.ts'
import { createJobLog } from './job-log.ts'
import { joinNodes, type Node } from './nodes.ts'
import { taskList } from './task-list.ts'
import type { Tasks } from './tasks.ts'

export interface Shift {
  /** What its jobs are locked by. */
  readonly worker: string
  /**
   * Resolves when there is no more to be had of it: the lock is lost, a statement about jobs failed, or
   * graphile-worker gave up.
   */
  readonly over: Promise<void>
  held(): boolean
  /** Takes no more jobs, lets those in work end for at most so many milliseconds, and leaves the rest to others. */
  end(patience: number): Promise<void>
}

/** One listens, one takes jobs, one says that they are done, one that they failed. */
const CONNECTIONS = 4
type LocalQueue = WorkerEventMap['localQueue:init']['localQueue']

/** Milliseconds. Jobs are announced; polling is for those that become due, or are freed. */
const POLL = 200
/** Jobs that are taken at a time, for each that can be in work: one statement for many is what makes it fast. */
const BEFOREHAND = 2
/** Jobs taken beforehand go back when none of them was begun for so long, in milliseconds: others may be idle. */
const KEPT = 1_000
/** Jobs that end within so many milliseconds are reported together. */
const GATHERED = 5

/** Milliseconds for an answer where statements have no limit. */
const PATIENCE = 30_000

/** @throws what connecting throws */
export async function beginShift(context: Context, tasks: Tasks): Promise<Shift> {
  const { db, limits, log } = context
  const node = await joinNodes(db.connection, { lease: limits.node_lease * 1_000, log })
  const query_timeout = answerTime(db.connection.statement_timeout) ?? PATIENCE
  const settings = { ...db.connection, max: CONNECTIONS, min: CONNECTIONS, query_timeout }
  // Jobs may have been taken of which we were not told: they are locked by us for as long as we have this name. And
  // graphile-worker looks up its tasks once: where that fails, it never takes a job again.
  const unsure = Promise.withResolvers<void>()
  const pool = outlivingLosses(new FencedPool(settings, { held: node.held, failed: unsure.resolve }))
  const close = () => pool.end().catch(() => undefined)
  try {
    // Held from the beginning: answering peers must not take the connections that finish what was accepted.
    await openConnections(pool, CONNECTIONS)
    await openConnections(db.jobSearches, JOB_SEARCHES)
    const ending = new AbortController()
    const runner = await startRunner(context, taskList(context, tasks, ending.signal), node, pool)
    return shiftOf(node, runner, { ending, unsure: unsure.promise, close })
  } catch (error) {
    await node.leave()
    await close()
    throw error
  }
}

function startRunner(context: Context, tasks: TaskList, node: Node, pgPool: FencedPool): Promise<Runner> {
  const concurrency = context.limits.worker_concurrency
  const events: WorkerEvents = new EventEmitter()
  // It makes up a name at every start; ours is in the table of nodes before the first job is locked by it.
  events.on('pool:create', ({ workerPool }) => {
    workerPool.id = node.worker
  })
  events.on('localQueue:init', ({ localQueue }) => holdOpen(localQueue, events))
  return run(
    {
      pgPool,
      events,
      concurrency,
      pollInterval: POLL,
      noHandleSignals: true,
      logger: createJobLog(context.log),
      preset: {
        worker: {
          localQueue: { size: concurrency * BEFOREHAND, ttl: KEPT },
          completeJobBatchDelay: GATHERED,
          failJobBatchDelay: GATHERED,
        },
      },
    },
    tasks,
    [],
  )
}

/**
 * A local queue that is released while it has jobs, and while nothing else goes on in it, refuses to wait for their
 * return: a failure of that, as when the database is away, would then end the process. So something goes on in it.
 */
function holdOpen(localQueue: LocalQueue, events: WorkerEvents): void {
  const { promise, resolve } = Promise.withResolvers<void>()
  // biome-ignore lint/complexity/useLiteralKeys: it is private in its types
  localQueue['background'](promise)
  events.on('localQueue:setMode', ({ newMode }) => {
    if (newMode === 'RELEASED') resolve()
  })
}

interface ShiftParts {
  readonly ending: AbortController
  readonly unsure: Promise<void>
  readonly close: () => Promise<void>
}

function shiftOf(node: Node, runner: Runner, { ending, unsure, close }: ShiftParts): Shift {
  const ended = runner.promise.catch(() => undefined)
  return {
    worker: node.worker,
    over: Promise.race([node.lost, unsure, ended]),
    held: node.held,
    async end(patience) {
      ending.abort()
      const stopped = runner
        .stop()
        .catch(() => undefined)
        .then(() => ended)
      await Promise.race([stopped, sleep(patience, undefined, { ref: false })])
      await node.leave()
      // What is still in work does not need the pool; what it says there is refused.
      await Promise.race([close(), sleep(CLOSING, undefined, { ref: false })])
    },
  }
}

const CLOSING = 1_000
