/** Opens the source of a registry when it is first used, and again when its file or kind has changed. */

import { oncePerObject } from '@rollcall/core/model/once-per'
import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Database } from '@rollcall/database/database'
import { canonicalJson, type Kind } from '@rollcall/protocol'
import { readProtection } from '@rollcall/records/records/protection'
import {
  makeUnreadableRecords,
  type RegistryRecords,
  type SourcedRegistry,
  setSourceOpener,
} from '@rollcall/records/records/registry-records'
import type { EnvironmentVariables } from './engine/address.ts'
import type { OpenEngine } from './engine/engine.ts'
import { openEngine } from './engines.ts'
import { createLiveRecordAccess } from './live-records.ts'
import { readSourceFile } from './source-file.ts'

interface OpenedSource {
  readonly kind: Kind
  readonly file: string
  readonly namespace: string
  readonly records: RegistryRecords
  /** The engine; null: the source cannot be opened here, for example because its address is not in the environment. */
  readonly engine: OpenEngine | null
}

/**
 * Registers for this process how the records of a database's registries are read live from their sources (`setSourceOpener`).
 * `close` closes all sources that were opened.
 * @param searchTime milliseconds for all statements of a search (default: 10 seconds)
 */
export function openSources(db: Database, env: EnvironmentVariables, searchTime?: number): { close(): Promise<void> } {
  const opened = new Map<number, OpenedSource>()
  const leave = (registry: number): void => {
    const found = opened.get(registry)
    if (!opened.delete(registry)) return
    found?.engine?.close().catch(() => undefined)
  }
  setSourceOpener(db, {
    open(registry) {
      const { id, kind } = registry
      const file = sourceFileText(registry.source)
      const found = opened.get(id)
      if (found?.kind === kind && found.file === file) return found.records
      const fresh = openSource(db, registry, file, env, searchTime)
      opened.set(id, fresh)
      // A statement that still runs on the former engine may finish; then its connection closes.
      found?.engine?.close().catch(() => undefined)
      return fresh.records
    },
    away: () =>
      [...opened.values()]
        .filter(({ engine }) => engine === null || engine.isAway())
        .map(({ namespace }) => namespace)
        .toSorted(),
    leave,
    keepOnly(registries) {
      for (const registry of [...opened.keys()]) if (!registries.has(registry)) leave(registry)
    },
  })
  return {
    async close() {
      await Promise.all([...opened.values()].map(({ engine }) => engine?.close()))
    },
  }
}

/** The text of a source file, cached by the object of the file: a registry is read much more often than changed. */
const sourceFileText = oncePerObject((source: object) => canonicalJson(source as never))

function openSource(
  db: Database,
  { kind, namespace, source }: SourcedRegistry,
  file: string,
  env: EnvironmentVariables,
  searchTime: number | undefined,
): OpenedSource {
  const shared = { kind, file, namespace }
  try {
    const read = readSourceFile(source, kind)
    const engine = openEngine(read, env)
    const protectionOf = ({ id }: { readonly id: number }) => readProtection(db.pool, id)
    return { ...shared, engine, records: createLiveRecordAccess(kind, read, engine, protectionOf, searchTime) }
  } catch (error) {
    return { ...shared, engine: null, records: makeUnreadableRecords(() => Promise.reject(new RecordsUnavailable(error))) }
  }
}
