/** Random records of one record type in a database, and what each of them has. */

import type { RegistryShape } from '@rollcall/core/model/registry'
import {
  lazyRecordValues,
  type RecordValues,
  readRecordValues,
  type SearchableValues,
} from '@rollcall/core/query/memory/extract-record'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { inTransaction } from '@rollcall/database/transaction'
import { type Kind, parseJson, type RecordType } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { OWN_TABLES_SINK } from '@rollcall/records/records/record-sink'
import { ensureRecordTables, type RecordTable, recordTable } from '@rollcall/records/records/record-tables'
import { writeRecords } from '@rollcall/records/records/record-writer'
import { aliasesOf } from '@rollcall/records/records/retired-records'
import fc from 'fast-check'
import { documents, named } from '../../../core/test/agreement/documents.ts'
import type { SqlCondition } from '../../../records/src/records/search-statement.ts'

export interface HeldRecord {
  readonly id: string
  /** The text of the record in the database. */
  readonly document: string
  readonly extracted: RecordValues
  /** The same record, whose values are read when they are asked for. */
  readonly readable: SearchableValues
}

/** The number of further records that are merged: each second one into the one before it, which goes into a record. */
const MERGED = 40

export interface Population {
  readonly kind: Kind
  readonly recordType: RecordType
  readonly table: RecordTable
  /** The records in the order in which they were added. */
  readonly records: readonly HeldRecord[]
  /** Returns the ids of the records that satisfy a condition, in the order of ids. */
  select(condition: SqlCondition): Promise<string[]>
}

/** Fills the tables of every record type with `size` records, some with aliases; the same ones for the same seed. */
export async function populate(db: Database, registry: RegistryShape, size: number, seed: number): Promise<Population[]> {
  const { kind } = registry
  await ensureRecordTables(db, registry)
  const populations: Population[] = []
  for (const recordType of kind.record_types) {
    const table = recordTable(registry, recordType)
    const prepared = fc
      .sample(documents(kind, recordType), { numRuns: size + MERGED, seed })
      .map((document, number) => prepareRecord(kind, recordType, named(recordType, document, number)))
    const client = await db.pool.connect()
    try {
      await inTransaction(client, async () => {
        const { inserted } = await writeRecords(client, registry, recordType, prepared)
        const merge = (retired = '', survivor = '') =>
          OWN_TABLES_SINK.retireRecord(client, registry, recordType, { survivor, retired, event: 0, now: new Date() })
        const [records, others] = [inserted.slice(0, size), inserted.slice(size)]
        for (let at = 0; at < others.length; at += 2) {
          await merge(others[at + 1]?.id, others[at]?.id)
          await merge(others[at]?.id, records[at]?.id)
        }
      })
    } finally {
      client.release()
    }
    const held = await db.pool.query<{ id: string; document: string }>(
      `select id::text, document from ${quoteName(table.table)} as record order by record.id`,
    )
    const ids = held.rows.map(({ id }) => id)
    const aliases = await aliasesOf(db.pool, registry, recordType, ids)
    const records = held.rows.map(({ id, document }) => {
      const given = [kind, recordType, parseJson(document), aliases.get(id)] as const
      return { id, document, extracted: readRecordValues(...given), readable: lazyRecordValues(...given) }
    })
    const select = async ({ text, values }: SqlCondition): Promise<string[]> => {
      const { rows } = await db.pool.query<{ id: string }>(
        `select id::text from ${quoteName(table.table)} as record where ${text} order by record.id`,
        [...values],
      )
      return rows.map(({ id }) => id)
    }
    populations.push({ kind, recordType, table, records, select })
  }
  return populations
}
