/**
 * Makes the audit entry of a message from the message itself: its records are `Disclosed` and have the persons whose
 * data they show. So no operation has to note which records it discloses.
 */

import {
  type AuditEntry,
  type AuditedMessage,
  type AuditedPerson,
  type AuditLog,
  type ConfidentialAuditDetails,
  identifierKey,
} from '@rollcall/core/model/audit-entry'
import { messageIdKey } from '@rollcall/core/model/exchange'
import { DEMANDED_META_MEMBERS, type Grant } from '@rollcall/core/model/grant'
import { type AuditedItem, type AuditedOutcome, Disclosed, type ReplyMembers } from '@rollcall/core/model/outcome'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { IncomingHeader, Operation } from '@rollcall/protocol'

/** An entry and the persons it is about. */
export type EntryWithPersons = Parameters<AuditLog['write']>

/** An entry without facts, in which nothing was disclosed. Other entries start from it. */
export const EMPTY_ENTRY: Omit<AuditEntry, 'kind'> = {
  participant: null,
  operator: null,
  registry: null,
  operation: null,
  correlation_id: null,
  transaction_id: null,
  request: null,
  reply: null,
  grant: null,
  basis: null,
  purpose: null,
  consent: null,
  outcomes: {},
  records: 0,
  asked: { record_types: [], forms: [], attributes: [] },
  shown: {},
}

/** The exchange that an audit entry describes: who gets the answer, and to which request. */
export interface AuditedExchange {
  readonly participant: Pick<Participant, 'sender_id'>
  readonly registry: Pick<Registry, 'namespace'>
  readonly operation: Pick<Operation, 'name'>
  readonly correlation_id: string
  /** The grant that was used; null when the answer says that the registry failed. */
  readonly grant: Pick<Grant, 'id' | 'terms'> | null
  readonly header: Pick<IncomingHeader, 'meta'> | null
}

/** Makes the audit entry of a request that is answered later, or will change something: nothing is disclosed yet. */
export function auditEntryOfAccepted(
  { participant, registry, operation, correlation_id, grant, header }: AuditedExchange,
  transaction_id: string,
  messages: Pick<AuditEntry, 'request' | 'reply'>,
): EntryWithPersons {
  const confidential = header === null ? {} : confidentialDetailsInHeader(header)
  const entry: AuditEntry = {
    ...EMPTY_ENTRY,
    kind: 'acknowledgement',
    participant: participant.sender_id,
    registry: registry.namespace,
    operation: operation.name,
    correlation_id,
    transaction_id,
    ...messages,
    grant: grant?.id ?? null,
    basis: grant?.terms.basis ?? null,
    ...(Object.keys(confidential).length > 0 && { confidential }),
  }
  return [entry, []]
}

/** Makes the audit entry of a notification. @param named the persons whom its header names */
export function auditEntryOfNotification(
  {
    participant,
    registry,
    grant,
  }: Pick<AuditedExchange, 'participant' | 'registry'> & { readonly grant: Pick<Grant, 'id' | 'terms'> },
  message: ReplyMembers,
  items: number,
  named: readonly AuditedPerson[],
  reply: AuditedMessage,
): EntryWithPersons {
  const records = disclosedRecordsIn(message)
  const { transaction_id } = message
  const entry: AuditEntry = {
    ...EMPTY_ENTRY,
    kind: 'notification',
    participant: participant.sender_id,
    registry: registry.namespace,
    operation: 'notify',
    transaction_id: typeof transaction_id === 'string' ? transaction_id : null,
    reply,
    grant: grant.id,
    basis: grant.terms.basis,
    outcomes: { succ: items },
    ...shownPathsOf(records),
  }
  return [entry, [...personsToAudit(records), ...named]]
}

/** Makes a second entry: it says that an answer, acknowledgement or callback, of which an entry was written, was never sent. */
export function auditEntryOfUnsentMessage([
  { participant, registry, operation, correlation_id, transaction_id, reply },
]: EntryWithPersons): EntryWithPersons {
  const names = { participant, registry, operation, correlation_id, transaction_id, reply }
  return [{ ...EMPTY_ENTRY, ...names, kind: 'unsent', note: 'not sent' }, []]
}

/** Makes the audit entry of an answer. @param messages the request, if it is still known, and the reply as sent */
export function auditEntryOfAnswer(
  kind: 'answer' | 'callback',
  { participant, registry, operation, correlation_id, grant, header }: AuditedExchange,
  transaction_id: string,
  { members, audited, repeats }: AuditedOutcome,
  messages: Pick<AuditEntry, 'request' | 'reply'>,
): EntryWithPersons {
  const records = disclosedRecordsIn(members)
  const reasons = distinctItemValues(audited, ({ emergency }) => emergency)
  const [consent = null] = audited.flatMap((item) => item.consent ?? [])
  const purposes = distinctItemValues(audited, ({ purpose }) => purpose)
  const confidential = {
    ...(header !== null && confidentialDetailsInHeader(header)),
    ...(reasons.length > 0 && { reason: reasons.join('\n') }),
  }
  const entry: AuditEntry = {
    kind,
    participant: participant.sender_id,
    operator: null,
    registry: registry.namespace,
    operation: operation.name,
    correlation_id,
    transaction_id,
    ...messages,
    grant: grant?.id ?? null,
    basis: grant?.terms.basis ?? null,
    purpose: purposes.length === 0 ? null : purposes.join(', '),
    consent,
    ...(reasons.length > 0 && { emergency: true as const }),
    outcomes: countOutcomes(audited),
    asked: {
      record_types: distinctItemValues(audited, ({ record_type }) => record_type),
      forms: distinctItemValues(audited, ({ form }) => form),
      attributes: [...new Set(audited.flatMap(({ attributes = [] }) => attributes))].toSorted(),
    },
    ...shownPathsOf(records, audited),
    ...(repeats !== undefined && { repeats }),
    ...(Object.keys(confidential).length > 0 && { confidential }),
  }
  return [entry, personsToAudit(records, audited)]
}

function distinctItemValues(items: readonly AuditedItem[], read: (item: AuditedItem) => string | undefined): readonly string[] {
  const found = new Set<string>()
  for (const item of items) {
    const value = read(item)
    if (value !== undefined) found.add(value)
  }
  return [...found].sort()
}

function countOutcomes(items: readonly AuditedItem[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of items) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** Finds every disclosed record in the members of a reply or notification, at any depth. */
export function disclosedRecordsIn(members: ReplyMembers[string]): readonly Disclosed[] {
  if (typeof members !== 'object' || members === null) return []
  if (members instanceof Disclosed) return [members]
  return Object.values(members).flatMap((member: ReplyMembers[string]) => disclosedRecordsIn(member))
}

/**
 * Counts the records, and lists by record type the paths of their values. An attribute about which an item was answered without
 * the record, such as by yes or no, is listed too.
 */
export function shownPathsOf(
  records: readonly Disclosed[],
  items: readonly AuditedItem[] = [],
): Pick<AuditEntry, 'records' | 'shown'> {
  const [one] = records
  if (one === undefined || records.length > 1 || items.some(({ told }) => told !== undefined))
    return { records: records.length, shown: collectShownPaths(records, items) }
  const { record_type, paths } = one.audited
  const known = shownMemberByPaths.get(paths)
  if (known?.record_type === record_type) return { records: 1, shown: known.shown }
  const shown = collectShownPaths(records, items)
  shownMemberByPaths.set(paths, { record_type, shown })
  return { records: 1, shown }
}

/** The `shown` of entries with one record, by the record's array of paths. Entries share it, so that its text is made once. */
const shownMemberByPaths = new WeakMap<readonly string[], { readonly record_type: string; readonly shown: AuditEntry['shown'] }>()

function collectShownPaths(records: readonly Disclosed[], items: readonly AuditedItem[]): AuditEntry['shown'] {
  const shown = new Map<string, Set<string>>()
  const add = (recordType: string, paths: readonly string[]): void => {
    const known = shown.get(recordType) ?? new Set()
    shown.set(recordType, known)
    for (const path of paths) known.add(path)
  }
  for (const { audited } of records) add(audited.record_type, audited.paths)
  for (const { record_type, told } of items) if (record_type !== undefined && told !== undefined) add(record_type, [told])
  return Object.fromEntries([...shown].map(([name, paths]) => [name, [...paths].toSorted()]))
}

/**
 * The persons whose data is disclosed, then the other persons about whom the items asked, then those whose data the
 * items have written.
 */
export function personsToAudit(records: readonly Disclosed[], items: readonly AuditedItem[] = []): readonly AuditedPerson[] {
  const shown = records.flatMap(({ audited }) => audited.persons)
  const named = items.flatMap(({ persons = [] }) => persons)
  const { seen = [], asked = [], written = [] } = Object.groupBy(named, ({ role }) => role)
  const known = [...shown, ...omitRepeatedIdentifiers(seen, shown)]
  return [...known, ...omitRepeatedIdentifiers(asked, known), ...omitRepeatedIdentifiers(written, [])]
}

/** Removes from each person the identifiers of known persons. A person without any other identifier is left out. */
function omitRepeatedIdentifiers(persons: readonly AuditedPerson[], known: readonly AuditedPerson[]): readonly AuditedPerson[] {
  if (persons.length === 0) return persons
  const keys = new Set(known.flatMap(({ identifiers }) => identifiers.map(identifierKey)))
  return persons.flatMap(({ role, identifiers }) => {
    const rest = identifiers.filter((one) => !keys.has(identifierKey(one)))
    return rest.length === 0 ? [] : [{ role, identifiers: rest }]
  })
}

/** The most characters of one confidential detail; a longer text is not stored. */
export const MOST_DETAIL_CHARACTERS = 255

/** The confidential details in a header: the person who asks, and the case for which it is asked (`DEMANDED_META_MEMBERS`). */
export function confidentialDetailsInHeader({ meta }: Pick<IncomingHeader, 'meta'>): ConfidentialAuditDetails {
  const said = DEMANDED_META_MEMBERS.flatMap((name) => {
    const value = meta?.[name]
    return canBeConfidentialDetail(value) ? [[name, value] as const] : []
  })
  return Object.fromEntries(said)
}

/** True when a value can be a confidential detail: a text of 1 to `MOST_DETAIL_CHARACTERS` characters. */
export const canBeConfidentialDetail = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= 1 && value.length <= MOST_DETAIL_CHARACTERS

/**
 * The parts of an entry that describe a message.
 * @param digest SHA-256 of the message, in hexadecimal
 * @param signature null when the message is not signed
 */
export const makeAuditedMessage = (
  message_id: string | null,
  digest: string,
  signature: { readonly kid: string | null; readonly value: string } | null,
): AuditedMessage => ({
  message_id: message_id === null ? null : messageIdKey(message_id),
  digest,
  kid: signature?.kid ?? null,
  signature: signature?.value ?? null,
})
