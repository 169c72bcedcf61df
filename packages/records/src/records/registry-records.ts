/** Opens the records of a registry, wherever they are. All callers read and write records through this file. */

import { type RecordReader, type RecordSource, RecordsUnavailable } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { StoreRefusal, StoreUnavailable } from '@rollcall/database/refusal'
import type { ClientBase } from 'pg'
import { ownRecords, readerIn } from './own-records.ts'
import { OWN_SINK, type RecordSink } from './record-sink.ts'

export interface RegistryRecords {
  readonly source: RecordSource
  /** Reads what a transaction of our database sees. A source outside of it reads its newest state. */
  within(client: Pick<ClientBase, 'query'>): RecordReader
  /** Null: the records are not ours to write. */
  readonly sink: RecordSink | null
}

/** The registry: `own_records` as in `RegistryShape`; what opens its source needs the other members. */
type Which = Pick<Registry, 'id'> &
  Partial<Pick<Registry, 'own_records' | 'awaits_records' | 'source' | 'kind' | 'namespace'>>

/** A registry whose records are read by a source file. */
export type SourcedRegistry = Pick<Registry, 'id' | 'kind' | 'namespace'> & { readonly source: object }

/** Opens the sources of registries, for one database. */
export interface RecordsOpener {
  open(registry: SourcedRegistry): RegistryRecords
  /** Namespaces of the registries whose source did not answer lately. */
  away(): readonly string[]
  /** The records of the registry are copied now: nobody asks its source. */
  leave(registry: number): void
}

/** The open records, by the pool of a database and the id of a registry: ids have a meaning in one database only. */
const opened = new WeakMap<Database['pool'], Map<number, RegistryRecords>>()
const own = new WeakMap<Database['pool'], RegistryRecords>()
const mirrored = new WeakMap<Database['pool'], RegistryRecords>()
const openers = new WeakMap<Database['pool'], RecordsOpener>()

/** The records of a registry: those that were opened for it, otherwise those in its own tables. */
export function recordsOf(db: Database, registry: Which): RegistryRecords {
  const found = opened.get(db.pool)?.get(registry.id)
  if (found !== undefined) return found
  if (registry.own_records !== false) {
    if (registry.source == null) return ownOf(db)
    openers.get(db.pool)?.leave(registry.id)
    return registry.awaits_records ? AWAITED : readOnly(db)
  }
  const { id, kind, namespace, source } = registry
  const opener = openers.get(db.pool)
  if (opener === undefined || source == null || kind === undefined || namespace === undefined) return NOT_OPEN
  return opener.open({ id, kind, namespace, source })
}

/**
 * The same for what is about everything that is stored of a person: a copy that has not been read as a whole yet is read as far as it has
 * come.
 */
export const storedRecordsOf = (db: Database, registry: Which): RegistryRecords =>
  recordsOf(db, { ...registry, awaits_records: false })

/** Sets what opens the sources of registries of this database in this process. */
export function openRecordsWith(db: Database, opener: RecordsOpener): void {
  openers.set(db.pool, opener)
}

/** Namespaces of the registries whose records are in a database that did not answer lately. */
export const recordsAway = (db: Database): readonly string[] => openers.get(db.pool)?.away() ?? []

/** Returns the writer of a registry's records. @throws StoreRefusal the records are not ours to write */
export function sinkOf(db: Database, registry: Which & Pick<Registry, 'namespace'>): RecordSink {
  const { sink } = recordsOf(db, registry)
  if (sink !== null) return sink
  throw new StoreRefusal(notWritten(registry))
}

/** The copies of a source's records with their writer: for what follows the source, and for nobody else. */
export const mirroredRecords = (db: Database): RegistryRecords & { readonly sink: RecordSink } => ({
  ...ownOf(db),
  sink: OWN_SINK,
})

/** The message that refuses to write records of a source. */
const notWritten = ({ namespace }: Pick<Registry, 'namespace'>): string =>
  `the records of ${namespace} are in a database of its own, which is only read; change them there`

/** Opens records that are not in our own tables, for everything that this process does with the database from now on. */
export function openRecords(db: Database, registry: { readonly id: number }, records: RegistryRecords): void {
  const ofDatabase = opened.get(db.pool) ?? new Map<number, RegistryRecords>()
  opened.set(db.pool, ofDatabase.set(registry.id, records))
}

function ownOf(db: Database): RegistryRecords {
  const records = own.get(db.pool) ?? {
    source: ownRecords(db),
    within: (client) => readerIn(client, db.statementNames),
    sink: OWN_SINK,
  }
  own.set(db.pool, records)
  return records
}

/** Our own tables without a writer: only the mirror that follows the source writes them. */
function readOnly(db: Database): RegistryRecords {
  const records = mirrored.get(db.pool) ?? { ...ownOf(db), sink: null }
  mirrored.set(db.pool, records)
  return records
}

const unopened = (): Promise<never> =>
  Promise.reject(
    new StoreUnavailable('the records of the registry are in a database of its own, which is not open here'),
  )

const unreadable = (read: () => Promise<never>): RegistryRecords => {
  const reader: RecordReader = {
    find: read,
    read,
    merged: read,
    named: read,
    categories: read,
    count: read,
    page: read,
  }
  return { source: { reader: () => reader, session: (work) => work(reader) }, within: () => reader, sink: null }
}

/** The records of a registry without tables whose source this process has not opened. */
const NOT_OPEN = unreadable(unopened)

/**
 * A copy of records that has not been read as a whole. It answers that records are away: the missing ones must not be
 * reported as not found.
 */
const AWAITED = unreadable(() => Promise.reject(new RecordsUnavailable(null)))
