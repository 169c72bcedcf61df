/** Compares the records that were copied from a source with those that are read live in it. */

import { identifiersNamingRecord } from '@rollcall/core/model/person-identifiers'
import { NOBODY_PROTECTED } from '@rollcall/core/model/protection'
import type { RecordReader } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { requireRegistry } from '@rollcall/records/registries/registries'
import type { EnvironmentVariables } from '../src/engine/address.ts'
import { openEngine } from '../src/engines.ts'
import { createLiveRecordAccess } from '../src/live-records.ts'
import { readSourceFile } from '../src/source-file.ts'

/** The documents of a registry, by record type and primary identifier. Rows of a source may have the same identifier. */
type Documents = ReadonlyMap<string, readonly string[]>

async function documentsOf(reader: RecordReader, registry: Registry): Promise<Documents> {
  const documents = new Map<string, string[]>()
  for (const recordType of registry.kind.record_types) {
    const all = { recordType, predicate: null, since: null, after: null, limit: 20_000 }
    for (const { document } of await reader.page(registry, all)) {
      const named = identifiersNamingRecord(registry.kind, recordType, JSON.parse(document))
      const { value } = named.find(({ type }) => type === recordType.primary_identifier) ?? {}
      const name = `${recordType.name} ${value}`
      documents.set(name, [...(documents.get(name) ?? []), document])
    }
  }
  return documents
}

/**
 * Names the records that the copy lacks, and those that no row of the source has.
 * @param env the environment variables with the address of the source
 */
export async function differences(db: Database, namespace: string, env: EnvironmentVariables): Promise<readonly string[]> {
  const registry = await requireRegistry(db, namespace)
  const file = { ...readSourceFile(registry.source, registry.kind), mirror: null }
  const engine = openEngine(file, env)
  try {
    const { source } = createLiveRecordAccess(registry.kind, file, engine, async () => NOBODY_PROTECTED)
    const live = await documentsOf(source.reader('sync'), registry)
    const copied = await documentsOf(recordsOf(db, registry).within(db.pool), registry)
    const names = [...new Set([...live.keys(), ...copied.keys()])]
    return names.filter((name) => {
      const [one, ...others] = copied.get(name) ?? []
      return one === undefined || others.length > 0 || !live.get(name)?.includes(one)
    })
  } finally {
    await engine.close()
  }
}
