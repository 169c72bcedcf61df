/**
 * This process as a node among others. It holds a lock on a connection of its own, and looks every second whether
 * the lock of another can be had: then that node is gone, and its jobs are freed at once.
 *
 * The lock is a lease. PostgreSQL ends a session that was silent for longer, so a process that was stopped and goes
 * on has lost it; it cannot know at once, but it knows when it was last heard. A process that is busy has not: its
 * lock is held by a thread of its own (`node-session.ts`).
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import type { Log } from '../observe/log.ts'
import type { NodeEntry } from '../store/db/nodes.ts'
import { type Heard, isWithin } from './node-lease.ts'
import type { RefusedError, SessionEvent, SessionStart } from './node-session.ts'

export interface Node {
  /** What its jobs are locked by. */
  readonly worker: string
  /** Whether nobody else can have taken its jobs, now and a little longer. */
  held(): boolean
  /** Resolves when the lock is lost. */
  readonly lost: Promise<void>
  /** Frees its jobs for others, and gives the lock back. What is lost is freed by others. */
  leave(): Promise<void>
}

/** Of a lock's key: enough that no two are the same. Nodes of earlier versions cannot read keys beyond 2^53. */
const KEY_BYTES = 6

/**
 * Becomes a node.
 * @param options.lease milliseconds
 * @throws what connecting throws
 */
export async function joinNodes(
  connection: pg.ClientConfig,
  { lease, log }: { lease: number; log: Log },
): Promise<Node> {
  const id = randomUUID()
  const entry: NodeEntry = {
    id,
    lock_key: String(randomBytes(KEY_BYTES).readUIntBE(0, KEY_BYTES)),
    workers: [id],
  }
  const heard: Heard = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  const entered = Promise.withResolvers<void>()
  const lost = Promise.withResolvers<void>()
  let state: 'held' | 'lost' | 'left' = 'held'
  const lose = (): void => {
    if (state === 'held') state = 'lost'
    entered.reject(new Error('the thread of the node ended'))
    lost.resolve()
  }
  const { types: _functions, ...cloneable } = connection
  const start: SessionStart = { connection: cloneable, entry, lease, heard }
  const thread = new Worker(new URL('./node-session.ts', import.meta.url), { workerData: start })
  thread.on('message', (event: SessionEvent) => {
    if (event.is === 'entered') entered.resolve()
    else if (event.is === 'refused') entered.reject(errorOf(event.error))
    else if (event.is === 'log') log[event.level](event.fields, event.text)
    else lose()
  })
  thread.on('error', lose)
  const ended = once(thread, 'exit').then(lose, lose)
  await entered.promise
  return {
    worker: id,
    held: () => state === 'held' && isWithin(heard, lease),
    lost: lost.promise,
    async leave() {
      if (state === 'held') {
        state = 'left'
        thread.postMessage('leave')
      }
      await ended
    },
  }
}

/** The error that connecting met, of the class that those who handle it know. */
function errorOf({ fromDatabase, message, fields }: RefusedError): Error {
  const error = fromDatabase ? new pg.DatabaseError(message, message.length, 'error') : new Error(message)
  return Object.assign(error, fields)
}
