/** Composes the next envelope of a mailbox (spec "NotifyEventRequest", D6; public standard 3.2, 3). */
import { randomUUID } from 'node:crypto'
import { type Clock, currentTimestamp, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { recordFromIdentifiers } from '@rollcall/core/events/own-identifiers'
import { makeNotifiedRecordConverter } from '@rollcall/core/events/shown'
import type { AuditedPerson } from '@rollcall/core/model/audit-entry'
import { type Grant, isNameGranted } from '@rollcall/core/model/grant'
import type { Disclosed, ReplyMembers } from '@rollcall/core/model/outcome'
import type { Participant } from '@rollcall/core/model/participant'
import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { consentCoverage } from '@rollcall/core/policy/consent-coverage'
import { discloseRecords } from '@rollcall/core/policy/disclosure'
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import {
  type CallbackHeader,
  canonicalJson,
  type JsonObject,
  type Kind,
  type NotifyMeta,
  PROTOCOL_VERSION,
  REG_TYPE_PREFIX,
  type RecordType,
  readIdentifiers,
} from '@rollcall/protocol'
import type { NotificationInEnvelope } from '../store/events/envelopes.ts'
import type { EventDocument, WaitingNotification } from '../store/events/waiting.ts'
import { envelopeMarkingOf, type PlannedItem } from './group-items.ts'

/** An item of the envelope, with the stored document of its event. */
export interface ItemWithDocument extends PlannedItem {
  readonly shown: EventDocument
}

/** The receiver and the sender of an envelope, its mailbox, and its number in the mailbox. */
export interface EnvelopeContext {
  readonly participant: Participant
  readonly registry: Registry
  readonly grant: Grant
  readonly settings: Pick<CallbackSettings, 'notify_unlisted'>
  /** The public id of the mailbox, as the envelope's `header.meta` has it. */
  readonly mailbox: string
  readonly sequence: number
}

export interface ComposedEnvelope {
  readonly header: Omit<CallbackHeader, 'is_msg_encrypted'> & { readonly message_id: string }
  readonly message: ReplyMembers
  /** True when the message must be encrypted. */
  readonly encrypted: boolean
  readonly notifications: readonly NotificationInEnvelope[]
  /** The number of records in the envelope, also those of which only identifiers are sent. */
  readonly recordCount: number
  /** The persons whom `header.meta` names as the survivors of merges, for the audit entry. */
  readonly named: readonly AuditedPerson[]
}

type WritableNotifyMeta = { -readonly [Member in keyof NotifyMeta]: NotifyMeta[Member] }

/**
 * Makes an object whose member names are codes and ids. The object has no prototype: the JavaScript engine then keeps it as a
 * hash table, and does not remember every set of member names.
 */
const emptyDictionary = <Value>(): Record<string, Value> => Object.create(null)

/** Composes an envelope. @param items at least one; all have the same marking (test, backfill or none) */
export function composeEnvelope(
  to: EnvelopeContext,
  items: readonly ItemWithDocument[],
  clock: Pick<Clock, 'date'> = SYSTEM_CLOCK,
): ComposedEnvelope {
  const { participant, registry, mailbox, sequence } = to
  const marking = items[0] === undefined ? null : envelopeMarkingOf(items[0].notifications[0])
  const meta: WritableNotifyMeta = {
    subscriptions: emptyDictionary(),
    presence: emptyDictionary(),
    record_version: emptyDictionary(),
    occurred_at: emptyDictionary(),
    recorded_at: emptyDictionary(),
    mailbox,
    sequence,
    ...(marking !== null && { [marking]: true }),
  }
  const itemsWithId = items.map((item) => {
    // The reference_id is stored with the notification, so an item that is sent again has the reference_id that it had before.
    const known = item.notifications.find((one) => one.reference_id !== null)
    return { item, reference_id: known?.reference_id ?? randomUUID() }
  })
  const notifications: readonly NotificationInEnvelope[] = itemsWithId.flatMap(({ item, reference_id }) =>
    item.notifications.map(({ id, subscription }) => ({ id, subscription, reference_id })),
  )
  const names = new Map(notifications.map(({ id, reference_id }) => [id, reference_id]))
  const replacing: Identifier[] = []
  const notify_event = itemsWithId.map(({ item, reference_id }) => {
    replacing.push(...writeItemMeta(to, meta, reference_id, item, names))
    return composeItem(to, reference_id, item)
  })
  return {
    header: {
      version: PROTOCOL_VERSION,
      message_id: randomUUID(),
      message_ts: currentTimestamp(clock),
      action: 'notify',
      status: 'succ',
      total_count: items.length,
      completed_count: items.length,
      sender_id: registry.sender_id,
      receiver_id: participant.sender_id,
      meta,
    },
    message: { transaction_id: randomUUID(), notify_event },
    encrypted: items.some((item) => item.notifications.some(({ encrypted }) => encrypted)),
    notifications,
    recordCount: items.length,
    named: replacing.map((identifier) => ({ role: 'seen', identifiers: [identifier] })),
  }
}

/**
 * Writes facts about an item into `header.meta`, such as its subscriptions, its version, its times and what it corrects.
 * @param names the reference_ids of this envelope, by notification
 * @returns the normalised identifiers of the persons whom these facts name
 */
function writeItemMeta(
  { grant, registry: { kind } }: EnvelopeContext,
  meta: WritableNotifyMeta,
  reference_id: string,
  { notifications }: PlannedItem,
  names: ReadonlyMap<number, string>,
): readonly Identifier[] {
  const [first] = notifications
  meta.subscriptions[reference_id] = notifications.map(({ code }) => code)
  const presences = emptyDictionary<WaitingNotification['presence']>()
  for (const { code, presence } of notifications) presences[code] = presence
  meta.presence[reference_id] = presences
  meta.record_version[reference_id] = first.record_version
  meta.occurred_at[reference_id] = first.occurred_at.toISOString()
  meta.recorded_at[reference_id] = recordedAtText(first)
  const [corrects] = notifications.flatMap(({ corrected_reference_id, corrected_notification: earlier }) => {
    return (earlier === null ? undefined : names.get(earlier)) ?? corrected_reference_id ?? []
  })
  if (corrects) {
    meta.corrects ??= emptyDictionary()
    meta.corrects[reference_id] = corrects
  }
  if (first.replaced_by === null) return []
  const recordType = recordTypeNamed(kind, first.record_type)
  const replacing = recordFromIdentifiers(recordType, [identifierMembers(first.replaced_by)])
  const identifiers = readIdentifiers(kind, recordType, replacing)
  if (!isSurvivorShown(grantUnderConsent(grant, notifications), recordType, replacing, identifiers)) return []
  meta.replaced_by ??= emptyDictionary()
  meta.replaced_by[reference_id] = identifierMembers(first.replaced_by)
  return identifiers.map(({ type, value }) => ({ type, value }))
}

/** True when the grant, without its conditions, shows the survivor of a merge. `record` has only the survivor's identifier. */
function isSurvivorShown(grant: Grant, recordType: RecordType, record: JsonObject, identifiers: readonly Identifier[]): boolean {
  if (!identifiers.every(({ type }) => isNameGranted(grant.identifiers.types, type))) return false
  return [...discloseRecords({ ...grant, rows: new Map() }, recordType, [canonicalJson(record)])].some(
    ({ text }) => text !== '{}',
  )
}

/**
 * The grant without its conditions (`rows`), and without the test whether the record is that of a protected person: planning has
 * checked both already. Hidden persons whom the record names are still removed (`hidden.takesOut`).
 */
const withoutGrantConditions = (grant: Grant): Grant => ({
  ...grant,
  rows: new Map(),
  hidden: { ...grant.hidden, protection: NOBODY_PROTECTED },
})

const identifierMembers = ({ type, value }: Identifier) => ({ identifier_type: type, identifier_value: value })

/**
 * The time at which the event was recorded. But an item of a backfill that corrects no other item has the beginning of the day on
 * which its record was written. A backfill queues records in pages, and each page has one time: from the number of items with the
 * same time, the subscriber could tell how many records of a page are hidden from it.
 */
const recordedAtText = ({ purpose, corrected_notification, ...times }: WaitingNotification): string =>
  (purpose === 'backfill' && corrected_notification === null ? times.occurred_at : times.recorded_at).toISOString()

function composeItem(
  { grant, registry: { kind }, settings }: EnvelopeContext,
  reference_id: string,
  item: ItemWithDocument,
): ReplyMembers {
  const { notifications } = item
  const [first] = notifications
  const recordType = recordTypeNamed(kind, first.record_type)
  const leadNotification = oldestSubscriptionNotification(notifications)
  const reg_event_type = eventName(kind, leadNotification, settings.notify_unlisted)
  const locale = notifications.find((one) => one.locale !== null)?.locale
  return {
    reference_id,
    timestamp: recordedAtText(first),
    data: {
      version: PROTOCOL_VERSION,
      reg_type: leadNotification.asked_reg_type ?? `${REG_TYPE_PREFIX}${kind.reg_type.name}`,
      ...(reg_event_type !== null && { reg_event_type }),
      reg_record_type: leadNotification.asked_record_type ?? recordType.emitted,
      reg_records: disclosedRecordOf(grantUnderConsent(grant, notifications), kind, recordType, item),
    },
    ...(locale && { locale }),
  }
}

/** The notification of the item's oldest subscription. The item spells event type and record type as this subscription did. */
const oldestSubscriptionNotification = ([first, ...others]: PlannedItem['notifications']): WaitingNotification =>
  others.reduce((oldest, one) => (one.subscription < oldest.subscription ? one : oldest), first)

/**
 * The name of the event type in the item.
 * - The kind has no list `notified_event_types`: the name that the subscribe request used. An event of another type than the
 *   subscription, such as a correction, has its canonical name.
 * - The kind has the list: the canonical name; null when it is not listed and the participant accepts only listed names.
 */
function eventName(
  { notified_event_types: listed }: Kind,
  { event_type, subscribed, asked_event_type }: WaitingNotification,
  takesUnlisted: boolean,
): string | null {
  if (listed === undefined) return subscribed === event_type ? (asked_event_type ?? event_type) : event_type
  return takesUnlisted || listed.includes(event_type) ? event_type : null
}

/**
 * The grant under which an item is disclosed: reduced to what the consents of its subscriptions cover. But if one of its
 * subscriptions was made without a consent, the whole grant applies. All consents of an item are from one person.
 */
function grantUnderConsent(grant: Grant, notifications: PlannedItem['notifications']): Grant {
  const consents = notifications.flatMap(({ consent }) => consent ?? [])
  if (consents.length < notifications.length) return grant
  const names = consents.flatMap(({ attributes }) => attributes)
  return { ...grant, coverage: consentCoverage(grant.identifiers.kind, names) }
}

/** The record of an item. Only its identifiers are sent if it was deleted, or no longer fulfils any of the filters. */
function disclosedRecordOf(
  grant: Grant,
  kind: Kind,
  recordType: RecordType,
  { notifications, shown }: ItemWithDocument,
): Disclosed {
  const hasLeft = notifications.every(({ presence }) => presence === 'left')
  const document = hasLeft ? shown.identifiers : (shown.document ?? shown.identifiers)
  const select = makeNotifiedRecordConverter(kind, recordType, { all: envelopeMarkingOf(notifications[0]) !== null }) ?? null
  for (const record of discloseRecords(withoutGrantConditions(grant), recordType, [document], select)) return record
  throw new Error('a record that is not selected from is always disclosed')
}

function recordTypeNamed({ record_types }: Kind, name: string): RecordType {
  const found = record_types.find((recordType) => recordType.name === name)
  if (found === undefined) throw new RangeError(`the kind has no record type ${name}`)
  return found
}
