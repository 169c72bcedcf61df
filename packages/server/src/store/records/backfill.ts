/** Filling columns, and the rows of identifiers, from the documents that are held: those that are new, or were filled by other rules. */

import { type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { PoolClient } from 'pg'
import { IDENTIFIERS, type RegistryShape } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { quoteName } from '../db/names.ts'
import { inTransaction } from '../db/transaction.ts'
import { heldOf, type RecordColumn } from './columns.ts'
import { columnValues } from './prepare-record.ts'
import { recordTable } from './record-tables.ts'
import { updateRows } from './record-writer.ts'

const BATCH = 1_000

export interface FillOptions {
  /** Records in one transaction. */
  readonly batch?: number
  /** Told after every batch how many records were looked at since the call began. */
  readonly progress?: (records: number) => void
  readonly signal?: AbortSignal
}

/**
 * Fills what is written down to be filled of one record type, some records at a time, and then crosses
 * them out. It may be stopped or killed at any moment and goes on where it was. Who writes records meanwhile fills
 * their columns itself, and waits for a batch at most.
 * @returns whether nothing is left to be filled: false when it was stopped
 */
export async function fillColumns(
  db: Database,
  registry: RegistryShape,
  recordType: RecordType,
  { batch = BATCH, progress, signal }: FillOptions = {},
): Promise<boolean> {
  let looked = 0
  for (;;) {
    if (signal?.aborted) return false
    const client = await db.pool.connect()
    try {
      const records = await inTransaction(client, () => fillBatch(client, registry, recordType, batch))
      if (records === null) return true
      looked += records
      progress?.(looked)
    } finally {
      client.release()
    }
  }
}

interface FillRow {
  readonly name: string
  readonly next_record: number
}

/** How many records it looked at; null when nothing is to be filled. */
async function fillBatch(
  client: PoolClient,
  registry: RegistryShape,
  recordType: RecordType,
  batch: number,
): Promise<number | null> {
  const which = [registry.id, recordType.name]
  // A name that this version does not know is left to the one that does.
  const known = [...heldOf(recordType).map(({ name }) => name), IDENTIFIERS]
  // Locked, so that of two that fill the same columns one waits for the other's batch.
  const { rows: fills } = await client.query<FillRow>(
    `select name, next_record from column_fill
     where registry = $1 and record_type = $2 and name = any($3) order by name for update`,
    [...which, known],
  )
  if (fills.length === 0) return null
  const from = Math.min(...fills.map(({ next_record }) => next_record))
  const due = fills.filter(({ next_record }) => next_record === from).map(({ name }) => name)
  const { table } = recordTable(registry, recordType)
  const { rows: records } = await client.query<{ id: number; document: string }>(
    `select id, document from ${quoteName(table)} where id >= $1 order by id limit $2 for no key update`,
    [from, batch],
  )
  await writeColumns(client, table, recordType, due, records)
  if (due.includes(IDENTIFIERS)) await writeIdentifiers(client, registry, recordType, records)
  const last = records.at(-1)
  if (last === undefined) {
    await client.query(
      'delete from column_fill where registry = $1 and record_type = $2 and name = any($3)',
      [...which, due],
    )
  } else {
    await client.query(
      'update column_fill set next_record = $4 where registry = $1 and record_type = $2 and name = any($3)',
      [...which, due, last.id + 1],
    )
  }
  return records.length
}

async function writeColumns(
  client: PoolClient,
  table: string,
  recordType: RecordType,
  due: readonly string[],
  records: readonly { readonly id: number; readonly document: string }[],
): Promise<void> {
  const columns: [RecordColumn, number][] = []
  let at = 0
  for (const held of heldOf(recordType)) {
    for (const column of held.columns) {
      if (due.includes(held.name)) columns.push([column, at])
      at += 1
    }
  }
  if (records.length === 0 || columns.length === 0) return
  const rows = records.map(({ id, document }) => {
    // Our own canonical text, which was checked when it was written.
    const values = columnValues(recordType, JSON.parse(document))
    return { id, ...Object.fromEntries(columns.map(([{ name }, index]) => [name, values[index]])) }
  })
  const changed = columns.map(([column]) => column)
  await updateRows(client, table, changed, rows)
}

/** Rows that are right stay as they are: a table of them is larger than that of the records. */
export async function writeIdentifiers(
  client: PoolClient,
  registry: RegistryShape,
  recordType: RecordType,
  records: readonly { readonly id: number; readonly document: string }[],
): Promise<void> {
  const identifiers = quoteName(recordTable(registry, recordType).identifierTable)
  const rows = records.flatMap(({ id, document }) =>
    readIdentifiers(registry.kind, recordType, JSON.parse(document)).map((one) => ({ ...one, id })),
  )
  const borne = [
    rows.map(({ type }) => type),
    rows.map(({ value }) => value),
    rows.map(({ id }) => id),
    rows.map(({ names }) => names === 'record'),
  ]
  await client.query(
    `delete from ${identifiers} as held where held.record = any($1::bigint[]) and not exists (
       select 1 from unnest($2::text[], $3::text[], $4::bigint[]) as borne (type, value, record)
       where borne.type = held.type and borne.value = held.value and borne.record = held.record)`,
    [records.map(({ id }) => id), ...borne.slice(0, 3)],
  )
  await client.query(
    `insert into ${identifiers} (type, value, record, names_record)
     select * from unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[])
     on conflict (type, value, record) do update set names_record = excluded.names_record
     where ${identifiers}.names_record <> excluded.names_record`,
    borne,
  )
}
