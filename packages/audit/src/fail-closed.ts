import type { Clock } from '@rollcall/base/shared/clock'
import { isUnavailable, isValueRefusal, safeDatabaseError } from '@rollcall/database/database-errors'
import { createFloodLimitingLog, type Log } from '@rollcall/observe/log'
import { RequestFault } from '@rollcall/protocol'
import type { AuditLogWithRowWrites } from './audit-log.ts'

/** An entry could not be written. The response is 503, and nothing that the entry describes may be sent. */
export class NotAuditedFault extends RequestFault {
  constructor() {
    super('err.service.unavailable', 'the access cannot be accounted for at the moment; try again later')
  }
}

/** Milliseconds between two lines in the log about the same failure. */
const FAILURE_LOG_PERIOD_MS = 60_000

/**
 * Wraps an audit log: a failed write refuses the request, and is logged here unless the database was unavailable. If the
 * database refuses a value of a joint row (one of another package, written with the entry), its error is passed on.
 */
export function failClosed<Writer extends AuditLogWithRowWrites>(
  auditLog: Writer,
  { log, later }: { readonly log: Pick<Log, 'error'>; readonly later?: Clock['later'] },
): Writer {
  const flood = createFloodLimitingLog<object>({
    period: FAILURE_LOG_PERIOD_MS,
    most: 20,
    report: (failure, count) =>
      log.error({ ...failure, count }, 'audit entries could not be written: nothing that they describe was sent'),
    ...(later !== undefined && { later }),
  })
  const closed = (error: unknown): never => {
    // That the database is unavailable is reported by other code.
    if (isUnavailable(error)) throw error
    flood.note(safeDatabaseError(error))
    throw new NotAuditedFault()
  }
  return {
    ...auditLog,
    write: (entry, persons) => auditLog.write(entry, persons).catch(closed),
    writeWith: (joint, row, entry, persons) =>
      auditLog.writeWith(joint, row, entry, persons).catch((error: unknown) => {
        // The database refused a value of the joint row, not of the entry, so the caller gets this error.
        if (isValueRefusal(error)) throw error
        return closed(error)
      }),
  }
}
