/** Stores which record each row of a source has become, and why other rows could not become one. */

import type { Database } from '@rollcall/database/database'
import { queryWithoutTimeLimit } from '@rollcall/database/transaction'
import type { ClientBase, Pool } from 'pg'

/** Names the stored rows of one record type of a registry. */
export interface SourceRowScope {
  readonly registry: number
  readonly recordType: string
}

/** The stored facts of a row of a source: its key, and the identifier of its record. */
export interface StoredRow {
  readonly key: string
  /** The primary identifier of the row's record; null: the row has no record. */
  readonly primary_identifier: string | null
}

/**
 * Lets PostgreSQL make statistics of the stored rows. Without statistics, it reads all rows of a registry to find some by their
 * keys. PostgreSQL makes statistics by itself later, but a first load finds and stores many rows before that.
 */
export async function analyzeSourceRows(pool: Pool): Promise<void> {
  await pool.query('analyze source_row')
}

/** Finds the stored rows with these keys. */
export async function storedRows(
  pool: Pool,
  { registry, recordType }: SourceRowScope,
  keys: readonly string[],
): Promise<readonly StoredRow[]> {
  const { rows } = await pool.query<StoredRow>(
    `select key, primary_identifier from source_row where registry = $1 and record_type = $2 and key = any($3::text[])`,
    [registry, recordType, keys],
  )
  return rows
}

/**
 * Lists the keys of rows by primary identifiers.
 * @param held primary identifiers, to find the rows whose records have them
 * @param wanted primary identifiers, to find rows that were rejected because records of other rows had them
 */
export async function listRowKeysByIdentifiers(
  pool: Pool,
  { registry, recordType }: SourceRowScope,
  { held, wanted }: { readonly held: readonly string[]; readonly wanted: readonly string[] },
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ key: string }>(
    `select key from source_row where registry = $1 and record_type = $2 and primary_identifier = any($3::text[])
     union select key from source_row where registry = $1 and record_type = $2 and wanted = any($4::text[])`,
    [registry, recordType, held, wanted],
  )
  return rows.map(({ key }) => key)
}

/**
 * Lists stored keys whose rows a comparison has not found in the source, in the order of the keys. The statement has no time
 * limit: it may read all rows.
 */
export async function listKeysUnseenInSource(
  pool: Pool,
  { registry, recordType }: SourceRowScope,
  run: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await queryWithoutTimeLimit<{ key: string }>(pool, {
    text: `select key from source_row where registry = $1 and record_type = $2 and seen <> $3::bigint order by key limit $4`,
    values: [registry, recordType, run, limit],
  })
  return rows.map(({ key }) => key)
}

/** A row of a source after it was read, as it is stored: it has become a record, or it is rejected. */
export interface RowOutcome extends StoredRow {
  /** The row's primary identifier if another row's record has it, so that this row is rejected; otherwise null. */
  readonly wanted: string | null
  /** Why the row is rejected; null: the row has become a record. */
  readonly reason: string | null
}

/**
 * Stores the outcomes of rows, and deletes rows that are gone.
 * @param run the number of the comparison that found the rows; 0: no comparison found them, and the stored number stays
 */
export async function saveRows(
  client: Pick<ClientBase, 'query'>,
  { registry, recordType }: SourceRowScope,
  { found, gone, run }: { readonly found: readonly RowOutcome[]; readonly gone: readonly string[]; readonly run: number },
): Promise<void> {
  if (found.length > 0) {
    await client.query(
      `insert into source_row as stored (registry, record_type, key, primary_identifier, wanted, reason, seen)
       select $1, $2, given.*, $7::bigint
         from unnest($3::text[], $4::text[], $5::text[], $6::text[]) as given
       on conflict (registry, record_type, key) do update set primary_identifier = excluded.primary_identifier,
         wanted = excluded.wanted, reason = excluded.reason,
         seen = case excluded.seen when 0 then stored.seen else excluded.seen end`,
      [
        registry,
        recordType,
        found.map(({ key }) => key),
        found.map(({ primary_identifier }) => primary_identifier),
        found.map(({ wanted }) => wanted),
        found.map(({ reason }) => reason),
        run,
      ],
    )
  }
  if (gone.length === 0) return
  await client.query('delete from source_row where registry = $1 and record_type = $2 and key = any($3::text[])', [
    registry,
    recordType,
    gone,
  ])
}

/** A row that could not become a record, or whose newest state could not become one. */
export interface RejectedRow {
  readonly record_type: string
  readonly key: string
  readonly reason: string
}

/**
 * Lists rejected rows, in the order of record types and keys.
 * @param after the last row of the previous page; null: the first page
 */
export async function rejectedRows(
  { pool }: Pick<Database, 'pool'>,
  registry: number,
  { after, limit }: { readonly after: Pick<RejectedRow, 'record_type' | 'key'> | null; readonly limit: number },
): Promise<readonly RejectedRow[]> {
  const { rows } = await pool.query<RejectedRow>(
    `select record_type, key, reason from source_row where registry = $1 and reason is not null
       and ($2::text is null or (record_type, key) > ($2, $3::text))
     order by record_type, key limit $4`,
    [registry, after?.record_type ?? null, after?.key ?? null, limit],
  )
  return rows
}
