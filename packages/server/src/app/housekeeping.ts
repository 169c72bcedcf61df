/** What every node does now and then beside answering; several nodes at once do no harm. */
import type { Context } from '../context.ts'
import { forgetBreakers } from '../store/breakers.ts'
import { safeDatabaseError } from '../store/database-errors.ts'
import { countUnfinished, forgetExchanges, forgetInbox } from '../store/forget-exchanges.ts'
import { clearFollowedJobs } from '../store/jobs.ts'

const PERIOD = 60_000

type Parts = Pick<Context, 'db' | 'limits' | 'log'>

/** Starts; the returned function stops it and waits for what is under way. */
export function startHousekeeping(parts: Parts): () => Promise<void> {
  let working: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    working = working.then(() => forgetOld(parts))
  }, PERIOD)
  return () => {
    clearInterval(timer)
    return working
  }
}

/** Forgets what is older than it is kept. What nobody ever took goes as well, and is told to the operator. Never rejects. */
export async function forgetOld({ db, limits, log }: Parts): Promise<void> {
  try {
    await clearFollowedJobs(db.pool)
    await forgetBreakers(db)
    const unfinished = await countUnfinished(db, limits.exchange_retention)
    if (unfinished.exchanges + unfinished.deliveries > 0) {
      log.error(unfinished, 'messages that were never answered, or never taken, are older than they are kept')
    }
    const exchanges = await forgetExchanges(db, limits.exchange_retention)
    const forgotten = exchanges + (await forgetInbox(db, limits.inbox_retention))
    if (forgotten > 0) log.info({ forgotten }, 'old messages forgotten')
  } catch (error) {
    log.warn({ database: safeDatabaseError(error) }, 'old messages could not be forgotten; tried again soon')
  }
}
