/** The sources of registries, each opened when it is first asked, and anew when its file or its kind is another one. */

import { type RecordReader, RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Database } from '@rollcall/database/database'
import { canonicalJson, type Kind } from '@rollcall/protocol'
import { readProtection } from '@rollcall/records/records/protection'
import { openRecordsWith, type RegistryRecords, type SourcedRegistry } from '@rollcall/records/records/registry-records'
import type { Environment } from './engine/address.ts'
import type { OpenEngine } from './engine/engine.ts'
import { openEngine } from './engines.ts'
import { liveRecords } from './live-records.ts'
import { readSourceFile } from './source-file.ts'

interface Opened {
  readonly kind: Kind
  readonly file: string
  readonly namespace: string
  readonly records: RegistryRecords
  /** Null: the file cannot be opened here, such as without its address in the environment. */
  readonly engine: OpenEngine | null
}

/**
 * Has the sources of a database's registries opened in this process.
 * @param searchTime milliseconds for all statements of a search (default: 10 seconds)
 */
export function openSources(db: Database, env: Environment, searchTime?: number): { close(): Promise<void> } {
  const opened = new Map<number, Opened>()
  openRecordsWith(db, {
    open(registry) {
      const { id, kind } = registry
      const file = textOf(registry.source)
      const found = opened.get(id)
      if (found?.kind === kind && found.file === file) return found.records
      const fresh = open(db, registry, file, env, searchTime)
      opened.set(id, fresh)
      // Statements that still run on the former connections end there.
      found?.engine?.close().catch(() => undefined)
      return fresh.records
    },
    away: () =>
      [...opened.values()]
        .filter(({ engine }) => engine === null || engine.isAway())
        .map(({ namespace }) => namespace)
        .toSorted(),
    leave(registry) {
      const found = opened.get(registry)
      if (!opened.delete(registry)) return
      found?.engine?.close().catch(() => undefined)
    },
  })
  return {
    async close() {
      await Promise.all([...opened.values()].map(({ engine }) => engine?.close()))
    },
  }
}

/** Registries are read anew all the time, and their files are seldom others. */
const texts = new WeakMap<object, string>()

function textOf(source: object): string {
  const text = texts.get(source) ?? canonicalJson(source as never)
  texts.set(source, text)
  return text
}

function open(
  db: Database,
  { kind, namespace, source }: SourcedRegistry,
  file: string,
  env: Environment,
  searchTime: number | undefined,
): Opened {
  const shared = { kind, file, namespace }
  try {
    const read = readSourceFile(source, kind)
    const engine = openEngine(read, env)
    const protectionOf = ({ id }: { readonly id: number }) => readProtection(db.pool, id)
    return { ...shared, engine, records: liveRecords(kind, read, engine, protectionOf, searchTime) }
  } catch (error) {
    return { ...shared, engine: null, records: unopened(error) }
  }
}

/** Records of a source that cannot be opened: nothing is found, and nothing is said not to be there. */
function unopened(cause: unknown): RegistryRecords {
  const away = (): Promise<never> => Promise.reject(new RecordsUnavailable(cause))
  const reader: RecordReader = {
    find: away,
    read: away,
    merged: away,
    named: away,
    categories: away,
    count: away,
    page: away,
  }
  return { source: { reader: () => reader, session: (work) => work(reader) }, within: () => reader, sink: null }
}
