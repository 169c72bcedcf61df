/** The records of a registry, wherever they are: everybody above reads and writes them through what is opened here. */

import type { RecordReader, RecordSource } from '@rollcall/core/model/record-source'
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
  /** Null: the records are written elsewhere, and by us never. */
  readonly sink: RecordSink | null
}

/** Which registry: `own_records` as in `RegistryShape`. */
type Which = Pick<Registry, 'id'> & Partial<Pick<Registry, 'own_records'>>

/** What is open, by the pool of a database and the id of a registry: ids mean something in one database only. */
const opened = new WeakMap<Database['pool'], Map<number, RegistryRecords>>()
const own = new WeakMap<Database['pool'], RegistryRecords>()

/** The records of a registry: what was opened for it, else those in our own tables where it has tables. */
export function recordsOf(db: Database, registry: Which): RegistryRecords {
  return opened.get(db.pool)?.get(registry.id) ?? (registry.own_records === false ? NOT_OPEN : ownOf(db))
}

/**
 * What writes the records of a registry.
 * @throws StoreRefusal they are not ours to write
 */
export function sinkOf(db: Database, registry: Which & Pick<Registry, 'namespace'>): RecordSink {
  const { sink } = recordsOf(db, registry)
  if (sink !== null) return sink
  throw new StoreRefusal(notWritten(registry))
}

/** Why records are not written, for whoever wanted to. */
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

const unopened = (): Promise<never> =>
  Promise.reject(
    new StoreUnavailable('the records of the registry are in a database of its own, which is not open here'),
  )

const UNOPENED: RecordReader = {
  find: unopened,
  read: unopened,
  merged: unopened,
  named: unopened,
  categories: unopened,
  count: unopened,
  page: unopened,
}

/** The records of a registry without tables whose source this process has not opened. */
const NOT_OPEN: RegistryRecords = {
  source: { reader: () => UNOPENED, session: (work) => work(UNOPENED) },
  within: () => UNOPENED,
  sink: null,
}
