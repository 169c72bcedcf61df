/** Writes an audit entry that says that a message was not sent, when the entry of the message is written already. */

import { auditEntryOfUnsentMessage, type EntryWithPersons } from '@rollcall/audit/audit-entry-of'
import type { AuditLogWithRowWrites } from '@rollcall/audit/audit-log'
import { isUnavailable } from '@rollcall/database/database-errors'

/**
 * Runs `commit`, which commits the message of an audit entry, and throws its error. If `commit` fails, another entry says that
 * the message was not sent. The other entry is not written when the database was unavailable: the message may be committed.
 */
export async function commitAfterAuditEntry<Result>(
  auditLog: Pick<AuditLogWithRowWrites, 'write'>,
  entry: EntryWithPersons,
  commit: () => Promise<Result>,
): Promise<Result> {
  try {
    return await commit()
  } catch (error) {
    if (!isUnavailable(error)) await auditLog.write(...auditEntryOfUnsentMessage(entry))
    throw error
  }
}
