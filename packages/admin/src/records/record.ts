/** Shows an operator the records of one person. The audit entry is written before. */

import { identifiersNamingRecord } from '@rollcall/core/model/person-identifiers'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import type { Identifier } from '@rollcall/core/model/records'
import { PathCollector } from '@rollcall/core/policy/disclosed-paths'
import { auditedPersonsOf, findRelatedPersons } from '@rollcall/core/policy/disclosed-persons'
import { identifierValue, type JsonValue, resolveIdentifierType } from '@rollcall/protocol'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, markPersonal, Namespace, RecordTypeName, text } from '../members.ts'

/** The most records of one type that are shown. */
const MOST_RECORDS_SHOWN = 2
/** The most records of a type that are read to find the shown ones: households, for example, may mention the person. */
const MOST_CANDIDATES_READ = 1_000

/** Shows the records of a registry that an identifier names, whole; at most two of each record type. */
export const showRecord = defineAct(
  {
    name: 'record get',
    approval: 'never',
    entry: 'within',
    input: closed({
      namespace: Namespace,
      type: text('An identifier type of the registry.'),
      value: markPersonal(text('Its value.')),
    }),
    result: Type.Array(
      closed({ record_type: RecordTypeName, record: markPersonal(Type.Unknown({ description: 'The record as it is stored.' })) }),
    ),
  },
  async (deps: HasDatabase, { namespace, type, value }, enter) => {
    const registry = await requireRegistry(deps.db, namespace)
    const known = resolveIdentifierType(registry.kind, type)
    if (known === undefined) {
      const names = registry.kind.identifier_types.map(({ name }) => name)
      throw new AdminRefusal(`type: ${namespace} has identifiers of the types ${names.join(', ')}`)
    }
    const normalised = identifierValue(known, value)
    if (normalised === null) throw new AdminRefusal(`value: it is not a valid ${known.name}`)
    const identifier = { type: known.name, value: normalised }
    const isAsked = (one: Identifier): boolean => one.type === identifier.type && one.value === identifier.value
    const predicate = { is: 'identifier', identifiers: [identifier] } as const
    const page = {
      sort: [],
      limit: MOST_CANDIDATES_READ,
      offset: 0,
      cap: MOST_CANDIDATES_READ,
      categories: PROTECTION_CATEGORIES,
    }
    const reader = recordsOf(deps.db, registry).within(deps.db.pool)
    const found = await Promise.all(
      registry.kind.record_types.map(async (recordType) => {
        const { records } = await reader.find(registry, { recordType, predicate, page })
        return records
          .map(({ document }) => ({ recordType, record: JSON.parse(document) as JsonValue }))
          .filter(({ record }) => identifiersNamingRecord(registry.kind, recordType, record).some(isAsked))
          .slice(0, MOST_RECORDS_SHOWN)
      }),
    )
    const records = found.flat()
    const byType = [...Map.groupBy(records, ({ recordType }) => recordType.name)]
    await enter({
      records: records.length,
      persons: [
        { role: 'asked', identifiers: [identifier] },
        ...records.flatMap(({ recordType, record }) => {
          const related = findRelatedPersons(registry.kind, recordType, record)
          return auditedPersonsOf(registry.kind, recordType, record, related)
        }),
      ],
      shown: Object.fromEntries(
        byType.map(([name, ofType]) => [name, new PathCollector().collect(ofType.map(({ record }) => record))]),
      ),
    })
    if (records.length === 0) {
      throw new AdminRefusal(`no record of ${namespace} has this identifier`, { reason: 'not_found' })
    }
    return records.map(({ recordType, record }) => ({ record_type: recordType.name, record }))
  },
)
