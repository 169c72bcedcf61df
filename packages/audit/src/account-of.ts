/**
 * The audit entry of what is sent, read from the message itself: its records are `Disclosed`, and know whose data they
 * show. So no operation has to remember it.
 */

import {
  type AccountEntry,
  type AccountedMessage,
  type AccountedPerson,
  type Accounts,
  type ConfidentialDetails,
  identifierKey,
  type PersonRole,
} from '@rollcall/core/model/account'
import { DEMANDS, type Grant } from '@rollcall/core/model/grant'
import { messageKey } from '@rollcall/core/model/message-key'
import { type AccountedItem, type AccountedOutcome, Disclosed, type ReplyMembers } from '@rollcall/core/model/outcome'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { IncomingHeader, Operation } from '@rollcall/protocol'

/** An entry and the persons it is about. */
export type Account = Parameters<Accounts['write']>

/** An entry in which nothing is known and nothing was disclosed. */
export const EMPTY_ENTRY: Omit<AccountEntry, 'kind'> = {
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

/** The exchange of an audit entry: whom the answer goes to, and about which message. */
export interface AccountedExchange {
  readonly participant: Pick<Participant, 'sender_id'>
  readonly registry: Pick<Registry, 'namespace'>
  readonly operation: Pick<Operation, 'name'>
  readonly correlation_id: string
  /** Null when the answer says that the registry failed. */
  readonly grant: Pick<Grant, 'id' | 'terms'> | null
  readonly header: Pick<IncomingHeader, 'meta'> | null
}

/** The audit entry of a request that is answered later, or is about to change something: nothing is disclosed yet. */
export function accountOfAccepted(
  { participant, registry, operation, correlation_id, grant, header }: AccountedExchange,
  transaction_id: string,
  messages: Pick<AccountEntry, 'request' | 'reply'>,
): Account {
  const confidential = header === null ? {} : detailsIn(header)
  const entry: AccountEntry = {
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

/** The account of a notification. @param named in the header */
export function accountOfEnvelope(
  {
    participant,
    registry,
    grant,
  }: Pick<AccountedExchange, 'participant' | 'registry'> & { readonly grant: Pick<Grant, 'id' | 'terms'> },
  message: ReplyMembers,
  items: number,
  named: readonly AccountedPerson[],
  reply: AccountedMessage,
): Account {
  const records = disclosedIn(message)
  const { transaction_id } = message
  const entry: AccountEntry = {
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
    ...shownBy(records),
  }
  return [entry, [...personsOf(records), ...named]]
}

/** The second entry of a callback or notification whose transaction failed after the first one: it was not sent. */
export function accountOfUnsent([
  { participant, registry, operation, correlation_id, transaction_id, reply },
]: Account): Account {
  const names = { participant, registry, operation, correlation_id, transaction_id, reply }
  return [{ ...EMPTY_ENTRY, ...names, kind: 'unsent', note: 'not sent' }, []]
}

/** @param messages the request, where it is at hand, and the reply as it is sent */
export function accountOf(
  kind: 'answer' | 'callback',
  { participant, registry, operation, correlation_id, grant, header }: AccountedExchange,
  transaction_id: string,
  { members, accounted, repeats }: AccountedOutcome,
  messages: Pick<AccountEntry, 'request' | 'reply'>,
): Account {
  const records = disclosedIn(members)
  const reasons = distinct(accounted, ({ emergency }) => emergency)
  const [consent = null] = accounted.flatMap((item) => item.consent ?? [])
  const purposes = distinct(accounted, ({ purpose }) => purpose)
  const confidential = {
    ...(header !== null && detailsIn(header)),
    ...(reasons.length > 0 && { reason: reasons.join('\n') }),
  }
  const entry: AccountEntry = {
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
    outcomes: countsOf(accounted),
    asked: {
      record_types: distinct(accounted, ({ record_type }) => record_type),
      forms: distinct(accounted, ({ form }) => form),
      attributes: [...new Set(accounted.flatMap(({ attributes = [] }) => attributes))].toSorted(),
    },
    ...shownBy(records, accounted),
    ...(repeats !== undefined && { repeats }),
    ...(Object.keys(confidential).length > 0 && { confidential }),
  }
  return [entry, personsOf(records, accounted)]
}

const distinct = (
  items: readonly AccountedItem[],
  read: (item: AccountedItem) => string | undefined,
): readonly string[] => [...new Set(items.flatMap((item) => read(item) ?? []))].toSorted()

function countsOf(items: readonly AccountedItem[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of items) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

/** Every record in the members of a message. */
export function disclosedIn(members: ReplyMembers[string]): readonly Disclosed[] {
  if (typeof members !== 'object' || members === null) return []
  if (members instanceof Disclosed) return [members]
  return Object.values(members).flatMap((member: ReplyMembers[string]) => disclosedIn(member))
}

/** The number of records, and the paths of their values and of what was disclosed without a record. */
export function shownBy(
  records: readonly Disclosed[],
  items: readonly AccountedItem[] = [],
): Pick<AccountEntry, 'records' | 'shown'> {
  const [one] = records
  if (one === undefined || records.length > 1 || items.some(({ told }) => told !== undefined))
    return { records: records.length, shown: readShown(records, items) }
  const { record_type, paths } = one.accounted
  const known = knownShown.get(paths)
  if (known?.record_type === record_type) return { records: 1, shown: known.shown }
  const shown = readShown(records, items)
  knownShown.set(paths, { record_type, shown })
  return { records: 1, shown }
}

/** `shown` of single records, by their paths. Equal lists are one object; its text is made once (`shapes.ts`). */
const knownShown = new WeakMap<
  readonly string[],
  { readonly record_type: string; readonly shown: AccountEntry['shown'] }
>()

function readShown(records: readonly Disclosed[], items: readonly AccountedItem[]): AccountEntry['shown'] {
  const shown = new Map<string, Set<string>>()
  const add = (recordType: string, paths: readonly string[]): void => {
    const known = shown.get(recordType) ?? new Set()
    shown.set(recordType, known)
    for (const path of paths) known.add(path)
  }
  for (const { accounted } of records) add(accounted.record_type, accounted.paths)
  for (const { record_type, told } of items)
    if (record_type !== undefined && told !== undefined) add(record_type, [told])
  return Object.fromEntries([...shown].map(([name, paths]) => [name, [...paths].toSorted()]))
}

/** The persons whose data is disclosed, and the others who were named. */
export function personsOf(
  records: readonly Disclosed[],
  items: readonly AccountedItem[] = [],
): readonly AccountedPerson[] {
  const shown = records.flatMap(({ accounted }) => accounted.persons)
  const named = items.flatMap(({ persons = [] }) => persons)
  const inRole = (wanted: PersonRole) => named.filter(({ role }) => role === wanted)
  const seen = [...shown, ...withoutKnown(inRole('seen'), shown)]
  return [...seen, ...withoutKnown(inRole('asked'), seen), ...withoutKnown(inRole('written'), [])]
}

/** The persons with the identifiers that no known person has; one without any is left out. */
function withoutKnown(
  persons: readonly AccountedPerson[],
  known: readonly AccountedPerson[],
): readonly AccountedPerson[] {
  const keys = new Set(known.flatMap(({ identifiers }) => identifiers.map(identifierKey)))
  return persons.flatMap(({ role, identifiers }) => {
    const rest = identifiers.filter((one) => !keys.has(identifierKey(one)))
    return rest.length === 0 ? [] : [{ role, identifiers: rest }]
  })
}

/** Characters of each. */
export const LONGEST_DETAIL = 255

/** The header's details about the person who asks, and the reason. */
export function detailsIn({ meta }: Pick<IncomingHeader, 'meta'>): ConfidentialDetails {
  const said = DEMANDS.flatMap((name) => {
    const value = meta?.[name]
    return isDetail(value) ? [[name, value] as const] : []
  })
  return Object.fromEntries(said)
}

export const isDetail = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= 1 && value.length <= LONGEST_DETAIL

/**
 * @param digest SHA-256 of the message, in hexadecimal
 * @param signature null when the message is not signed
 */
export const accountedMessage = (
  message_id: string | null,
  digest: string,
  signature: { readonly kid: string | null; readonly value: string } | null,
): AccountedMessage => ({
  message_id: message_id === null ? null : messageKey(message_id),
  digest,
  kid: signature?.kid ?? null,
  signature: signature?.value ?? null,
})
