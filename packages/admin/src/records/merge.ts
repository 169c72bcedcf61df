/** Merges one of two records of a person into the other, and takes such a merge back. */

import { ownPrimaryIdentifier } from '@rollcall/core/events/own-identifiers'
import type { RecordChange } from '@rollcall/core/model/event'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { FoundRecord, Identifier, RecordId } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import { withTransaction } from '@rollcall/database/transaction'
import { recordChanges } from '@rollcall/delivery/events/record-changes'
import {
  compiledFiltersOf,
  type EventOfChange,
  type EventRecordingResult,
  type RecordingDeps,
} from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { identifierValue, type Kind, type RecordType, resolveIdentifierType } from '@rollcall/protocol'
import { InvalidRecord } from '@rollcall/records/records/prepare-record'
import type { RecordSink } from '@rollcall/records/records/record-sink'
import { recordsOf, requireSink } from '@rollcall/records/records/registry-records'
import type { RetiredRecord } from '@rollcall/records/records/retired-records'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { requireRecordType } from '@rollcall/records/registries/registry-attributes'
import type { ClientBase } from 'pg'
import Type, { type Static } from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasEventRecording } from '../deps.ts'
import { closed, markPersonal, Namespace, RecordTypeName, text, wholeNumber } from '../members.ts'

const RecordIdentifier = (description: string) =>
  markPersonal(
    closed(
      { identifier_type: text("One of the registry's identifier types."), identifier_value: text('Its value.') },
      { description },
    ),
  )

const RECORD_PLACE = {
  namespace: Namespace,
  record_type: Type.Optional(text("One of the registry's record types (default: all of them are searched).")),
}

const MERGE_RESULT = closed({
  namespace: Namespace,
  record_type: RecordTypeName,
  notified: wholeNumber('Subscriptions that are notified.'),
})

const MERGE_INPUT = closed({
  ...RECORD_PLACE,
  survivor: RecordIdentifier('An identifier of the record that stays.'),
  retired: RecordIdentifier('An identifier of the record that is merged into it.'),
})

const UNMERGE_INPUT = closed({
  ...RECORD_PLACE,
  retired: RecordIdentifier('An identifier of the record that was merged into another.'),
})

/**
 * Merges one record into another: the retired record is not found any more, and its identifiers find the survivor.
 * Subscribers that were notified of the retired record get one notification that the survivor replaces it.
 */
export const mergeRecords = defineAct(
  { name: 'record merge', approval: 'never', input: MERGE_INPUT, result: MERGE_RESULT },
  (deps: HasEventRecording, { namespace, record_type, survivor: stays, retired: goes }) =>
    withRecordsLocked(deps, namespace, async (change) => {
      const survivor = requireUnretiredRecord('survivor', await requireNamedRecords(change, record_type, 'survivor', stays))
      const retired = requireUnretiredRecord('retired', await requireNamedRecords(change, record_type, 'retired', goes))
      const { recordType, id, document: before } = retired
      if (survivor.recordType !== recordType) {
        throw new AdminRefusal('survivor and retired: must be records of one type')
      }
      if (survivor.id === id) throw new AdminRefusal('survivor and retired: are the same record')
      await checkRecordsProtectedAlike(change, recordType, survivor.id, id)
      const replaced_by = survivorPrimary(change.registry.kind, recordType, survivor)
      const named: EventOfChange = { event_type: 'CANCEL', correction_type: 'CANCEL', corrected_event: 'all', replaced_by }
      const event = await storeMergeEvent(change, recordType, { record: id, before, after: null }, named)
      const { client, registry, sink, now } = change
      const merge = { survivor: survivor.id, retired: id, event: event.id, now }
      await sink.retireRecord(client, registry, recordType, merge)
      return { namespace, record_type: recordType.name, notified: event.matched }
    }),
)

/**
 * Takes a merge back: the retired record is found again, as it was. Subscribers that were notified of the merge get the
 * record, as a correction of the merge.
 */
export const unmergeRecords = defineAct(
  { name: 'record unmerge', approval: 'never', input: UNMERGE_INPUT, result: MERGE_RESULT },
  (deps: HasEventRecording, { namespace, record_type, retired: comes }) =>
    withRecordsLocked(deps, namespace, async (change) => {
      const { recordType, ...retired } = requireRetiredRecord(await requireNamedRecords(change, record_type, 'retired', comes))
      await checkRecordsProtectedAlike(change, recordType, retired.survivor, retired.record)
      await change.sink.restoreRecord(change.client, change.registry, recordType, retired).catch(throwUnmergeRefusal)
      const named: EventOfChange = { event_type: 'CANCEL', correction_type: 'CORRECTION', corrected_event: retired.event }
      const { record, document: after } = retired
      const event = await storeMergeEvent(change, recordType, { record, before: null, after }, named)
      return { namespace, record_type: recordType.name, notified: event.matched }
    }),
)

/** Checks that the two records are protected under the same categories: after a merge, identifiers of one find the other. */
async function checkRecordsProtectedAlike(
  { client, registry, recording }: MergeDeps,
  recordType: RecordType,
  survivor: RecordId,
  retired: RecordId,
): Promise<void> {
  const ids = [survivor, retired]
  const categories = await recording.records.within(client).categories(registry, recordType, ids)
  const [one, other] = ids.map((id) => (categories.get(id) ?? []).toSorted().join(' '))
  if (one === other) return
  throw new AdminRefusal(
    'survivor and retired: the records are not protected alike; protect both under one category, or lift the protection first',
    { reason: 'conflict' },
  )
}

interface MergeDeps {
  readonly client: ClientBase
  readonly registry: Registry
  readonly sink: RecordSink
  readonly recording: RecordingDeps
  readonly now: Date
}

/** Does the work in one transaction in which nothing else changes records of the registry. */
async function withRecordsLocked<Result>(
  { db, limits, now: clock = () => new Date() }: HasEventRecording,
  namespace: string,
  work: (change: MergeDeps) => Promise<Result>,
): Promise<Result> {
  const registry = await requireRegistry(db, namespace)
  const sink = requireSink(db, registry)
  return withTransaction(db.pool, async (client) => {
    await lockRegistryFor(client, registry.id, 'exclusive change')
    const now = clock()
    const recording = { registry, records: recordsOf(db, registry), limits, filters: compiledFiltersOf(db.pool), now }
    return work({ client, registry, sink, recording, now })
  })
}

async function storeMergeEvent(
  { client, registry, sink, recording }: MergeDeps,
  recordType: RecordType,
  change: Pick<RecordChange, 'record' | 'before' | 'after'>,
  named: EventOfChange,
): Promise<EventRecordingResult> {
  const aliases = (await sink.aliasesOf(client, registry, recordType, [change.record])).get(change.record) ?? []
  const changes = [{ record_type: recordType.name, ...change, aliases }]
  const [event] = await recordChanges(client, recording, changes, named)
  if (event === undefined) throw new Error('a named event was not recorded')
  return event
}

interface HasRecordType {
  readonly recordType: RecordType
}

/** The records that an identifier names, by record type. */
interface FoundRecords {
  readonly live: readonly (FoundRecord & HasRecordType)[]
  readonly retired: readonly (RetiredRecord & HasRecordType)[]
}

type GivenIdentifier = ReadOnly<Static<typeof MERGE_INPUT>>['retired']

async function requireNamedRecords(
  { client, registry, sink }: MergeDeps,
  record_type: string | undefined,
  member: 'survivor' | 'retired',
  { identifier_type, identifier_value }: GivenIdentifier,
): Promise<FoundRecords> {
  const { kind } = registry
  const type = resolveIdentifierType(kind, identifier_type)
  if (type === undefined) {
    const names = kind.identifier_types.map(({ name }) => name).join(', ')
    throw new AdminRefusal(`${member}.identifier_type: must be one of ${names}`)
  }
  const value = identifierValue(type, identifier_value)
  if (value === null) throw new AdminRefusal(`${member}.identifier_value: must be a valid ${type.name}`)
  const types = record_type === undefined ? kind.record_types : [requireRecordType(registry, record_type)]
  const live: (FoundRecord & HasRecordType)[] = []
  const retired: (RetiredRecord & HasRecordType)[] = []
  for (const recordType of types) {
    const found = await sink.findRecordsWithIdentifier(client, registry, recordType, { type: type.name, value })
    live.push(...found.live.map((one) => ({ ...one, recordType })))
    retired.push(...found.retired.map((one) => ({ ...one, recordType })))
  }
  if (live.length + retired.length > 0) return { live, retired }
  throw new AdminRefusal(`${member}: no record has this identifier`, { reason: 'not_found' })
}

function requireUnretiredRecord(member: 'survivor' | 'retired', { live }: FoundRecords): FoundRecord & HasRecordType {
  if (live.length === 0) {
    throw new AdminRefusal(`${member}: the record was merged into another one; name that one`, { reason: 'conflict' })
  }
  return requireOneRecord(member, live)
}

function requireRetiredRecord({ retired }: FoundRecords): RetiredRecord & HasRecordType {
  if (retired.length === 0) {
    throw new AdminRefusal('retired: the record was not merged into another one', { reason: 'conflict' })
  }
  return requireOneRecord('retired', retired)
}

function requireOneRecord<Found extends HasRecordType>(member: string, found: readonly Found[]): Found {
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const isOfOneType = found.every(({ recordType }) => recordType === only?.recordType)
  throw new AdminRefusal(
    isOfOneType
      ? `${member}: several records have this identifier; name the record by its ${only?.recordType.primary_identifier}`
      : `${member}: records of several types have this identifier; say which with record_type`,
  )
}

/** The survivor's primary identifier, by which receivers of the retired record ask for the survivor. */
function survivorPrimary(kind: Kind, recordType: RecordType, { document }: FoundRecord): Identifier {
  const primary = ownPrimaryIdentifier(kind, recordType, JSON.parse(document))
  if (primary === undefined) throw new Error('a record has no primary identifier')
  return { type: primary.identifier_type, value: primary.identifier_value }
}

/** Throws AdminRefusal if the kind has changed, or another record has the primary identifier now; else the given error. */
function throwUnmergeRefusal(error: unknown): never {
  if (error instanceof InvalidRecord) {
    throw new AdminRefusal(`retired: the record cannot be restored: ${error.reason}`, { cause: error })
  }
  if (sqlStateOrSystemCode(error) !== UNIQUE_VIOLATION) throw error
  throw new AdminRefusal('retired: another record has its primary identifier now', { reason: 'conflict' })
}

const UNIQUE_VIOLATION = '23505'
