/** Reads and deletes the traces of deleted records. */
import type { PoolClient } from 'pg'

interface DeletedRecordKey {
  readonly registry: number
  readonly record_type: string
  readonly primary_identifier: string
}

/**
 * SQL that gives the time at which a record was last deleted; null when it was not deleted since a given time.
 * @param of SQL expressions: `since` of the given time, the others of the key of the record
 */
export const lastDeletionSql = (of: Readonly<Record<keyof DeletedRecordKey | 'since', string>>): string =>
  `(select max(deleted_at) from record_tombstone where registry = ${of.registry} and record_type = ${of.record_type}
    and deleted_at >= ${of.since} and primary_identifier = ${of.primary_identifier})`

/** Deletes the traces of a deleted record. Returns the number of deleted traces. */
export async function forgetDeletionTraces(
  client: Pick<PoolClient, 'query'>,
  { registry, record_type, primary_identifier }: DeletedRecordKey,
): Promise<number> {
  const key = [registry, record_type, primary_identifier]
  const { rowCount } = await client.query(
    'delete from record_tombstone where registry = $1 and record_type = $2 and primary_identifier = $3',
    key,
  )
  return rowCount ?? 0
}

export async function countDeletionTraces(
  client: Pick<PoolClient, 'query'>,
  { registry, record_type, primary_identifier }: DeletedRecordKey,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::integer as count from record_tombstone
      where registry = $1 and record_type = $2 and primary_identifier = $3`,
    [registry, record_type, primary_identifier],
  )
  return rows[0]?.count ?? 0
}
