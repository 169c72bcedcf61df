/** A registry as a whole: what it has, what can be searched, and how an import goes on. */
import { type JsonObject, operationsOf } from '@rollcall/protocol'
import { unreachableRegistries } from '@rollcall/records/records/registry-records'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { requireRecordType } from '@rollcall/records/registries/registry-attributes'
import Type, { type TSchema } from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { listPurposes, Purpose } from '../consents/purposes.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, Namespace, orNull, RecordTypeName, text } from '../members.ts'
import { EndedImport, RunningImport, showLastImport } from '../records/import-reports.ts'
import { AttributeResult, listAttributes } from './attributes.ts'
import { EventExample, makeEventExamples } from './event-offers.ts'
import { IdentifierTypeResult, listIdentifierTypes } from './identifier-types.ts'
import { IndexPlan, planIndexes } from './indexes.ts'
import { countStoredRecords, RecordCounts, RegistryResult, shownRegistry } from './registries.ts'
import { type HasSamples, syntheticRecords } from './samples.ts'

/** Shows one registry, with everything that an operator decides about it. */
export const showRegistry = defineAdminFunction(
  {
    input: closed({ namespace: Namespace }),
    result: closed({
      ...RegistryResult.properties,
      records: RecordCounts,
      attributes: Type.Array(AttributeResult),
      identifier_types: Type.Array(IdentifierTypeResult),
      operations: Type.Array(Type.String(), { description: 'Operations that it answers, by the names that a grant takes.' }),
      event_types: Type.Array(Type.String(), {
        description: 'Event types that may be subscribed to, by the names that a grant takes.',
      }),
      purposes: Type.Array(Purpose, { description: 'Those that consents may name, in all registries.' }),
      indexes: Type.Array(IndexPlan, { description: 'By record type, what is missing.' }),
      import: orNull(RunningImport),
      last_import: orNull(EndedImport),
      source_away: orNull(
        flag('Whether the database of its records did not answer this node lately; null: they are in our own tables.'),
      ),
    }),
  },
  async ({ db }: HasDatabase, { namespace }) => {
    const registry = await requireRegistry(db, namespace)
    return {
      ...shownRegistry(registry),
      records: await countStoredRecords(db, registry),
      attributes: await listAttributes({ db }, { namespace }),
      identifier_types: await listIdentifierTypes({ db }, { namespace }),
      operations: operationsOf(registry.kind).map(({ name }) => name),
      event_types: registry.kind.event_types.map(({ name }) => name),
      purposes: await listPurposes({ db }, {}),
      indexes: await planIndexes({ db }, { namespace }),
      ...(await showLastImport({ db }, registry)),
      source_away: registry.source === null ? null : unreachableRegistries(db).includes(namespace),
    }
  },
)

/** Shows a synthetic record of each type of a registry, with the schema that the reference page shows. */
export const showSamples = defineAdminFunction(
  {
    input: closed({ namespace: Namespace, record_type: Type.Optional(RecordTypeName) }),
    result: Type.Array(
      closed({
        record_type: RecordTypeName,
        primary_identifier: text('Identifier type by which records of this type are known.'),
        record: Type.Unsafe<JsonObject>(Type.Object({}, { description: 'A synthetic record, about nobody.' })),
        schema: Type.Unsafe<TSchema>(Type.Object({}, { description: 'JSON Schema of such records.' })),
        events: Type.Array(EventExample, { description: 'For each event type a record to publish it with.' }),
      }),
    ),
  },
  async ({ db, samples }: HasSamples, { namespace, record_type }) => {
    const registry = await requireRegistry(db, namespace)
    const types = record_type === undefined ? registry.kind.record_types : [requireRecordType(registry, record_type)]
    const found = types.flatMap((type) => {
      const records = [...syntheticRecords({ samples }, registry, type)]
      const [record] = records
      const { name, primary_identifier, schema } = type
      if (record === undefined) return []
      const events = makeEventExamples(registry.kind, type, records)
      return [{ record_type: name, primary_identifier, record, schema, events }]
    })
    if (found.length > 0) return found
    throw new AdminRefusal(`there is no synthetic record of ${namespace}`, { reason: 'not_found' })
  },
)
