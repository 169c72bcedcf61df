/** Writes the audit entries of acts: those of operators, and those of participants on the partner page. */

import { EMPTY_ENTRY } from '@rollcall/audit/audit-entry-of'
import type { AuditEntry, AuditedPerson, AuditLog } from '@rollcall/core/model/audit-entry'
import { type Caller, callerInEntry } from '../caller.ts'

/** The members of an entry about an act, without its caller. */
export interface EntryDetails {
  /** The command, without any value that was given to it. */
  readonly note: string
  /** Namespace of the registry; absent when neither the input nor the work of the act names one. */
  readonly registry?: string | undefined
  /** The persons whose data is shown or changed, or who are asked about. */
  readonly persons?: readonly AuditedPerson[]
  /** The number of records that the act shows. */
  readonly records?: number
  /** The attribute paths that the act shows, by record type. */
  readonly shown?: AuditEntry['shown']
  /** The operator's reason. It is stored encrypted. */
  readonly reason?: string | undefined
  /** correlation_ids of stored answers that the act shows. An audit of a person who is in such an answer finds this entry. */
  readonly repeats?: readonly string[]
  /** The number of deliveries that an act on the partner page sends again; absent for all other acts. */
  readonly count?: number
  /** The names to write in place of the caller's: both persons of an approved proposal. */
  readonly operator?: string
  readonly approved_by?: string
}

/** Writes the audit entry of an act, and resolves when the entry is stored. No entry for a caller without `callerInEntry`. */
export async function auditAct(
  { auditLog, caller }: { readonly auditLog: AuditLog; readonly caller: Caller },
  { note, registry, persons = [], reason, repeats = [], ...details }: EntryDetails,
): Promise<void> {
  const names = callerInEntry(caller)
  // `apply` writes the entries of its steps, and an event from the event outbox is stored in a table of its own.
  if (names === null) return
  const entry: AuditEntry = {
    ...EMPTY_ENTRY,
    ...names,
    ...details,
    kind: 'operator',
    registry: registry ?? null,
    outcomes: { succ: 1 },
    note,
    ...(reason !== undefined && { confidential: { reason } }),
    ...(repeats.length > 0 && { repeats }),
  }
  await auditLog.write(entry, persons)
}
