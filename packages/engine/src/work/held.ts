/** The worker of a restored database, which waits until the operator releases the outgoing messages. */
import { setTimeout as sleep } from 'node:timers/promises'
import { areMessagesHeldByRestore } from '@rollcall/backup/store/restorations'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import type { RunningWorker } from './worker.ts'

interface StartWhenMessagesReleasedDeps {
  readonly db: Database
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly start: () => Promise<RunningWorker>
  /** Milliseconds between two checks whether messages are still held. */
  readonly pause?: number
}

/** Starts the work at once, or if messages are held, after their release. Until then `working` returns true. */
export async function startWhenMessagesReleased({
  db,
  log,
  start,
  pause = 1_000,
}: StartWhenMessagesReleasedDeps): Promise<RunningWorker> {
  if (!(await areMessagesHeldByRestore(db))) return start()
  log.warn('outgoing messages are held, because the database was restored: run rollcall restore release')
  const stopping = new AbortController()
  let worker: RunningWorker | null = null
  const isReleased = async (): Promise<boolean> => {
    try {
      return !(await areMessagesHeldByRestore(db))
    } catch (error) {
      log.warn({ database: safeDatabaseError(error) }, 'held messages cannot be looked for; tried again soon')
      return false
    }
  }
  const waiting = (async () => {
    while (worker === null && !stopping.signal.aborted) {
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
      if (stopping.signal.aborted || !(await isReleased())) continue
      worker = await start().catch((error: unknown) => {
        log.warn({ database: safeDatabaseError(error) }, 'the work cannot begin; tried again soon')
        return null
      })
      if (worker !== null) log.info('outgoing messages are released')
    }
  })()
  return {
    working: () => worker?.working() ?? !stopping.signal.aborted,
    async stop() {
      stopping.abort()
      await waiting
      await worker?.stop()
    },
  }
}
