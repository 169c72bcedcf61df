/**
 * Backfills columns and identifier rows: reads stored documents again, and writes the values of new columns, and of columns whose
 * reading rules have changed since (`reading-rules.ts`).
 */

import { withoutProtectedPersons } from '@rollcall/core/model/protection'
import type { FoundRecord, RecordId } from '@rollcall/core/model/records'
import { IDENTIFIER_ROWS_GROUP_NAME, type RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { inTransaction, NO_STATEMENT_TIMEOUT_SQL } from '@rollcall/database/transaction'
import { isJsonObject, type JsonValue, type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { PoolClient } from 'pg'
import { columnGroups, type RecordColumn } from './columns.ts'
import { writeIdentifiers } from './identifier-rows.ts'
import { columnValues } from './prepare-record.ts'
import { storeProtectionMarks } from './protected-records.ts'
import { readProtection } from './protection.ts'
import { recordTable } from './record-tables.ts'
import { updateRows } from './update-rows.ts'

const BACKFILL_BATCH_RECORDS = 1_000

interface BackfillOptions {
  /** The number of records that one transaction backfills. */
  readonly batch?: number
  /** Called after every batch with the number of records that were read since the call began. */
  readonly progress?: (records: number) => void
  readonly signal?: AbortSignal
}

/**
 * Backfills the columns and identifiers that `column_fill` lists for one record type and that this version knows, in batches, and
 * then deletes them from `column_fill`. The call may be stopped or killed at any moment: the next call goes on from the last
 * committed batch. Writers of records set these columns themselves meanwhile; a writer waits while a batch has locked its
 * records.
 * @returns false when `signal` stopped the backfill; true when nothing is left to backfill
 */
export async function backfillColumns(
  db: Database,
  registry: RegistryShape,
  recordType: RecordType,
  { batch = BACKFILL_BATCH_RECORDS, progress, signal }: BackfillOptions = {},
): Promise<boolean> {
  let read = 0
  for (;;) {
    if (signal?.aborted) return false
    const client = await db.pool.connect()
    try {
      const records = await inTransaction(client, () => backfillBatch(client, registry, recordType, batch))
      if (records === null) return true
      read += records
      progress?.(read)
    } finally {
      client.release()
    }
  }
}

interface ColumnFillRow {
  readonly name: string
  readonly next_record: number
}

/** Backfills one batch. Returns the number of records that were read; null when nothing is left to backfill. */
async function backfillBatch(
  client: PoolClient,
  registry: RegistryShape,
  recordType: RecordType,
  batch: number,
): Promise<number | null> {
  const which = [registry.id, recordType.name]
  // `column_fill` may list names that this version of Rollcall does not know. The version that declared them backfills them.
  const known = [...columnGroups(recordType).map(({ name }) => name), IDENTIFIER_ROWS_GROUP_NAME]
  // These rows of `column_fill` are locked, so that two backfills of the same columns take turns.
  const { rows: pending } = await client.query<ColumnFillRow>(
    `select name, next_record from column_fill
     where registry = $1 and record_type = $2 and name = any($3) order by name for update`,
    [...which, known],
  )
  if (pending.length === 0) return null
  const from = Math.min(...pending.map(({ next_record }) => next_record))
  const due = pending.filter(({ next_record }) => next_record === from).map(({ name }) => name)
  const { table } = recordTable(registry, recordType)
  const { rows: records } = await client.query<FoundRecord>(
    `select id::text, document from ${quoteName(table)} as record where id >= $1 order by record.id limit $2 for no key update`,
    [from, batch],
  )
  const protection = await readProtection(client, registry.id)
  const read = records.map(({ id, document: text }) => {
    // The stored document of a record was checked when it was written.
    const document: JsonValue = JSON.parse(text)
    if (!isJsonObject(document)) return { id, document }
    return { id, document: withoutProtectedPersons(registry.kind, recordType, protection, document).document }
  })
  await writeBackfilledColumns(client, registry, recordType, due, read)
  if (due.includes(IDENTIFIER_ROWS_GROUP_NAME)) await writeIdentifiers(client, registry, recordType, records)
  // With new names of an identifier type, further identifiers are found in a record. They may show that the record belongs to a
  // protected person, or names one. The search for other records that name such a person (`rewriteRecordsNamingPersons`) may
  // read the text of all records, so it gets no time limit.
  if (protection.byProtectingIdentifier.size > 0) {
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    await storeProtectionMarks(client, { registry, recordType, protection }, records, ({ id }) => id)
  }
  const last = records.at(-1)
  if (last === undefined) {
    await client.query('delete from column_fill where registry = $1 and record_type = $2 and name = any($3)', [...which, due])
  } else {
    await client.query(
      'update column_fill set next_record = $4::bigint + 1 where registry = $1 and record_type = $2 and name = any($3)',
      [...which, due, last.id],
    )
  }
  return records.length
}

async function writeBackfilledColumns(
  client: PoolClient,
  registry: RegistryShape,
  recordType: RecordType,
  due: readonly string[],
  records: readonly { readonly id: RecordId; readonly document: JsonValue }[],
): Promise<void> {
  const columns: [RecordColumn, number][] = []
  let at = 0
  for (const group of columnGroups(recordType)) {
    for (const column of group.columns) {
      if (due.includes(group.name)) columns.push([column, at])
      at += 1
    }
  }
  if (records.length === 0 || columns.length === 0) return
  const rows = records.map(({ id, document }) => {
    const identifiers = readIdentifiers(registry.kind, recordType, document)
    const values = columnValues(recordType, document, identifiers)
    return { id, ...Object.fromEntries(columns.map(([{ name }, index]) => [name, values[index]])) }
  })
  const changed = columns.map(([column]) => column)
  await updateRows(client, recordTable(registry, recordType).table, changed, rows)
}
