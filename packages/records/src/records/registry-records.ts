/** The records of a registry, wherever they are: everybody above reads and writes them through what is opened here. */

import type { RecordReader, RecordSource } from '@rollcall/core/model/record-source'
import type { Database } from '@rollcall/database/database'
import type { ClientBase } from 'pg'
import { ownRecords, readerIn } from './own-records.ts'

export interface RegistryRecords {
  readonly source: RecordSource
  /** Reads what a transaction of our database sees. A source outside of it reads its newest state. */
  within(client: Pick<ClientBase, 'query'>): RecordReader
}

/** What is open, by the pool of a database and the id of a registry: ids mean something in one database only. */
const opened = new WeakMap<Database['pool'], Map<number, RegistryRecords>>()
const own = new WeakMap<Database['pool'], RegistryRecords>()

/** The records of a registry: those in our own tables, unless it has others. */
export function recordsOf(db: Database, registry: { readonly id: number }): RegistryRecords {
  return opened.get(db.pool)?.get(registry.id) ?? ownOf(db)
}

/** Opens records that are not in our own tables, for everything that this process does with the database from now on. */
export function openRecords(db: Database, registry: { readonly id: number }, records: RegistryRecords): void {
  const ofDatabase = opened.get(db.pool) ?? new Map<number, RegistryRecords>()
  opened.set(db.pool, ofDatabase.set(registry.id, records))
}

function ownOf(db: Database): RegistryRecords {
  const records = own.get(db.pool) ?? {
    source: ownRecords(db),
    within: (client) => readerIn(client, db.statementNames),
  }
  own.set(db.pool, records)
  return records
}
