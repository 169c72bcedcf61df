/** A loop of a worker: it looks for work at intervals, and at once when it is woken. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../observe/log.ts'
import type { Wake } from '../shared/wake.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'

/** Milliseconds until the next look that nothing asks for: it finds what has become due, and what other nodes left. */
const LOOK = 200
/** Milliseconds from one look to the next at least: under load one look finds the work of several. */
const GATHERED = 5
/** Milliseconds from a look that failed to the next one: the first, and the longest. */
const PAUSES = { first: 100, longest: 2_000 }

export interface Loop {
  /** Whether its last look succeeded. */
  working(): boolean
  /** Resolves when it has ended, after its signal was aborted. */
  readonly ended: Promise<void>
}

/**
 * @param look begins what there is to do
 * @param parts.signal ends the loop
 */
export function startLoop(
  look: () => Promise<void>,
  { wake, log, signal }: { readonly wake: Wake; readonly log: Log; readonly signal: AbortSignal },
): Loop {
  let pause = 0
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        const began = performance.now()
        await look()
        if (pause > 0) log.info('work goes on')
        pause = 0
        await wake.wait(LOOK, signal)
        const early = began + GATHERED - performance.now()
        if (early > 0) await sleep(early)
      } catch (error) {
        if (pause === 0) log.warn({ database: safeDatabaseError(error) }, 'work has to wait for the database')
        pause = Math.min(Math.max(pause * 2, PAUSES.first), PAUSES.longest)
        await sleep(pause, undefined, { signal }).catch(() => undefined)
      }
    }
  }
  return { working: () => pause === 0 && !signal.aborted, ended: run() }
}
