/**
 * This process as a node among others. It holds a lock on a connection of its own, and looks every second whether
 * the lock of another can be had: then that node is gone, and its jobs are freed at once.
 *
 * The lock is a lease. PostgreSQL ends a session that was silent for longer, so a process that was stopped and goes
 * on has lost it; it cannot know at once, but it knows when it was last heard.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Log } from '../observe/log.ts'
import { safeDatabaseError } from '../store/database-errors.ts'
import { enterNode, freeGoneNodes, leaveNode, type NodeEntry } from '../store/nodes.ts'

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
/** From one look at the others to the next, in milliseconds. */
const PERIOD = 1_000
/** The part of the lease that is kept for what was begun before its end and arrives after. */
const MARGIN = 0.2

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
  const lost = Promise.withResolvers<void>()
  const client = new pg.Client({ ...connection, query_timeout: lease, statement_timeout: lease })
  let state: 'held' | 'lost' | 'left' = 'held'
  let heard = performance.now()
  const lose = (): void => {
    if (state !== 'held') return
    state = 'lost'
    clearInterval(timer)
    lost.resolve()
    client.end().catch(() => undefined)
  }
  let timer: NodeJS.Timeout | undefined
  client.on('error', lose)
  client.on('end', lose)
  await client.connect()
  try {
    await enterNode(client, entry, lease)
  } catch (error) {
    lose()
    throw error
  }
  heard = performance.now()

  const held = (): boolean => state === 'held' && performance.now() - heard < lease * (1 - MARGIN)
  let looking: Promise<void> | undefined
  const reported = new Set<string>()
  const look = async (): Promise<void> => {
    const asked = performance.now()
    try {
      const { freed, failed } = await freeGoneNodes(client, entry)
      heard = asked
      for (const node of freed) log.warn({ node }, 'a node is gone; its jobs are free')
      for (const { id: node, error } of failed) {
        if (reported.has(node)) continue
        reported.add(node)
        const database = safeDatabaseError(error)
        log.error(
          { node, database },
          'the jobs of a node that is gone cannot be freed; tried again every second',
        )
      }
    } catch (error) {
      if (state === 'held') log.warn({ database: safeDatabaseError(error) }, 'the lock of this node is lost')
      lose()
    }
  }
  timer = setInterval(
    () => {
      // Noticed late is lost: the session may be ended, and others may have been told so, before we are.
      if (!held()) return lose()
      looking ??= look().finally(() => {
        looking = undefined
      })
    },
    Math.min(PERIOD, lease / 5),
  )
  return {
    worker: id,
    held,
    lost: lost.promise,
    async leave() {
      clearInterval(timer)
      await looking
      if (state !== 'held') return
      state = 'left'
      try {
        await leaveNode(client, entry)
      } catch (error) {
        log.warn({ database: safeDatabaseError(error) }, 'the jobs of this node are left to others to free')
      }
      await client.end().catch(() => undefined)
    },
  }
}
