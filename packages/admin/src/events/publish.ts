/** Events that an existing system says have happened. */

import { hash } from 'node:crypto'
import type { ElementsToRemoveByPath } from '@rollcall/core/events/merge'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Registry } from '@rollcall/core/model/registry'
import { withTransaction } from '@rollcall/database/transaction'
import { recordChanges } from '@rollcall/delivery/events/record-changes'
import { compiledFiltersOf, type EventOfChange } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { type EventFoundByEventId, findEvent, lockPublication } from '@rollcall/delivery/store/events/published'
import { MAX_ENTRY_BYTES } from '@rollcall/import/source'
import {
  CanonicalJsonError,
  canonicalJson,
  type JsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  recordTypesOf,
  resolveEventType,
  resolveRecordType,
} from '@rollcall/protocol'
import { recordsOf, requireSink } from '@rollcall/records/records/registry-records'
import { findRegistry, unknownRegistryMessage } from '@rollcall/records/registries/registries'
import type { ClientBase } from 'pg'
import Type, { type Static } from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasEventRecording } from '../deps.ts'
import { closed, dateOf, flag, instant, markPersonal, Namespace, text, wholeNumber } from '../members.ts'
import { type RecordToPublish, writePublishedRecord } from './published-record.ts'

export interface PublishDeps extends HasEventRecording {
  /** Runs the work in a transaction (default: one of its own). */
  readonly transaction?: <Result>(work: (client: ClientBase) => Promise<Result>) => Promise<Result>
}

const CORRECTION_TYPES = ['CANCEL', 'CORRECTION'] as const

const EVENT_INPUT = closed({
  namespace: Namespace,
  reg_event_type: text("One of the registry's event types, or CANCEL or CORRECTION of an earlier event."),
  record: markPersonal(
    Type.Unsafe<JsonObject>(
      Type.Object({}, { description: 'The record, or the members of it that are new. It has the identifier.' }),
    ),
  ),
  record_type: Type.Optional(text("One of the registry's record types (default: the record's @type).")),
  event_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Of the publishing system. What is published under it a second time gets the first answer.',
    }),
  ),
  occurred_at: Type.Optional(instant('When it happened (default: now).')),
  source_version: Type.Optional(
    wholeNumber('Of the record in the publishing system: an older one does not overwrite a newer one.'),
  ),
  replace: Type.Optional(flag('The record takes the place of the stored one; otherwise it is merged into it.')),
  remove: Type.Optional(
    markPersonal(
      Type.Unsafe<Readonly<Record<string, readonly JsonValue[]>>>(
        Type.Record(Type.String(), Type.Array(Type.Unknown()), {
          description: 'Elements to take out of lists, by the path of the list, such as identifier.',
        }),
      ),
    ),
  ),
  corrects: Type.Optional(text('For CANCEL and CORRECTION: the event_id of the event that is taken back or corrected.')),
})

type EventInput = ReadOnly<Static<typeof EVENT_INPUT>>

/**
 * Records one event: writes the record, or merges it into the stored one, and queues the notifications. When the call returns,
 * all of this is committed, unless the caller gave the transaction.
 */
export const publishEvent = defineAct(
  {
    name: 'publish',
    approval: 'never',
    input: EVENT_INPUT,
    result: closed({ id: wholeNumber('Of the event.'), matched: wholeNumber('Subscriptions that are notified.') }),
  },
  async ({ db, limits, now = () => new Date(), transaction }: PublishDeps, input) => {
    const registry = await findRegistry(db, input.namespace)
    if (registry === null) {
      const problem = await unknownRegistryMessage(db, input.namespace)
      throw new AdminRefusal(`namespace: ${problem}`, { reason: 'not_found' })
    }
    const sink = requireSink(db, registry)
    const published = readPublishedEvent(registry, input)
    const recording = { registry, records: recordsOf(db, registry), limits, filters: compiledFiltersOf(db.pool), now: now() }
    const work = async (client: ClientBase) => {
      await lockRegistryFor(client, registry.id, 'change')
      const known = await findEventByEventId(client, registry, published)
      if (known !== null) return { id: known.id, matched: known.matched }
      const corrected = await findCorrectedEvent(client, registry, input, published)
      const change = await writePublishedRecord(client, sink, registry, published)
      if (corrected !== null && corrected.record !== change.record) {
        throw new AdminRefusal('corrects: must name an event of this record')
      }
      const named: EventOfChange = {
        ...published.named,
        ...(corrected && { event_type: corrected.event_type, corrected_event: corrected.id }),
      }
      const [event] = await recordChanges(client, recording, [change], named)
      return { id: event?.id ?? 0, matched: event?.matched ?? 0 }
    }
    return transaction === undefined ? withTransaction(db.pool, work) : transaction(work)
  },
)

interface PublishedEvent extends RecordToPublish {
  readonly named: EventOfChange
}

function readPublishedEvent({ kind }: Registry, input: EventInput): PublishedEvent {
  const record = input.record as JsonObject
  const recordType = readRecordType(kind, record, input.record_type)
  const canonical = canonicalInput({ ...input, record })
  const { event_id, occurred_at, source_version, replace = false, remove } = input
  const correction = CORRECTION_TYPES.find((name) => name === input.reg_event_type)
  const named: EventOfChange = {
    ...(correction === undefined
      ? { event_type: readEventType(kind, input.reg_event_type) }
      : { event_type: correction, correction_type: correction }),
    ...(event_id !== undefined && { event_id, fingerprint: hash('sha256', canonical, 'buffer') }),
    ...(occurred_at !== undefined && { occurred_at: dateOf(occurred_at) }),
  }
  return {
    recordType,
    record,
    replace,
    named,
    ...(source_version !== undefined && { source_version }),
    ...(remove && { remove: remove as ElementsToRemoveByPath }),
  }
}

function readEventType(kind: Kind, spelling: string): string {
  const found = resolveEventType(kind, spelling)
  if (found !== undefined) return found.name
  const names = [...kind.event_types.map(({ name }) => name), ...CORRECTION_TYPES].join(', ')
  throw new AdminRefusal(`reg_event_type: must be one of ${names}`)
}

/** Returns the named record type, else that of `@type`. @throws AdminRefusal there is none, or `@type` can mean two */
function readRecordType(kind: Kind, record: JsonObject, named: string | undefined): RecordType {
  const names = kind.record_types.map(({ name }) => name)
  if (named !== undefined) {
    const found = resolveRecordType(kind, named)
    if (found !== undefined) return found
    throw new AdminRefusal(`record_type: must be one of ${names.join(', ')}`)
  }
  const listed = recordTypesOf(kind, record)
  const [found, another] = listed.length > 0 ? listed : resolveRecordTypes(kind, record['@type'])
  if (found === undefined) throw new AdminRefusal(`record.@type: must be one of ${names.join(', ')}`)
  if (another !== undefined) {
    throw new AdminRefusal(`record.@type: can mean ${found.name} or ${another.name}; say which with record_type`)
  }
  return found
}

function resolveRecordTypes(kind: Kind, types: JsonValue | undefined): readonly RecordType[] {
  const found = (Array.isArray(types) ? types : [types]).map((type) =>
    typeof type === 'string' ? resolveRecordType(kind, type) : undefined,
  )
  return [...new Set(found)].filter((type) => type !== undefined)
}

/** The published input as one text, by which a repeat is recognised. */
function canonicalInput(input: EventInput): string {
  try {
    const canonical = canonicalJson(input)
    if (canonical.length <= MAX_ENTRY_BYTES) return canonical
  } catch (error) {
    if (!(error instanceof CanonicalJsonError)) throw error
    throw new AdminRefusal('record: cannot be written as canonical JSON (RFC 8785)')
  }
  throw new AdminRefusal(`record: must be at most ${MAX_ENTRY_BYTES} bytes`)
}

/** Finds the event with the given event_id; null: there is none. @throws AdminRefusal its content was different */
async function findEventByEventId(
  client: ClientBase,
  registry: Registry,
  { named: { event_id, fingerprint } }: PublishedEvent,
): Promise<EventFoundByEventId | null> {
  if (event_id === undefined) return null
  await lockPublication(client, registry.id, `event ${event_id}`)
  const known = await findEvent(client, registry.id, event_id)
  if (known === null || (fingerprint !== undefined && known.fingerprint?.equals(fingerprint))) return known
  throw new AdminRefusal('event_id: something else was published under it before', { reason: 'conflict' })
}

/** Finds the event that the published one takes back or corrects; null: it corrects none. */
async function findCorrectedEvent(
  client: ClientBase,
  registry: Registry,
  { corrects }: EventInput,
  { named }: PublishedEvent,
): Promise<EventFoundByEventId | null> {
  if (named.correction_type === undefined) {
    if (corrects === undefined) return null
    throw new AdminRefusal(`corrects: goes with reg_event_type ${CORRECTION_TYPES.join(' and ')} alone`)
  }
  if (corrects === undefined) {
    throw new AdminRefusal(`corrects: must name the event_id of the event for reg_event_type ${named.correction_type}`)
  }
  const found = await findEvent(client, registry.id, corrects)
  if (found !== null) return found
  throw new AdminRefusal('corrects: there is no event with this event_id', { reason: 'not_found' })
}
