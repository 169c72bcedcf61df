/** The audit entries of what operators do with data of persons, and of what a participant does by hand. */

import { EMPTY_ENTRY } from '@rollcall/audit/audit-entry-of'
import type { AuditEntry, AuditedPerson, AuditLog } from '@rollcall/core/model/audit-entry'
import { type Caller, namesOf } from '../caller.ts'

/** The members of an entry about an act, without its caller. */
export interface EntryDetails {
  /** The command, without any value that was given to it. */
  readonly note: string
  /** Namespace of the registry; absent when the act concerns no single one. */
  readonly registry?: string | undefined
  /** The persons whose data is shown or changed, or who are asked about. */
  readonly persons?: readonly AuditedPerson[]
  /** Records that are shown. */
  readonly records?: number
  /** The attribute paths that are shown, by record type. */
  readonly shown?: AuditEntry['shown']
  /** Why, as the operator says; it is stored encrypted. */
  readonly reason?: string | undefined
  /** correlation_ids whose stored answers are shown again: an audit of the persons in them finds it. */
  readonly repeats?: readonly string[]
  /** The number of deliveries, for an act of a participant. */
  readonly count?: number
  /** Both persons of an approved proposal, instead of the caller. */
  readonly operator?: string
  readonly approved_by?: string
}

/** Writes the audit entry of an act. It is awaited before anything is shown: when it rejects, nothing may be. */
export async function auditAct(
  { auditLog, caller }: { readonly auditLog: AuditLog; readonly caller: Caller },
  { note, registry, persons = [], reason, repeats = [], ...details }: EntryDetails,
): Promise<void> {
  const names = namesOf(caller)
  // A part of the server has no entry of its own: the act that it belongs to has one, or the row that it works on.
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
