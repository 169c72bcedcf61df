/** Records that others name: a household names its members. */
import type { RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import type { RecordId } from '../../model/records.ts'
import type { RegistryShape } from '../../model/registry.ts'
import { quoteName } from '../db/names.ts'
import { recordTable } from '../records/record-tables.ts'

export interface NamedRecord {
  readonly id: RecordId
  /** Canonical JSON. */
  readonly document: string
}

/** @param identifiers normalised values of the primary identifier; those that no record has are left out */
export async function findNamedRecords(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  identifiers: readonly string[],
): Promise<readonly NamedRecord[]> {
  if (identifiers.length === 0) return []
  const { rows } = await client.query<NamedRecord>(
    `select id, document from ${quoteName(recordTable(registry, recordType).table)}
      where primary_identifier = any($1::text[]) order by id`,
    [identifiers],
  )
  return rows
}
