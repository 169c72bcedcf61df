/** Finds records by an identifier, for operators. */

import type { FoundRecord, Identifier } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import type { RecordType } from '@rollcall/protocol'
import type { Pool } from 'pg'
import { recordTable } from './record-tables.ts'

/** The first two records that have the identifier as their own; records that only mention it are left out. */
export async function findBearers(
  pool: Pick<Pool, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  { type, value }: Identifier,
): Promise<readonly FoundRecord[]> {
  const { table, identifierTable } = recordTable(registry, recordType)
  const { rows } = await pool.query<FoundRecord>(
    `select id::text, document from ${quoteName(table)} as found where id in (
        select record from ${quoteName(identifierTable)}
        where type = $1 and value = $2 and names_record)
      order by found.id limit 2`,
    [type, value],
  )
  return rows
}
