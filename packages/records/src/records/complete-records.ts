/**
 * Compares the stored records with given ones: finds those that are unchanged, and those that a file with all records
 * of a type does not name.
 */

import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { PreparedRecord } from './prepare-record.ts'
import { recordTable } from './record-tables.ts'

/**
 * Returns the primary identifiers of those given records that are stored with an equal document. No row is locked: if another
 * writer changes such a record after this statement, that newer change stays, because the caller does not write the record.
 */
export async function identifiersWithEqualDocument(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly PreparedRecord[],
): Promise<ReadonlySet<string>> {
  if (records.length === 0) return new Set()
  const { table } = recordTable(registry, recordType)
  const { rows } = await client.query<Pick<PreparedRecord, 'primary_identifier' | 'document'>>(
    `select primary_identifier, document from ${quoteName(table)} where primary_identifier = any($1::text[])`,
    [records.map(({ primary_identifier }) => primary_identifier)],
  )
  const stored = new Map(rows.map(({ primary_identifier, document }) => [primary_identifier, document]))
  const same = records.filter(({ primary_identifier, document }) => stored.get(primary_identifier) === document)
  return new Set(same.map(({ primary_identifier }) => primary_identifier))
}

/** The stored records that are compared with a file: those of one type that were added before the file was made. */
export interface RecordsComparedWithFile {
  readonly registry: RegistryShape
  readonly recordType: RecordType
  /**
   * The time when the file was last changed, or first read if that was earlier: a whole number, as text, of microseconds since
   * 1970. Records added later are not compared.
   */
  readonly began: string
}

/** Counts the stored records that were added before `began`. */
export async function countRecordsBeforeImport(
  client: ClientBase,
  { registry, recordType, began }: RecordsComparedWithFile,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::float8 as count from ${quoteName(recordTable(registry, recordType).table)} as record
     where ${isAddedBeforeFileSql('$1')}`,
    [began],
  )
  return rows[0]?.count ?? 0
}

/**
 * The statement that selects, as `primary_identifier`, the stored records that the file does not name. A survivor of merged
 * records is not selected when the file names one of the merged records.
 * @param named SQL that selects the primary identifiers in the file. It may use $1, the registry, and $2, the record type
 */
export const recordsNotInFileStatement = ({ registry, recordType, began }: RecordsComparedWithFile, named: string) => ({
  text: `select $2::text as record_type, record.primary_identifier
    from ${quoteName(recordTable(registry, recordType).table)} as record
    where ${isAddedBeforeFileSql('$3')}
      and not exists (select 1 from (${named}) as named where named.primary_identifier = record.primary_identifier)
      and not exists (
        select 1 from retired_record as retired join (${named}) as named using (primary_identifier)
        where retired.registry = $1::integer and retired.record_type = $2::text and retired.survivor = record.id)
    order by record.id`,
  values: [registry.id, recordType.name, began],
})

const isAddedBeforeFileSql = (began: string): string =>
  `(extract(epoch from record.created_at) * 1000000)::bigint < ${began}::bigint`
