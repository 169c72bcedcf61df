/**
 * Retired records, which were merged into others. The identifiers of a retired record are aliases of its survivor: they
 * find the survivor, and no new record is made under the retired primary identifier.
 */

import { identifiersNamingRecord } from '@rollcall/core/model/person-identifiers'
import type { Identifier, RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import { quoteName } from '@rollcall/database/names'
import type { Kind, RecordType } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { recordTable } from './record-tables.ts'

/** A record that was merged into another one, with its last document. */
export interface RetiredRecord {
  readonly record: RecordId
  readonly primary_identifier: string
  /** Canonical JSON of the record at the time of the merge. */
  readonly document: string
  /** The id of the record that the identifiers of the retired record find now: after several merges, the last survivor. */
  readonly survivor: RecordId
  /** The id of the event that reported the merge. */
  readonly event: number
}

/** The identifiers of merged records, by the id of the survivor. The survivor itself may have some of them too. */
export type AliasesBySurvivor = ReadonlyMap<RecordId, readonly Identifier[]>

/** Finds all records that were merged into these records, also through other records, ordered by id. */
export async function findRecordsMergedInto(
  client: Pick<ClientBase, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  survivors: readonly RecordId[],
): Promise<readonly RetiredRecord[]> {
  if (survivors.length === 0) return []
  const { rows } = await client.query<RetiredRecord>(recordsMergedIntoStatement(registry, recordType, survivors))
  return rows
}

export const recordsMergedIntoStatement = (registry: RegistryShape, recordType: RecordType, survivors: readonly RecordId[]) => ({
  name: 'retired into',
  text: `select record::text, primary_identifier, document, survivor::text, event from retired_record as retired
     where registry = $1 and record_type = $2 and survivor = any($3::bigint[]) order by retired.record`,
  values: [registry.id, recordType.name, [...survivors]],
})

/** Reads the aliases of surviving records: the identifiers of the records that were merged into them. */
export async function aliasesOf(
  client: Pick<ClientBase, 'query'>,
  registry: RegistryShape,
  recordType: RecordType,
  survivors: readonly RecordId[],
): Promise<AliasesBySurvivor> {
  return aliasesInRetiredRecords(registry.kind, recordType, await findRecordsMergedInto(client, registry, recordType, survivors))
}

/** Returns the aliases of each survivor, taken from retired records that the caller has read. */
export function aliasesInRetiredRecords(
  kind: Kind,
  recordType: RecordType,
  retired: readonly Pick<RetiredRecord, 'survivor' | 'document'>[],
): AliasesBySurvivor {
  const found = new Map<RecordId, Identifier[]>()
  for (const { survivor, document } of retired) {
    const aliases = found.get(survivor) ?? []
    aliases.push(...identifiersNamingRecord(kind, recordType, JSON.parse(document)))
    found.set(survivor, aliases)
  }
  return found
}

/** Finds which primary identifiers belong to retired records, each with the primary identifier of the survivor. */
export async function findSurvivors(
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
