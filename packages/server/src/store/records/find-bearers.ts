/** The records that bear an identifier, for operators. */
import type { RecordType } from '@rollcall/protocol'
import type { Pool } from 'pg'
import type { FoundRecord, Identifier } from '../../model/records.ts'
import type { RegistryShape } from '../../model/registry.ts'
import { quoteName } from '../db/names.ts'
import { recordTable } from './record-tables.ts'

/** Records that the identifier names, or that a record with it was merged into; not those that only mention it. */
export async function findBearers(
  pool: Pick<Pool, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  { type, value }: Identifier,
): Promise<readonly FoundRecord[]> {
  const { table, identifierTable } = recordTable(registry, recordType)
  const { rows } = await pool.query<FoundRecord>(
    `select id, document from ${quoteName(table)} where id in (
        select record from ${quoteName(identifierTable)}
        where type = $1 and value = $2 and names_record)
      order by id limit 2`,
    [type, value],
  )
  return rows
}

/** Of these identifiers, those that name more than one record: they are of nobody alone. */
export async function sharedIdentifiers(
  pool: Pick<Pool, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  identifiers: readonly Identifier[],
): Promise<readonly Identifier[]> {
  const { identifierTable } = recordTable(registry, recordType)
  const { rows } = await pool.query<Identifier>(
    `select type, value from ${quoteName(identifierTable)}
      join unnest($1::text[], $2::text[]) as asked (type, value) using (type, value)
      where names_record group by type, value having count(distinct record) > 1`,
    [identifiers.map(({ type }) => type), identifiers.map(({ value }) => value)],
  )
  return rows
}
