/** Entries of the audit log, as admin functions return them. */

import { decryptConfidentialDetails } from '@rollcall/audit/confidential'
import { type AuditKeys, loadAuditKeys } from '@rollcall/audit/keys'
import { findEntryAt, type LoggedEntry, type Period } from '@rollcall/audit/store/read-entries'
import type { Limits } from '@rollcall/core/limits'
import { AUDIT_KINDS } from '@rollcall/core/model/audit-entry'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { AdminRefusal } from '../admin-function.ts'
import type { HasVault } from '../deps.ts'
import { closed, dateOf, flag, instant, isoTime, markPersonal, orNull, text, wholeNumber } from '../members.ts'

export const EntryId = text('id of an entry: its chain, a dot, and its number in the chain.')

const TextOrNull = orNull(Type.String())

/** The members that every entry of the audit log has, with their schemas. */
export const AUDIT_ENTRY_MEMBERS = {
  id: EntryId,
  at: instant("When it was written, by the database's clock."),
  kind: oneOf(AUDIT_KINDS),
  participant: orNull(text('sender_id of who asked; null: an operator, or nobody known.')),
  operator: orNull(text('The operator who did it, or who proposed it.')),
  approved_by: orNull(text('The operator who approved it, where it waited for a second one.')),
  registry: orNull(text('Namespace.')),
  operation: TextOrNull,
  note: orNull(text("An operator's command.")),
  correlation_id: TextOrNull,
  purpose: TextOrNull,
  basis: TextOrNull,
  consent: orNull(
    closed({ form: oneOf(['asserted', 'signed']), jti: Type.Optional(Type.String()), authority: Type.Optional(Type.String()) }),
  ),
  emergency: flag('Whether the emergency part of the grant was used.'),
  grant: orNull(wholeNumber('Version of the grant.')),
  outcomes: Type.Record(Type.String(), Type.Integer(), { description: 'Items by how they ended.' }),
  records: wholeNumber('Records that left.'),
  shown: Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'By record type, the paths of the values that left.',
  }),
  count: wholeNumber('Equal refusals that share the entry, or deliveries of an act on the partner page; else 1.'),
} as const

/** The members that are stored encrypted in the audit log: they may name who works with the data, or a person. */
export const CONFIDENTIAL_MEMBERS = {
  requested_by: Type.Optional(markPersonal(text('The user whom the participant named.'))),
  case: Type.Optional(markPersonal(text('The case that the participant named.'))),
  reason: Type.Optional(markPersonal(text('The reason of an emergency.'))),
} as const

/** Returns an audit entry as admin functions show it. `AUDIT_ENTRY_MEMBERS` has the schemas of its members. */
export const entryFacts = ({ chain, sequence, at, entry }: LoggedEntry) => ({
  id: `${chain}.${sequence}`,
  at: isoTime(at),
  kind: entry.kind,
  participant: entry.participant,
  operator: entry.operator,
  approved_by: entry.approved_by ?? null,
  registry: entry.registry,
  operation: entry.operation,
  note: entry.note ?? null,
  correlation_id: entry.correlation_id,
  purpose: entry.purpose,
  basis: entry.basis,
  consent: entry.consent,
  emergency: entry.emergency ?? false,
  grant: entry.grant,
  outcomes: entry.outcomes,
  records: entry.records,
  shown: entry.shown,
  count: entry.count ?? 1,
})

export type EntryFacts = ReturnType<typeof entryFacts>

/** Loads the keys of the audit log. */
export const auditKeysOf = async ({ db, vault }: HasVault): Promise<AuditKeys> => loadAuditKeys(db, await vault())

/** Decrypts the confidential members of an entry; an empty object when it has none, or they cannot be decrypted. */
export function confidentialFacts(keys: AuditKeys, logged: LoggedEntry) {
  const { sealed } = logged.entry
  const details = sealed === undefined ? null : decryptConfidentialDetails(keys.confidential, logged, sealed)
  const { requested_by, case: named, reason } = details ?? {}
  return {
    ...(requested_by !== undefined && { requested_by }),
    ...(named !== undefined && { case: named }),
    ...(reason !== undefined && { reason }),
  }
}

interface GivenPeriod {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Reads the times `from` and `to` of a period; a missing one stays undefined. @throws AdminRefusal `to` is not after `from` */
export function readPeriod({ from, to }: GivenPeriod): Period {
  const period = { from: from === undefined ? undefined : dateOf(from), to: to === undefined ? undefined : dateOf(to) }
  if (period.from && period.to && period.to <= period.from) throw new AdminRefusal('to: must be later than from')
  return period
}

/** Reads an entry's place in the audit log, a chain and a number, from its id. @throws AdminRefusal it is no such id */
export function entryPlaceOf(id: string, member = 'id'): Pick<LoggedEntry, 'chain' | 'sequence'> {
  const [, chain, sequence] = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9]\d{0,14})$/.exec(id) ?? []
  if (chain === undefined || sequence === undefined) {
    throw new AdminRefusal(`${member}: must be that of an entry, a chain and a number with a dot between them`)
  }
  return { chain, sequence: Number(sequence) }
}

/** The limit of how many entries of the audit log one call may search. No limit when `limits` is absent. */
export interface HasSearchedEntriesLimit {
  readonly limits?: Pick<Limits, 'searched_entries'>
}

/**
 * Returns the entry `before`: the page begins with the next older entry. Undefined for the first page.
 * @throws AdminRefusal `before` is not the id of an entry, or the entry is not stored any more
 */
export async function requireEntryBeforePage({ pool }: HasVault['db'], before: string | undefined) {
  if (before === undefined) return undefined
  const logged = await findEntryAt({ pool }, entryPlaceOf(before, 'before'))
  if (logged !== null) return logged
  throw new AdminRefusal('before: the entry is not stored any more; begin with the first page', { reason: 'not_found' })
}
