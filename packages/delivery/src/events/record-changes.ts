/**
 * Turns changes of records into events, and events into notifications, in the transaction that changes the records. So
 * no event is lost, and none is recorded twice.
 */

import { type DerivedEvent, deriveEvents, RecordState, type StatesBeforeAndAfter } from '@rollcall/core/events/derive'
import { recordWithOwnIdentifiersOnly } from '@rollcall/core/events/own-identifiers'
import { recordTextForEvent } from '@rollcall/core/events/shown'
import type { RecordChange } from '@rollcall/core/model/event'
import { type Protection, withoutProtectedPersons } from '@rollcall/core/model/protection'
import type { Registry } from '@rollcall/core/model/registry'
import {
  canonicalJson,
  dayIn,
  type JsonObject,
  type Kind,
  type RecordType,
  readIdentifiers,
  resolveRecordType,
} from '@rollcall/protocol'
import { parseWithoutProtectedPersons, readProtection } from '@rollcall/records/records/protection'
import type { ClientBase } from 'pg'
import { insertEvents, insertNotifications, storeEventDocuments, takeEventIdsAndVersions } from '../store/events/events.ts'
import { endNotifiedPersonSubscriptions, suspendSubscriptions } from '../store/events/subscription-states.ts'
import { notifyOfCorrection } from './corrections.ts'
import { NotificationDueTimes } from './due-times.ts'
import { matchEvents } from './match.ts'
import {
  type DraftEvent,
  type EventOfChange,
  type EventRecordingResult,
  type RecordingDeps,
  recordedEventTypeOf,
  recordingTimeOf,
} from './recording.ts'
import { matchesAsSeenBySubscribers, type SubscriberVisibleMatchFinder } from './seen-before.ts'
import { createEventVisibilityFilter, isOnlyHiddenChange, parseNullableJson } from './visibility-filter.ts'

/**
 * Records the events of changed records, and puts notifications into the mailboxes of subscribers. It runs in the transaction of
 * the changes, which must have called `lockRegistryFor` with `change` or `exclusive change` before it locked a record.
 * @param named the event to record for each change. Absent: the rules of the record type decide, and a record that was written
 * unchanged has no event
 */
export async function recordChanges(
  client: ClientBase,
  recording: RecordingDeps,
  changes: readonly RecordChange[],
  named?: EventOfChange,
): Promise<readonly EventRecordingResult[]> {
  const protection = await readProtection(client, recording.registry.id)
  const drafts = await recordEvents(client, recording, protection, changes, named)
  if (drafts.length === 0) return []
  // The number of notified subscriptions by event: `queueNotifications` and `notifyOfCorrection` fill it.
  const matched = new Map<number, number>()
  const times = new NotificationDueTimes(recording.registry, recording.now)
  const checked = { recording, protection, derived: named === undefined }
  // This filter keeps subscribers that may see the change. It is used after matching, and again for corrections.
  const permitted = await createEventVisibilityFilter(client, checked, drafts)
  const seenBy: SubscriberVisibleMatchFinder = async (all, eventOf) =>
    matchesAsSeenBySubscribers(client, recording, protection, await permitted(all, eventOf), eventOf)
  await queueNotifications(client, recording, drafts, seenBy, matched, times)
  for (const draft of drafts) await notifyOfCorrection(client, recording, draft, permitted, matched, times)
  await storeNotificationDocuments(client, recording, drafts, matched)
  // Last, because the notifications that were inserted above say which subscriptions end. These notifications are still sent.
  const ending = drafts.filter((draft) => isSubscriptionEndingEvent(recording, draft)).map(({ id }) => id)
  if (ending.length > 0) await endNotifiedPersonSubscriptions(client, ending, 'death', recording.now)
  return drafts.map(({ id, event }) => ({ id, event_type: recordedEventTypeOf(event), matched: matched.get(id) ?? 0 }))
}

async function recordEvents(
  client: ClientBase,
  recording: RecordingDeps,
  protection: Protection,
  changes: readonly RecordChange[],
  named: EventOfChange | undefined,
): Promise<readonly DraftEvent[]> {
  const { registry } = recording
  const own = changes.flatMap((change) => {
    if (named === undefined && change.before === change.after) return []
    const read = readRecordChange(registry, protection, change)
    if (named === undefined && isOfHiddenPersonsOnly(protection, read)) return []
    const events: readonly EventOfChange[] = named === undefined ? deriveChangeEvents(recording, read.recordType, read) : [named]
    return events.length === 0 ? [] : [{ ...read, events }]
  })
  const found = [...own, ...(await findEventsOfRelatedRecords(client, recording, protection, own))]
  const count = found.reduce((sum, { events }) => sum + events.length, 0)
  if (count === 0) return []
  const recorded_at = recordingTimeOf(recording)
  const changed = found.map(({ change, recordType, before, after }) => {
    return {
      ...change,
      new_identifier: before === null && after ? findPrimaryIdentifier(registry.kind, recordType, after) : null,
    }
  })
  const numbers = await takeEventIdsAndVersions(client, registry.id, { events: count, changes: changed, began: recorded_at })
  const ids = numbers.ids.values()
  const drafts = found.flatMap(({ events, ...change }, at) =>
    events.map((event) => {
      return { id: ids.next().value ?? 0, record_version: numbers.versions[at] ?? 0, event, ...change }
    }),
  )
  await insertEvents(
    client,
    registry.id,
    drafts.map(({ id, record_version, event, change: { record, record_type } }) => {
      const { event_id, fingerprint, replaced_by, occurred_at = recorded_at } = event
      const published = { ...(event_id !== undefined && { event_id }), ...(fingerprint && { fingerprint }) }
      const times = { occurred_at, recorded_at }
      return {
        id,
        event_type: recordedEventTypeOf(event),
        record_type,
        record,
        record_version,
        ...times,
        ...published,
        ...(replaced_by && { replaced_by }),
      }
    }),
  )
  return drafts
}

const findPrimaryIdentifier = (kind: Kind, recordType: RecordType, { document }: Pick<RecordState, 'document'>): string | null =>
  readIdentifiers(kind, recordType, document).find(
    ({ type, names }) => type === recordType.primary_identifier && names === 'record',
  )?.value ?? null

/** A change of a record, with the events that this change makes. */
interface ChangeWithEvents extends StatesBeforeAndAfter {
  readonly change: RecordChange
  readonly recordType: RecordType
  readonly events: readonly EventOfChange[]
}

/** Reads the record before and after the change, without protected persons whom it names: filters must not see their data. */
function readRecordChange(registry: Registry, protection: Protection, change: RecordChange): Omit<ChangeWithEvents, 'events'> {
  const { kind } = registry
  const recordType = requireRecordTypeNamed(kind, change.record_type)
  const readState = (text: string | null, parsed?: JsonObject): RecordState | null => {
    if (text === null) return null
    const document = parsed
      ? withoutProtectedPersons(kind, recordType, protection, parsed).document
      : parseWithoutProtectedPersons(registry, recordType, protection, text)
    return new RecordState(kind, recordType, document, change.aliases)
  }
  const { before, after, parsed } = change
  return { change, recordType, before: readState(before, parsed?.before), after: readState(after, parsed?.after) }
}

/**
 * True when a change touches only data of protected persons whom the record names. Such a change makes no event. Without this
 * test, a rule that applies when no other rule does (`EventRule.otherwise`) would make an event such as UPDATE.
 */
const isOfHiddenPersonsOnly = (protection: Protection, { change, before, after }: Omit<ChangeWithEvents, 'events'>): boolean =>
  protection.byIdentifier.size > 0 &&
  isOnlyHiddenChange(
    [parseNullableJson(change.before), parseNullableJson(change.after)],
    [before?.document ?? null, after?.document ?? null],
  )

function requireRecordTypeNamed(kind: Kind, name: string): RecordType {
  const recordType = resolveRecordType(kind, name)
  if (recordType === undefined) throw new Error(`the kind has no record type ${name}`)
  return recordType
}

/** Finds the events that changes make about other records, which the changed records name: for a named record each type once. */
async function findEventsOfRelatedRecords(
  client: ClientBase,
  { registry, records }: RecordingDeps,
  protection: Protection,
  found: readonly ChangeWithEvents[],
): Promise<readonly ChangeWithEvents[]> {
  const all: ChangeWithEvents[] = []
  const known = new Set<string>()
  for (const { event_type, also_of } of found.flatMap(({ events }) => events)) {
    if (also_of === undefined) continue
    const { record_type, identifiers } = also_of
    const recordType = requireRecordTypeNamed(registry.kind, record_type)
    const named = await records.within(client).named(registry, recordType, identifiers)
    for (const { id, document, aliases } of named) {
      const name = `${event_type} ${record_type} ${id}`
      if (known.has(name)) continue
      known.add(name)
      const change = { record_type, record: id, before: document, after: document, aliases }
      all.push({ ...readRecordChange(registry, protection, change), events: [{ event_type }] })
    }
  }
  return all
}

function deriveChangeEvents(
  { registry: { kind, time_zone }, now, limits: { birth_span } }: RecordingDeps,
  recordType: RecordType,
  change: StatesBeforeAndAfter,
): readonly DerivedEvent[] {
  return deriveEvents({ kind, recordType, time_zone, now, birth_span }, change)
}

/**
 * Finds the subscribers of new events, and queues their notifications. Events that correct others are left out:
 * `notifyOfCorrection` queues theirs. A subscription whose filter cannot be read is suspended.
 */
async function queueNotifications(
  client: ClientBase,
  { registry, now, filters }: RecordingDeps,
  drafts: readonly DraftEvent[],
  seenBy: SubscriberVisibleMatchFinder,
  matched: Map<number, number>,
  times: NotificationDueTimes,
): Promise<void> {
  const events = drafts.filter(({ event }) => event.correction_type === undefined)
  const matching = { registry, day: dayIn(registry.time_zone, now.getTime()), compiled: filters }
  const asked = events.map(({ event: { event_type }, recordType, before, after }) => {
    return {
      event_type,
      recordType,
      // With many events, values are extracted only for types to which somebody has subscribed.
      get before() {
        return before?.extracted ?? null
      },
      get after() {
        return after?.extracted ?? null
      },
    }
  })
  for await (const { matches: all, unreadable } of matchEvents(client, matching, asked)) {
    const matches = await seenBy(all, ({ at }) => events[at])
    const due = await times.of(
      client,
      matches.map(({ subscription }) => subscription),
    )
    const notifications = matches.flatMap(({ at, subscription, presence }) => {
      const event = events[at]?.id
      if (event === undefined) return []
      const due_at = due.get(subscription)
      // Null: the frequency has ended. Undefined: the subscription has none, and the notification is due at once.
      if (due_at === null) return []
      matched.set(event, (matched.get(event) ?? 0) + 1)
      return { event, subscription, presence, purpose: 'event' as const, ...(due_at && { due_at }) }
    })
    await insertNotifications(client, notifications)
    await suspendSubscriptions(client, unreadable, 'unreadable')
  }
}

/** Stores the documents that notifications of the events will show. */
async function storeNotificationDocuments(
  client: ClientBase,
  { registry: { kind } }: RecordingDeps,
  drafts: readonly DraftEvent[],
  matched: ReadonlyMap<number, number>,
): Promise<void> {
  const shown = drafts.flatMap(({ id, change, recordType, before, after }) => {
    const count = matched.get(id) ?? 0
    if (count === 0) return []
    const identifiers = recordWithOwnIdentifiersOnly(kind, recordType, (after ?? before)?.document ?? {})
    const document =
      after === null || change.after === null
        ? change.before
        : recordTextForEvent(recordType, parseNullableJson(change.before), parseNullableJson(change.after), change.after)
    return { event: id, matched: count, document, identifiers: canonicalJson(identifiers) }
  })
  await storeEventDocuments(client, shown)
}

function isSubscriptionEndingEvent({ registry: { kind } }: RecordingDeps, { event }: DraftEvent): boolean {
  return kind.event_types.some(
    ({ name, ends_subscriptions }) =>
      ends_subscriptions === true && name === event.event_type && event.correction_type === undefined,
  )
}
