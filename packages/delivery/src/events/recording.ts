/** Facts about changes of records while their events are recorded. */

import { compileCriteria } from '@rollcall/core/events/criteria'
import type { DerivedEvent, StateChange } from '@rollcall/core/events/derive'
import type { Limits } from '@rollcall/core/limits'
import type { RecordChange } from '@rollcall/core/model/event'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { perPool } from '@rollcall/database/group-commit'
import type { RecordType } from '@rollcall/protocol'
import type { RegistryRecords } from '@rollcall/records/records/registry-records'
import { CompiledFilters } from './match.ts'

/** Where and when records are changed. */
export interface Recording {
  readonly registry: Registry
  readonly records: Pick<RegistryRecords, 'within'>
  readonly now: Date
  /** When the import began, or what else makes changes in several transactions. Unless given, `now`. */
  readonly began?: Date
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time'>
  /** Filters of the changed database (`compiledFiltersOf`). */
  readonly filters: CompiledFilters
}

/** The event that a publisher says a change is: nothing else is derived from it. */
export interface NamedEvent extends DerivedEvent {
  /**
   * The id of the event that is corrected, or all events of the record. Without it all events of the same type are
   * corrected.
   */
  readonly corrected?: number | 'all'
  /** The identifier of the record that has taken the place of this one, as that record writes it. */
  readonly replaced_by?: Identifier
  readonly event_id?: string
  /** Digest of what was published under `event_id`. */
  readonly fingerprint?: Buffer
  readonly occurred_at?: Date
}

/**
 * The time of an event in its notifications, in whole seconds. All events of an import have the same time: with a time
 * for each batch or record, the gaps between neighbours would show how many hidden persons are between them.
 */
export const recordedAt = ({ began, now }: Pick<Recording, 'began' | 'now'>): Date =>
  new Date(Math.floor((began ?? now).getTime() / 1_000) * 1_000)

/** One event of one change. */
export interface Draft extends StateChange {
  /** `event.id` */
  readonly id: number
  readonly record_version: number
  readonly change: RecordChange
  readonly recordType: RecordType
  readonly event: NamedEvent
}

export interface RecordedEvent {
  readonly id: number
  readonly event_type: string
  /** Subscriptions that are notified. */
  readonly matched: number
}

/** The name of an event; for a correction, its effect on the corrected event. */
export const recordedTypeOf = ({ event_type, corrects }: DerivedEvent): string => corrects ?? event_type

/** The filters of a database's subscriptions that this node has read: ids mean something in one database only. */
export const compiledFiltersOf = perPool(() => new CompiledFilters(compileCriteria))
