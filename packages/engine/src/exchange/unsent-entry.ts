/** Enters in the audit log that something was not sent, although its entry is written already. */

import { auditEntryOfUnsent, type EntryWithPersons } from '@rollcall/audit/audit-entry-of'
import type { JointAuditLog } from '@rollcall/audit/audit-log'
import { isUnavailable } from '@rollcall/database/database-errors'

/**
 * Runs work that commits what an audit entry has announced. If the work fails, another entry says that it was not sent. There is no
 * such entry when the database did not answer: the work may be committed.
 */
export async function commitAfterEntry<Result>(
  auditLog: Pick<JointAuditLog, 'write'>,
  entry: EntryWithPersons,
  commit: () => Promise<Result>,
): Promise<Result> {
  try {
    return await commit()
  } catch (error) {
    if (!isUnavailable(error)) await auditLog.write(...auditEntryOfUnsent(entry))
    throw error
  }
}
