/** Working on jobs for as long as the process lives: one shift after another, a new one when the last was lost. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'
import { beginShift, type Shift } from './shift.ts'
import { TASKS, type Tasks } from './tasks.ts'

export interface RunningWorker {
  /** Whether it takes jobs. */
  working(): boolean
  /** Takes no more jobs, lets those in work end, and leaves to others what does not in time. */
  stop(): Promise<void>
}

/** Milliseconds from one try to the next, when no shift can be begun. */
const PAUSES = { first: 100, last: 2_000 }

/**
 * Starts to work on jobs. Resolves when it does.
 * @throws what connecting to the database throws
 */
export async function startWorker(context: Context, tasks: Tasks = TASKS): Promise<RunningWorker> {
  const { limits, log } = context
  const stopping = new AbortController()
  const asked = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
  const ending = new Set<Promise<void>>()
  const end = (shift: Shift): void => {
    const done = shift.end(limits.stop_time * 1_000).finally(() => ending.delete(done))
    ending.add(done)
  }
  let shift: Shift | null = await beginShift(context, tasks)

  const next = async (): Promise<Shift | null> => {
    for (let pause = PAUSES.first; ; pause = Math.min(pause * 2, PAUSES.last)) {
      await Promise.race([sleep(pause), asked])
      if (stopping.signal.aborted) return null
      try {
        return await beginShift(context, tasks)
      } catch (error) {
        log.warn({ database: safeDatabaseError(error) }, 'jobs have to wait for the database')
      }
    }
  }
  const work = async (): Promise<void> => {
    while (shift !== null) {
      await Promise.race([shift.over, asked])
      end(shift)
      shift = null
      if (stopping.signal.aborted) return
      log.warn('no longer working on jobs; beginning anew')
      shift = await next()
      if (shift !== null) log.info('working on jobs again')
    }
  }
  const working = work()
  return {
    working: () => shift?.held() === true,
    async stop() {
      stopping.abort()
      await working
      await Promise.all(ending)
    },
  }
}
