/** The identifier rows of a record: identifiers in its document, and those of records that were merged into it. */

import type { FoundRecord, Identifier } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import { type RecordIdentifier, type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { parseWithoutProtectedPersons, readProtection } from './protection.ts'
import { recordTable } from './record-tables.ts'
import { aliasesOf } from './retired-records.ts'

/**
 * The identifiers that find a record, each once: its own and its aliases. An alias that the record does not have itself
 * gets `names: 'part'`, as the identifier of a household member does: a search finds the record by the alias, but the alias does
 * not name the record itself.
 */
export function recordIdentifiersAndAliases(
  own: readonly RecordIdentifier[],
  aliases: readonly Identifier[] = [],
): readonly RecordIdentifier[] {
  if (aliases.length === 0) return own
  const found = new Map(own.map((one) => [`${one.type}:${one.value}`, one]))
  for (const { type, value } of aliases) {
    const key = `${type}:${value}`
    if (!found.has(key)) found.set(key, { type, value, names: 'part' })
  }
  return [...found.values()]
}

/**
 * Makes the stored identifier rows of these records match their documents and aliases. Unchanged rows are not written: a record
 * may have many rows, and most do not change.
 */
export async function writeIdentifiers(
  client: ClientBase,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly FoundRecord[],
): Promise<void> {
  const identifiers = quoteName(recordTable(registry, recordType).identifierTable)
  const ids = records.map(({ id }) => id)
  const aliases = await aliasesOf(client, registry, recordType, ids)
  const protection = await readProtection(client, registry.id)
  const rows = records.flatMap(({ id, document }) => {
    const read = parseWithoutProtectedPersons(registry, recordType, protection, document)
    const own = readIdentifiers(registry.kind, recordType, read)
    return recordIdentifiersAndAliases(own, aliases.get(id)).map((one) => ({ ...one, id }))
  })
  const columns = [
    rows.map(({ type }) => type),
    rows.map(({ value }) => value),
    rows.map(({ id }) => id),
    rows.map(({ names }) => names === 'record'),
  ]
  await client.query(
    `delete from ${identifiers} as stored where stored.record = any($1::bigint[]) and not exists (
       select 1 from unnest($2::text[], $3::text[], $4::bigint[]) as read (type, value, record)
       where read.type = stored.type and read.value = stored.value and read.record = stored.record)`,
    [ids, ...columns.slice(0, 3)],
  )
  await client.query(
    `insert into ${identifiers} (type, value, record, names_record)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[])
     on conflict (type, value, record) do update set names_record = excluded.names_record
     where ${identifiers}.names_record <> excluded.names_record`,
    columns,
  )
}
