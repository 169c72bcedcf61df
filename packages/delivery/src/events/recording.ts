/** Types for the recording of events: registry and time of the changes, the event of a change, and the draft of an event. */

import { readStoredCriteria } from '@rollcall/core/events/criteria'
import type { DerivedEvent, StatesBeforeAndAfter } from '@rollcall/core/events/derive'
import type { Limits } from '@rollcall/core/limits'
import type { RecordChange } from '@rollcall/core/model/event'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { oncePerPool } from '@rollcall/database/group-commit'
import type { RecordType } from '@rollcall/protocol'
import type { RegistryRecords } from '@rollcall/records/records/registry-records'
import { CompiledFilterCache } from './match.ts'

/** The registry and the time of the changes, with the records, limits and filters for recording their events. */
export interface RecordingDeps {
  readonly registry: Registry
  readonly records: Pick<RegistryRecords, 'within'>
  readonly now: Date
  /** The time at which an import began, or other work that makes changes in several transactions. Default: `now`. */
  readonly began?: Date
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time'>
  /** The filters of subscriptions that this node has read from the database of the registry (`compiledFiltersOf`). */
  readonly filters: CompiledFilterCache
}

/**
 * The event of a change. The caller of `recordChanges` names it for a published event or a merge: the rules of the
 * record type are then not applied.
 */
export interface EventOfChange extends DerivedEvent {
  /** A correction names the id of the corrected event, or 'all' events of the record. Absent: all its events of the same type. */
  readonly corrected_event?: number | 'all'
  /** The identifier of the survivor that has replaced this record in a merge, not normalised: as the survivor has it. */
  readonly replaced_by?: Identifier
  /** The id that the publisher gave the event. */
  readonly event_id?: string
  /** The digest that this server has computed of the published event. */
  readonly fingerprint?: Buffer
  readonly occurred_at?: Date
}

/**
 * The time at which an event counts as recorded, in whole seconds. All events of an import have the same time. If each record had
 * a time of its own, a subscriber could see from the gaps between the times how many records are hidden from it.
 */
export const recordingTimeOf = ({ began, now }: Pick<RecordingDeps, 'began' | 'now'>): Date =>
  new Date(Math.floor((began ?? now).getTime() / 1_000) * 1_000)

/** An event of one change of a record, before the event is stored. */
export interface DraftEvent extends StatesBeforeAndAfter {
  /** The id that the event gets in the database. */
  readonly id: number
  readonly record_version: number
  readonly change: RecordChange
  readonly recordType: RecordType
  readonly event: EventOfChange
}

/** The result of recording one event. */
export interface EventRecordingResult {
  readonly id: number
  readonly event_type: string
  /** The number of subscriptions that are notified of the event. */
  readonly matched: number
}

/** The type under which an event is recorded; for a correction, CANCEL or CORRECTION. */
export const recordedEventTypeOf = ({ event_type, correction_type }: DerivedEvent): string => correction_type ?? event_type

/** The filters that this node has read of a database's subscriptions, whose ids are unique in that database only. */
export const compiledFiltersOf = oncePerPool(() => new CompiledFilterCache(readStoredCriteria))
