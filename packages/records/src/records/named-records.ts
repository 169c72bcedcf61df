/** Records that others name: a household names its members. */

import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordTable } from './record-tables.ts'
import { aliasesOf } from './retired-records.ts'

export interface NamedRecord {
  readonly id: RecordId
  /** Canonical JSON. */
  readonly document: string
  /** Identifiers of records that were merged into it. */
  readonly aliases: readonly Identifier[]
}

/**
 * One that was merged into another is found in that one.
 * @param identifiers normalised values of the primary identifier; those that no record has are left out
 */
export async function findNamedRecords(
  client: Pick<ClientBase, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  identifiers: readonly string[],
): Promise<readonly NamedRecord[]> {
  if (identifiers.length === 0) return []
  const { rows } = await client.query<Omit<NamedRecord, 'aliases'>>(
    `select id, document from ${quoteName(recordTable(registry, recordType).table)}
      where primary_identifier = any($1::text[]) or id = any(array(
        select survivor from retired_record
        where registry = $2 and record_type = $3 and primary_identifier = any($1::text[])))
      order by id`,
    [identifiers, registry.id, recordType.name],
  )
  const ids = rows.map(({ id }) => id)
  const aliases = await aliasesOf(client, registry, recordType, ids)
  return rows.map((row) => ({ ...row, aliases: aliases.get(row.id) ?? [] }))
}
