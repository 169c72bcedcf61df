/** How many records a registry holds, and identifiers to try it with. */

import type { Identifier } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import type { RecordType } from '@rollcall/protocol'
import { holdsRows } from './catalog.ts'
import { recordTable, tableNames } from './record-tables.ts'

/** By record type. Counts row by row: for a person or a test that asks, not for a request. */
export async function countRecords(db: Database, registry: RegistryShape): Promise<Readonly<Record<string, number>>> {
  const counted = registry.kind.record_types.map(async (recordType) => {
    const { table } = recordTable(registry, recordType)
    const { rows } = await db.pool.query<{ count: number }>(`select count(*) as count from ${quoteName(table)}`)
    return [recordType.name, rows[0]?.count ?? 0] as const
  })
  return Object.fromEntries(await Promise.all(counted))
}

/** Whether it holds any record, of whatever type. */
export const hasRecords = ({ kysely }: Database, registry: RegistryShape): Promise<boolean> =>
  holdsRows(kysely, tableNames(registry))

/**
 * Identifiers of which each names exactly one record of the type, and that as its own: `wanted[type]` of each
 * type, fewer where there are fewer; those of the earliest records, in the order of `wanted`. Reads the whole
 * identifier table: for small registries.
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
