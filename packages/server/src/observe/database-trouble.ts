/** What the node's own statements met: a line a second while the database declines, and whether it takes no writes. */
import { safeDatabaseError, takesNoWrites } from '../store/db/database-errors.ts'
import { createFloodLog, type Schedule } from './flood-log.ts'
import type { Log } from './log.ts'

export interface DatabaseTrouble {
  /** A request could not be answered because the database declined. */
  note(error: unknown): void
  /** Whether the database declined a write lately, because its disk is full or it is read-only. */
  declinesWrites(): boolean
}

/** Milliseconds from one line to the next. */
const PERIOD = 1_000
/** Errors that are told apart at a time. */
const MOST = 10
/** Milliseconds for which a declined write counts. */
const LATELY = 10_000

/** @param parts.now milliseconds of a clock that only goes forward */
export function createDatabaseTrouble(parts: {
  readonly log: Pick<Log, 'error'>
  readonly now?: () => number
  readonly schedule?: Schedule
}): DatabaseTrouble {
  const { log, now = () => performance.now(), schedule } = parts
  let declined = Number.NEGATIVE_INFINITY
  const flood = createFloodLog({
    period: PERIOD,
    most: MOST,
    report: (database, requests) =>
      log.error({ ...(database !== null && { database }), requests }, 'the database is not available'),
    ...(schedule !== undefined && { schedule }),
  })
  return {
    note(error) {
      if (takesNoWrites(error)) declined = now()
      flood.note(safeDatabaseError(error))
    },
    declinesWrites: () => now() - declined < LATELY,
  }
}
