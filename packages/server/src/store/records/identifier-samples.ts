/** Identifiers to try a registry with. */

import type { RecordType } from '@rollcall/protocol'
import type { Identifier } from '../../model/records.ts'
import type { RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { quoteName } from '../db/names.ts'
import { recordTable } from './record-tables.ts'

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
         row_number() over (partition by type order by min(record), value) as place
       from ${quoteName(identifierTable)} where type = any($1)
       group by type, value having count(*) = 1 and bool_and(names_record)
     ) as sample
     join unnest($1::text[], $2::int[]) with ordinality as wanted (wanted_type, quantity, rank)
       on wanted_type = type and place <= quantity
     order by rank, place`,
    [types, Object.values(wanted)],
  )
  return rows
}
