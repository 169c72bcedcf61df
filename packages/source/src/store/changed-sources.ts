/** Ends and begins mirrors when registries get other source files, and notes what former mirrors have left. */

import type { Database } from '@rollcall/database/database'
import { NO_STATEMENT_TIMEOUT_SQL, withTransaction } from '@rollcall/database/transaction'
import type { JsonValue } from '@rollcall/protocol'
import { dropMirroredRecords } from '@rollcall/records/registries/removed-registries'
import type { ClientBase, Pool } from 'pg'

/** A position in the log of a former source. From this position on, the database of the source still keeps its log for us. */
export interface AbandonedLogPosition {
  readonly source: object
  readonly position: JsonValue
}

/**
 * Ends the claim of a mirror, so that nothing more is written by its former source file. Adds our place in the source's log to
 * `abandoned`, if the source keeps its log for us. Locks the mirror until the transaction ends.
 * @param source the former source file; null: its database keeps no log for us, so no place is added
 * @returns the digest of the file with which the source was last followed (null: none), and whether a comparison is unfinished;
 * null: the mirror has no row, because no node has begun to follow it
 */
export async function endMirrorClaimAndNoteLogPlace(
  client: Pick<ClientBase, 'query'>,
  registry: number,
  source: object | null,
): Promise<{ readonly file: string | null; readonly isComparing: boolean } | null> {
  const { rows } = await client.query<{ file: string | null; isComparing: boolean }>(
    `update source_mirror set claim = null, claimed_until = null,
       abandoned = case when $2::jsonb is null or position is null then abandoned
         else abandoned || jsonb_build_array(jsonb_build_object('source', $2::jsonb, 'position', position)) end
     where registry = $1 returning file, comparison is not null as "isComparing"`,
    [registry, source === null ? null : JSON.stringify(source)],
  )
  return rows[0] ?? null
}

const RESET_PROGRESS_SQL = `file = null, position = null, comparison = null, comparison_wanted = false, compared_at = null,
  current_at = null, behind = 0, failure = null, failed_at = null`

/** Begins the mirror of a registry that was read live. Events and answers keep ids made of keys until all records are copied. */
export async function beginMirror(client: Pick<ClientBase, 'query'>, registry: number): Promise<void> {
  await client.query('delete from source_row where registry = $1', [registry])
  await client.query(
    `insert into source_mirror (registry, was_live) values ($1, true)
     on conflict (registry) do update set was_live = true, left_at = null, ${RESET_PROGRESS_SQL}`,
    [registry],
  )
}

/** Ends the mirror of a registry that is read live from now on. Its copies are deleted a little later. */
export async function endMirror(client: Pick<ClientBase, 'query'>, registry: number): Promise<void> {
  await client.query(`update source_mirror set was_live = false, left_at = now(), ${RESET_PROGRESS_SQL} where registry = $1`, [
    registry,
  ])
}

/** True when a registry that was read live is being copied, so that stored ids of records are keys of its source. */
export async function isBecomingMirror(client: Pick<ClientBase, 'query'>, registry: number): Promise<boolean> {
  const { rows } = await client.query('select 1 from source_mirror where registry = $1 and was_live', [registry])
  return rows.length > 0
}

/** Stores that all records were copied, so that stored ids of records are those of the copies. */
export async function noteMirrorComplete(client: Pick<ClientBase, 'query'>, registry: number): Promise<void> {
  await client.query('update source_mirror set was_live = false where registry = $1', [registry])
}

/** What former mirrors of a registry have left: places in logs of former sources (`abandoned`), and copies of records. */
export interface MirrorRemains {
  readonly registry: number
  readonly abandoned: readonly AbandonedLogPosition[]
  /** True when the copies may be deleted: the registry has been read live for a minute. */
  readonly isOver: boolean
}

/** Seconds after the end of a mirror, after which every node is taken to read the source live. */
const ENDED_MIRROR_KEPT_SECONDS = 60

/** Finds what mirrors have left in former sources and in our tables. */
export async function findMirrorRemains(pool: Pool): Promise<readonly MirrorRemains[]> {
  const { rows } = await pool.query<MirrorRemains>(
    `select registry, abandoned, coalesce(left_at < now() - make_interval(secs => $1), false) as "isOver"
     from source_mirror where left_at is not null or abandoned <> '[]'`,
    [ENDED_MIRROR_KEPT_SECONDS],
  )
  return rows
}

/** Deletes the note of a place in a log that the former source no longer keeps for us. */
export async function forgetAbandonedPlace(pool: Pool, registry: number, place: AbandonedLogPosition): Promise<void> {
  await pool.query(
    `update source_mirror set abandoned = (select coalesce(jsonb_agg(one), '[]') from jsonb_array_elements(abandoned) as one
       where one <> $2::jsonb) where registry = $1`,
    [registry, JSON.stringify(place)],
  )
}

/** Deletes the copies that a former mirror of a registry has left. If the registry has no former mirror, nothing is deleted. */
export async function dropFormerMirrorCopies(db: Database, registry: number): Promise<void> {
  await withTransaction(db.pool, async (client) => {
    // The statements have no time limit, because a large registry has millions of rows.
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    if (await forgetFormerMirrorRows(client, registry)) await dropMirroredRecords(client, registry)
  })
}

/**
 * Deletes what is stored about a former mirror: its rows in `source_row`, and its row in `source_mirror`. The row in
 * `source_mirror` stays while it has a place in a log (`abandoned`).
 * @returns false: the registry is a mirror, or never was one, so its copies must stay
 */
async function forgetFormerMirrorRows(client: Pick<ClientBase, 'query'>, registry: number): Promise<boolean> {
  const { rows } = await client.query('select 1 from source_mirror where registry = $1 and left_at is not null for update', [
    registry,
  ])
  if (rows.length === 0) return false
  await client.query('delete from source_row where registry = $1', [registry])
  await client.query(`delete from source_mirror where registry = $1 and abandoned = '[]'`, [registry])
  return true
}
