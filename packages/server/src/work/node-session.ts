/**
 * The session that holds a node's lock: a thread of its own, because the work of the process must not keep it from being
 * heard (`nodes.ts` starts it). It says every second that it lives, and frees the jobs of nodes that are gone.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { type SafeDatabaseError, safeDatabaseError } from '../store/db/database-errors.ts'
import { enterNode, freeGoneNodes, leaveNode, type NodeEntry } from '../store/db/nodes.ts'
import { type Heard, isWithin } from './node-lease.ts'

/** What the thread is given. */
export interface SessionStart {
  readonly connection: pg.ClientConfig
  readonly entry: NodeEntry
  /** Milliseconds. */
  readonly lease: number
  /** Where it says when it was last heard. */
  readonly heard: Heard
}

/** What the thread says. It ends after `lost` and `refused`, and when it was told to leave. */
export type SessionEvent =
  | { readonly is: 'entered' }
  | { readonly is: 'refused'; readonly error: RefusedError }
  | { readonly is: 'lost' }
  | {
      readonly is: 'log'
      readonly level: 'warn' | 'error'
      readonly fields: { readonly node?: string; readonly database?: SafeDatabaseError }
      readonly text: string
    }

/** An error as it travels between threads, which keep no classes. */
export interface RefusedError {
  /** Of PostgreSQL, and not of what lies below. */
  readonly fromDatabase: boolean
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** From one look at the others to the next, in milliseconds. */
const PERIOD = 1_000

async function hold(port: MessagePort, { connection, entry, lease, heard }: SessionStart): Promise<void> {
  const say = (event: SessionEvent): void => port.postMessage(event)
  const log = (level: 'warn' | 'error', text: string, node?: string, error?: unknown): void => {
    const database = error === undefined ? {} : { database: safeDatabaseError(error) }
    say({ is: 'log', level, fields: { ...(node !== undefined && { node }), ...database }, text })
  }
  const client = new pg.Client({ ...connection, query_timeout: lease, statement_timeout: lease })
  let timer: NodeJS.Timeout | undefined
  let state: 'entering' | 'held' | 'over' = 'entering'
  const end = async (last?: SessionEvent): Promise<void> => {
    state = 'over'
    clearInterval(timer)
    if (last !== undefined) say(last)
    await client.end().catch(() => undefined)
    port.close()
  }
  const lose = (): void => {
    if (state === 'held') void end({ is: 'lost' })
  }
  client.on('error', lose)
  client.on('end', lose)
  try {
    await client.connect()
    await enterNode(client, entry, lease)
  } catch (error) {
    return end({ is: 'refused', error: refusedError(error) })
  }
  Atomics.store(heard, 0, process.hrtime.bigint())
  state = 'held'
  say({ is: 'entered' })

  let looking: Promise<void> | undefined
  const reported = new Set<string>()
  const look = async (): Promise<void> => {
    const asked = process.hrtime.bigint()
    try {
      const { freed, failed } = await freeGoneNodes(client, entry)
      Atomics.store(heard, 0, asked)
      for (const node of freed) log('warn', 'a node is gone; its jobs are free', node)
      for (const { id, error } of failed) {
        if (reported.has(id)) continue
        reported.add(id)
        log('error', 'the jobs of a node that is gone cannot be freed; tried again every second', id, error)
      }
    } catch (error) {
      if (state === 'held') log('warn', 'the lock of this node is lost', undefined, error)
      lose()
    }
  }
  timer = setInterval(
    () => {
      // Noticed late is lost: the session may be ended, and others may have been told so, before we are.
      if (!isWithin(heard, lease)) return lose()
      looking ??= look().finally(() => {
        looking = undefined
      })
    },
    Math.min(PERIOD, lease / 5),
  )
  // The one thing that it is told is to leave.
  port.once('message', async () => {
    clearInterval(timer)
    await looking
    if (state !== 'held') return
    state = 'over'
    try {
      await leaveNode(client, entry)
    } catch (error) {
      log('warn', 'the jobs of this node are left to others to free', undefined, error)
    }
    await end()
  })
}

function refusedError(error: unknown): RefusedError {
  if (!(error instanceof Error)) return { fromDatabase: false, message: typeof error, fields: {} }
  const fields = Object.entries(error).filter(([, value]) => typeof value === 'string')
  return {
    fromDatabase: error instanceof pg.DatabaseError,
    message: error.message,
    fields: Object.fromEntries(fields),
  }
}

if (parentPort !== null) void hold(parentPort, workerData as SessionStart)
