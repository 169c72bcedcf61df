/** What every node does now and then beside answering; several nodes at once do no harm. */
import type { Context } from '../context.ts'
import { safeDatabaseError } from '../store/database-errors.ts'
import { forgetExchanges, forgetInbox } from '../store/forget-exchanges.ts'

const PERIOD = 60_000

/** Starts; the returned function stops it and waits for what is under way. */
export function startHousekeeping({ db, limits, log }: Context): () => Promise<void> {
  let working: Promise<void> = Promise.resolve()
  const work = async (): Promise<void> => {
    try {
      const exchanges = await forgetExchanges(db, limits.exchange_retention)
      const forgotten = exchanges + (await forgetInbox(db, limits.inbox_retention))
      if (forgotten > 0) log.info({ forgotten }, 'old messages forgotten')
    } catch (error) {
      log.warn(
        { database: safeDatabaseError(error) },
        'old messages could not be forgotten; tried again soon',
      )
    }
  }
  const timer = setInterval(() => {
    working = working.then(work)
  }, PERIOD)
  return () => {
    clearInterval(timer)
    return working
  }
}
