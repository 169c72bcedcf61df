/** Statements that read records without a search: by primary identifier, or page by page. */

import type { RecordPageQuery } from '@rollcall/core/model/record-source'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import type { RecordType } from '@rollcall/protocol'
import { recordTable } from './record-tables.ts'
import { predicateToSql } from './sql/to-sql.ts'

interface Statement {
  readonly text: string
  readonly values: unknown[]
}

/** The statement that finds the records with these normalised primary identifiers, and the survivors of merged ones. */
export const byPrimaryIdentifiersStatement = (
  registry: RegistryShape,
  recordType: RecordType,
  identifiers: readonly string[],
): Statement => ({
  text: `select id::text, document from ${quoteName(recordTable(registry, recordType).table)} as record
    where primary_identifier = any($1::text[]) or id = any(array(
      select survivor from retired_record
      where registry = $2 and record_type = $3 and primary_identifier = any($1::text[])))
    order by record.id`,
  values: [identifiers, registry.id, recordType.name],
})

/** The statement that reads a page of records after a given id, ordered by id. */
export function recordPageStatement(
  registry: RegistryShape,
  { recordType, predicate, since, after, limit }: RecordPageQuery,
): Statement {
  const table = recordTable(registry, recordType)
  const { text, values } = predicate === null ? { text: 'true', values: [] } : predicateToSql(predicate, table)
  const [from, time, most] = [1, 2, 3].map((next) => `$${values.length + next}`)
  return {
    text: `select record.id::text, record.document, record.updated_at as written
      from ${quoteName(table.table)} as record
      where record.id > ${from}::bigint and (${text})
        and (${time}::timestamptz is null or record.updated_at >= ${time}::timestamptz)
      order by record.id limit ${most}::integer`,
    values: [...values, after ?? '0', since, limit],
  }
}
