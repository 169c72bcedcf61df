/**
 * Records that were merged into others. The identifiers of a retired record are aliases of its survivor: they find it,
 * and no record is made under its primary identifier.
 */

import { namesIn } from '@rollcall/core/model/person-identifiers'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import type { Kind, RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordTable } from './record-tables.ts'

export interface RetiredRecord {
  readonly record: RecordId
  readonly primary_identifier: string
  /** Canonical JSON, as it was when the record was merged. */
  readonly document: string
  /** The record that its identifiers find: of several merges the last one's survivor. */
  readonly survivor: RecordId
  /** The event of the merge. */
  readonly event: number
}

/** The identifiers of merged records, by survivor. The survivor may have some of them itself. */
export type Aliases = ReadonlyMap<RecordId, readonly Identifier[]>

/** All records that were merged into these, directly or by way of others, in the order of their ids. */
export async function retiredInto(
  client: Pick<ClientBase, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  survivors: readonly RecordId[],
): Promise<readonly RetiredRecord[]> {
  if (survivors.length === 0) return []
  const { rows } = await client.query<RetiredRecord>(retiredStatement(registry, recordType, survivors))
  return rows
}

/** The statement that finds them. */
export const retiredStatement = (registry: RegistryShape, recordType: RecordType, survivors: readonly RecordId[]) => ({
  name: 'retired into',
  text: `select record::text, primary_identifier, document, survivor::text, event from retired_record as retired
     where registry = $1 and record_type = $2 and survivor = any($3::bigint[]) order by retired.record`,
  values: [registry.id, recordType.name, [...survivors]],
})

export async function aliasesOf(
  client: Pick<ClientBase, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  survivors: readonly RecordId[],
): Promise<Aliases> {
  return aliasesIn(registry.kind, recordType, await retiredInto(client, registry, recordType, survivors))
}

/** The aliases in retired records that were read before. */
export function aliasesIn(
  kind: Kind,
  recordType: RecordType,
  retired: readonly Pick<RetiredRecord, 'survivor' | 'document'>[],
): Aliases {
  const found = new Map<RecordId, Identifier[]>()
  for (const { survivor, document } of retired) {
    const aliases = found.get(survivor) ?? []
    aliases.push(...namesIn(kind, recordType, JSON.parse(document)))
    found.set(survivor, aliases)
  }
  return found
}

/** The primary identifiers of retired records among these, each with that of the record that it finds now. */
export async function survivorsOf(
  client: Pick<ClientBase, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  primaries: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (primaries.length === 0) return new Map()
  const { rows } = await client.query<{ retired: string; survivor: string }>(
    `select retired.primary_identifier as retired, record.primary_identifier as survivor
     from retired_record as retired
       join ${quoteName(recordTable(registry, recordType).table)} as record on record.id = retired.survivor
     where retired.registry = $1 and retired.record_type = $2 and retired.primary_identifier = any($3::text[])`,
    [registry.id, recordType.name, primaries],
  )
  return new Map(rows.map(({ retired, survivor }) => [retired, survivor]))
}
