/** Writes audit entries of refused requests. Several similar refusals share an entry, and no request waits for it. */
import type { AuditEntry, AuditLog } from '@rollcall/core/model/audit-entry'
import type { RefusalEntryWriter } from '@rollcall/observe/refusals'
import { EMPTY_ENTRY } from './audit-entry-of.ts'

/** For this many different refusals, at most, we remember when the last entry was written. Equal refusals share an entry. */
const MOST_REMEMBERED_REFUSALS = 1_000

/** Creates the writer of audit entries of refused requests. @param now milliseconds */
export function createRefusalEntryWriter(auditLog: AuditLog, now: () => number): RefusalEntryWriter {
  const last = new Map<string, number>()
  const pending = new Set<Promise<void>>()
  return {
    write(refusals, count) {
      const key = JSON.stringify(refusals)
      const at = now()
      const since = last.get(key) ?? at
      if (last.size >= MOST_REMEMBERED_REFUSALS) last.clear()
      last.set(key, at)
      const { refusal = 'others', participant = null, address, ...request } = refusals ?? {}
      const entry: AuditEntry = {
        ...EMPTY_ENTRY,
        kind: 'refusal',
        participant,
        ...request,
        outcomes: { [refusal]: count },
        count,
        since: new Date(since).toISOString(),
        ...(address !== undefined && { address }),
      }
      // The audit log itself logs a failure to write.
      const written: Promise<void> = auditLog
        .write(entry, [])
        .catch(() => undefined)
        .finally(() => pending.delete(written))
      pending.add(written)
    },
    async idle() {
      await Promise.all(pending)
    },
  }
}
