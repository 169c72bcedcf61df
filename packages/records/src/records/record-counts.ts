/** Counts the records of a registry, and finds sample identifiers with which searches can be tried. */

import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Identifier } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { StoreUnavailable } from '@rollcall/database/refusal'
import type { RecordType } from '@rollcall/protocol'
import { recordTable } from './record-tables.ts'
import { recordsOf } from './registry-records.ts'

/**
 * Counts the records by record type. Empty when the database of the records does not answer, when this process has not opened the
 * registry's source, or when the copy of the source is not complete. The database counts row by row, which is slow: call this for
 * a person or a test, not in a request.
 */
export async function countRecords(db: Database, registry: RegistryShape): Promise<Readonly<Record<string, number>>> {
  const reader = recordsOf(db, registry).within(db.pool)
  const counted = registry.kind.record_types.map(
    async (recordType) => [recordType.name, await reader.count(registry, recordType)] as const,
  )
  try {
    return Object.fromEntries(await Promise.all(counted))
  } catch (error) {
    if (error instanceof StoreUnavailable || error instanceof RecordsUnavailable) return {}
    throw error
  }
}

/** True when the registry has any record of any type. */
export async function hasRecords(db: Database, registry: RegistryShape): Promise<boolean> {
  const reader = recordsOf(db, registry).within(db.pool)
  const first = { predicate: null, since: null, after: null, limit: 1 }
  for (const recordType of registry.kind.record_types) {
    if ((await reader.page(registry, { recordType, ...first })).length > 0) return true
  }
  return false
}

/**
 * Returns identifiers from the earliest records of a record type: at most `wanted[type]` of each identifier type. Each is an own
 * identifier of one record, and no other record of the type has it. Reads all identifiers of these types, so use it for small
 * registries.
 */
export async function sampleIdentifiers(
  db: Database,
  registry: RegistryShape,
  recordType: RecordType,
  wanted: Readonly<Record<string, number>>,
): Promise<readonly Identifier[]> {
  const { identifierTable } = recordTable(registry, recordType)
  const types = Object.keys(wanted)
  const { rows } = await db.pool.query<Identifier>(
    `select type, value from (
       select type, value,
         row_number() over (partition by type order by min(record), value) as position
       from ${quoteName(identifierTable)} where type = any($1)
       group by type, value having count(*) = 1 and bool_and(names_record)
     ) as sample
     join unnest($1::text[], $2::int[]) with ordinality as wanted (wanted_type, quantity, rank)
       on wanted_type = type and position <= quantity
     order by rank, position`,
    [types, Object.values(wanted)],
  )
  return rows
}
