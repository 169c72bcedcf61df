/** Reading the identifiers of records that are held anew, from their documents. */

import { type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { PoolClient } from 'pg'
import type { RegistryShape } from '../../model/registry.ts'
import { quoteName } from '../db/names.ts'
import { recordTable } from './record-tables.ts'

/** Rows that are right stay as they are: a table of them is larger than that of the records. */
export async function writeIdentifiers(
  client: PoolClient,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly { readonly id: number; readonly document: string }[],
): Promise<void> {
  const identifiers = quoteName(recordTable(registry, recordType).identifierTable)
  const rows = records.flatMap(({ id, document }) =>
    readIdentifiers(registry.kind, recordType, JSON.parse(document)).map((one) => ({ ...one, id })),
  )
  const borne = [
    rows.map(({ type }) => type),
    rows.map(({ value }) => value),
    rows.map(({ id }) => id),
    rows.map(({ names }) => names === 'record'),
  ]
  await client.query(
    `delete from ${identifiers} as held where held.record = any($1::bigint[]) and not exists (
       select 1 from unnest($2::text[], $3::text[], $4::bigint[]) as borne (type, value, record)
       where borne.type = held.type and borne.value = held.value and borne.record = held.record)`,
    [records.map(({ id }) => id), ...borne.slice(0, 3)],
  )
  await client.query(
    `insert into ${identifiers} (type, value, record, names_record)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[])
     on conflict (type, value, record) do update set names_record = excluded.names_record
     where ${identifiers}.names_record <> excluded.names_record`,
    borne,
  )
}
