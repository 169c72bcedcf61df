/** Opens the records of a registry for reading and writing, in our own tables or in a source outside. */

import { type RecordReader, type RecordSource, RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { StoreRefusal, StoreUnavailable } from '@rollcall/database/refusal'
import type { ClientBase } from 'pg'
import { readerInTransaction, recordSourceOfOwnTables } from './own-records.ts'
import { OWN_TABLES_SINK, type RecordSink } from './record-sink.ts'

/** The functions that read and write the records of a registry. */
export interface RegistryRecords {
  readonly source: RecordSource
  /** A reader that sees what a transaction of our database sees. A source in another database is read in its newest state. */
  within(client: Pick<ClientBase, 'query'>): RecordReader
  /** The functions that write records; null when we must not write them. */
  readonly sink: RecordSink | null
}

/** The registry whose records are opened. If `awaits_records` is absent, the copy of its records counts as complete. */
type RegistryToOpen = Pick<Registry, 'id'> &
  Partial<Pick<Registry, 'own_records' | 'awaits_records' | 'source' | 'kind' | 'namespace'>>

/** A registry with a source file, which says how its records are read. */
export type SourcedRegistry = Pick<Registry, 'id' | 'kind' | 'namespace'> & { readonly source: object }

/** Opens the sources of registries, for one database. */
export interface SourceOpener {
  open(registry: SourcedRegistry): RegistryRecords
  /** The namespaces of registries whose source cannot be opened in this process, or has not answered since its last failure. */
  away(): readonly string[]
  /** Closes the source of the registry with this id: its records are now copied into our own tables. */
  leave(registry: number): void
  /** Closes the sources of all registries but these. */
  keepOnly(registries: ReadonlySet<number>): void
}

/** The records that `setRegistryRecords` has set, by database pool and registry id: ids are valid in one database only. */
const openedRecordsByPool = new WeakMap<Database['pool'], Map<number, RegistryRecords>>()
const ownRecordsByPool = new WeakMap<Database['pool'], RegistryRecords>()
const readOnlyRecordsByPool = new WeakMap<Database['pool'], RegistryRecords>()
const openersByPool = new WeakMap<Database['pool'], SourceOpener>()

/**
 * The records of a registry: those that `setRegistryRecords` has set; else those in our own tables, or, if `own_records` is
 * false, those in the registry's source. Reads fail while our copy of a source is not complete, or while that source is not open.
 */
export function recordsOf(db: Database, registry: RegistryToOpen): RegistryRecords {
  const found = openedRecordsByPool.get(db.pool)?.get(registry.id)
  if (found !== undefined) return found
  if (registry.own_records !== false) {
    if (registry.source == null) return ownRecordsOf(db)
    openersByPool.get(db.pool)?.leave(registry.id)
    return registry.awaits_records ? RECORDS_OF_INCOMPLETE_MIRROR : readOnlyRecords(db)
  }
  const { id, kind, namespace, source } = registry
  const opener = openersByPool.get(db.pool)
  if (opener === undefined || source == null || kind === undefined || namespace === undefined) return RECORDS_OF_UNOPENED_SOURCE
  return opener.open({ id, kind, namespace, source })
}

/**
 * Does the same as `recordsOf`, but also reads a copy that is not complete yet. For functions about everything that is
 * stored of a person.
 */
export const storedRecordsOf = (db: Database, registry: RegistryToOpen): RegistryRecords =>
  recordsOf(db, { ...registry, awaits_records: false })

/** Sets the opener of sources that this process uses for the registries of this database. */
export function setSourceOpener(db: Database, opener: SourceOpener): void {
  openersByPool.set(db.pool, opener)
}

/** The namespaces of registries whose source cannot be opened in this process, or has not answered since its last failure. */
export const unreachableRegistries = (db: Database): readonly string[] => openersByPool.get(db.pool)?.away() ?? []

/** Closes the sources of registries that were removed. @param registries all registries that exist */
export const closeRemovedSources = (db: Database, registries: readonly Pick<Registry, 'id'>[]): void =>
  openersByPool.get(db.pool)?.keepOnly(new Set(registries.map(({ id }) => id)))

/** Returns the functions that write a registry's records. @throws StoreRefusal we must not write them */
export function requireSink(db: Database, registry: RegistryToOpen & Pick<Registry, 'namespace'>): RecordSink {
  const { sink } = recordsOf(db, registry)
  if (sink !== null) return sink
  throw new StoreRefusal(
    `the records of ${registry.namespace} are in a database of its own, which is only read; change them there`,
  )
}

/** The copies of a source's records in our own tables, with the functions that write them. Only the mirror may use this. */
export const mirroredRecords = (db: Database): RegistryRecords & { readonly sink: RecordSink } => ({
  ...ownRecordsOf(db),
  sink: OWN_TABLES_SINK,
})

/** Replaces, in this process only, the functions that read and write the records of a registry. Stores nothing. */
export function setRegistryRecords(db: Database, registry: { readonly id: number }, records: RegistryRecords): void {
  const ofDatabase = openedRecordsByPool.get(db.pool) ?? new Map<number, RegistryRecords>()
  openedRecordsByPool.set(db.pool, ofDatabase.set(registry.id, records))
}

function ownRecordsOf(db: Database): RegistryRecords {
  const records = ownRecordsByPool.get(db.pool) ?? {
    source: recordSourceOfOwnTables(db),
    within: (client) => readerInTransaction(client, db.statementNames),
    sink: OWN_TABLES_SINK,
  }
  ownRecordsByPool.set(db.pool, records)
  return records
}

/** Our own tables without the functions that write: only the mirror that follows the source may write copies. */
function readOnlyRecords(db: Database): RegistryRecords {
  const records = readOnlyRecordsByPool.get(db.pool) ?? { ...ownRecordsOf(db), sink: null }
  readOnlyRecordsByPool.set(db.pool, records)
  return records
}

const rejectUnopenedSource = (): Promise<never> =>
  Promise.reject(new StoreUnavailable('the records of the registry are in a database of its own, which is not open here'))

/** Records of which every read fails: they must not be reported as not found. @param read returns the rejected promise */
export const makeUnreadableRecords = (read: () => Promise<never>): RegistryRecords => {
  const reader: RecordReader = { find: read, read, merged: read, named: read, categories: read, count: read, page: read }
  return { source: { reader: () => reader, session: (work) => work(reader) }, within: () => reader, sink: null }
}

/** The records of a registry whose source is not open in this process: every read fails. */
const RECORDS_OF_UNOPENED_SOURCE = makeUnreadableRecords(rejectUnopenedSource)

/**
 * The records of a registry whose copy is not complete. Every read says that the records are not available: a missing
 * record must not be reported as not found.
 */
const RECORDS_OF_INCOMPLETE_MIRROR = makeUnreadableRecords(() => Promise.reject(new RecordsUnavailable(null)))
