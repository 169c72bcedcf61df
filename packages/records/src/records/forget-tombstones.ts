/** Forgetting that a record was ever there: tombstones and source versions have its primary identifier. */
import type { PoolClient } from 'pg'

interface Primary {
  readonly registry: number
  readonly record_type: string
  readonly primary_identifier: string
}

/** @returns how many tombstones there were */
export async function forgetTombstones(
  client: Pick<PoolClient, 'query'>,
  { registry, record_type, primary_identifier }: Primary,
): Promise<number> {
  const key = [registry, record_type, primary_identifier]
  const { rowCount } = await client.query(
    'delete from record_tombstone where registry = $1 and record_type = $2 and primary_identifier = $3',
    key,
  )
  return rowCount ?? 0
}

export async function countTombstones(
  client: Pick<PoolClient, 'query'>,
  { registry, record_type, primary_identifier }: Primary,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::integer as count from record_tombstone
      where registry = $1 and record_type = $2 and primary_identifier = $3`,
    [registry, record_type, primary_identifier],
  )
  return rows[0]?.count ?? 0
}
