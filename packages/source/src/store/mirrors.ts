/** Stores the progress of mirrors, and which node follows each. */

import { hash } from 'node:crypto'
import type { MirrorHealth } from '@rollcall/core/model/health'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { readDatabaseAndCopyIds } from '@rollcall/database/journal-head'
import type { RowsStoredByPackage } from '@rollcall/database/removal'
import { rowsToRemove } from '@rollcall/database/removal'
import { canonicalJson, type JsonValue } from '@rollcall/protocol'
import { MIRRORED_REGISTRIES_SQL, REGISTRIES_SQL } from '@rollcall/records/registries/registry-names'
import type { ClientBase, Pool } from 'pg'

/** SHA-256 of a registry's source file as canonical JSON, in hexadecimal. */
export const sourceFileDigest = ({ source }: Pick<Registry, 'source'>): string =>
  hash('sha256', canonicalJson(source as never), 'hex')

/**
 * The name of our place in the log of a registry's source. Another database that follows the same source has another one, also
 * when it was restored from a backup of ours: servers of the two would else end each other's place.
 */
export async function logPlaceName(pool: Pool, { namespace }: Pick<Registry, 'namespace'>): Promise<string> {
  const { database, incarnation } = await readDatabaseAndCopyIds(pool)
  return `${namespace}_${hash('sha256', `${database} ${incarnation ?? ''}`, 'hex').slice(0, 8)}`
}

/** The claim of a mirror, so that only one node follows a source. */
export interface MirrorClaim {
  readonly registry: number
  readonly claim: string
}

/** The progress of a comparison of all records. */
export interface ComparisonProgress {
  /** The number of the comparison: the millisecond in which it began. */
  readonly run: number
  /** The record type that is being read; null: the first one; empty: all were read. */
  readonly recordType: string | null
  /** The last key of this record type that was read; null: none. */
  readonly after: string | null
  /** The time at which the comparison began, in seconds since 1970 by our database. */
  readonly began: number
  /** True when the comparison repairs a copy that lacks changes, such as after the log was lost. Absent in older rows: false. */
  readonly isRepair?: boolean
}

/** The stored progress of a mirror, from which a node continues. */
export interface StoredMirrorProgress {
  /** The digest of the source file to which the position belongs; null: nothing was read yet. */
  readonly file: string | null
  readonly position: JsonValue
  readonly comparison: ComparisonProgress | null
  readonly comparison_wanted: boolean
  /** The time at which the last complete comparison began; null: none has ended, and the registry answers nothing. */
  readonly compared_at: Date | null
}

/**
 * Claims a mirror for a number of seconds, if no other claim is valid.
 * @param source the source file of the registry, as this node knows it
 * @returns the progress of the mirror; null: another node has a claim, or the registry now has another source file
 */
export async function claimMirror(
  pool: Pool,
  { registry, claim }: MirrorClaim,
  source: object,
  seconds: number,
): Promise<StoredMirrorProgress | null> {
  const { rows } = await pool.query<StoredMirrorProgress>(
    `insert into source_mirror as mirror (registry, claim, claimed_until)
       select id, $2::uuid, now() + make_interval(secs => $3) from ${MIRRORED_REGISTRIES_SQL} as registry
       where id = $1 and source = $4::jsonb
     on conflict (registry) do update set claim = excluded.claim, claimed_until = excluded.claimed_until
       where mirror.claim is null or mirror.claim = excluded.claim or mirror.claimed_until <= now()
     returning file, position, comparison, comparison_wanted, compared_at`,
    [registry, claim, seconds, JSON.stringify(source)],
  )
  return rows[0] ?? null
}

/** Renews the claim of a mirror. @returns false: the claim was ended, or another node has the mirror */
export async function renewMirror(pool: Pool, { registry, claim }: MirrorClaim, seconds: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `update source_mirror set claimed_until = now() + make_interval(secs => $3) where registry = $1 and claim = $2`,
    [registry, claim, seconds],
  )
  return rowCount === 1
}

/** Ends the claim of a mirror, so that another node can follow its source at once. */
export async function releaseMirror(pool: Pool, { registry, claim }: MirrorClaim): Promise<void> {
  await pool.query(`update source_mirror set claim = null, claimed_until = null where registry = $1 and claim = $2`, [
    registry,
    claim,
  ])
}

/** The claim has ended, or another node has the mirror: nothing may be written under this claim. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost'

  constructor() {
    super('another node follows the source')
  }
}

/** Checks that the claim of a mirror still holds. @throws ClaimLost the claim was ended, or another node has the mirror */
export async function requireClaim(pool: Pool, { registry, claim }: MirrorClaim): Promise<void> {
  const { rows } = await pool.query('select 1 from source_mirror where registry = $1 and claim = $2', [registry, claim])
  if (rows.length === 0) throw new ClaimLost()
}

/** The changes of a mirror's progress that are committed with its records. What is absent here stays as it is stored. */
export interface MirrorProgressChange {
  readonly file?: string
  readonly position?: JsonValue
  readonly comparison?: ComparisonProgress | null
  readonly comparison_wanted?: false
  readonly compared_at?: Date
  /** A time before which every change of the source is in the records, by the clock of our database (`databaseTimeAt`). */
  readonly current_at?: Date
  readonly behind?: number
}

const JSONB_PROGRESS_COLUMNS = new Set(['position', 'comparison'])

/**
 * Stores the progress of a mirror in the transaction that writes its records, and removes the stored failure. Locks the row of
 * the mirror until the transaction ends, so that no other node can claim the mirror before.
 * @returns whether an operator wants all records compared
 * @throws ClaimLost
 */
export async function saveProgress(
  client: Pick<ClientBase, 'query'>,
  { registry, claim }: MirrorClaim,
  progress: MirrorProgressChange,
): Promise<boolean> {
  const given = Object.entries({ ...progress, failure: null, failed_at: null }).filter(([, value]) => value !== undefined)
  const values = given.map(([name, value]) =>
    JSONB_PROGRESS_COLUMNS.has(name) && value !== null ? JSON.stringify(value) : value,
  )
  const { rows } = await client.query<{ wanted: boolean }>(
    `update source_mirror set ${given.map(([name], at) => `${name} = $${at + 3}`).join(', ')}
     where registry = $1 and claim = $2 returning comparison_wanted as wanted`,
    [registry, claim, ...values],
  )
  const [row] = rows
  if (row === undefined) throw new ClaimLost()
  return row.wanted
}

/** Makes the progress of a comparison of all records that begins now. @param isRepair whether changes are known to be missing */
export async function makeComparisonProgress(pool: Pool, isRepair: boolean): Promise<ComparisonProgress> {
  const { rows } = await pool.query<{ began: number }>('select extract(epoch from now())::float8 as began')
  const began = rows[0]?.began ?? 0
  return { run: Math.floor(began * 1_000), recordType: null, after: null, began, isRepair }
}

/**
 * The time that our database's clock had when the node's clock showed `at`. The lag of a mirror is counted by that clock alone.
 * @param now the node's clock. It is read after the answer, so that the time may be too early, and never too late
 */
export async function databaseTimeAt(pool: Pool, at: Date, now: () => Date): Promise<Date> {
  const { rows } = await pool.query<{ time: Date }>('select now() as time')
  return new Date((rows[0]?.time.getTime() ?? 0) - (now().getTime() - at.getTime()))
}

/** Stores why the source cannot be followed now. @param failure words for the operator, without a value */
export async function noteMirrorFailure(pool: Pool, { registry, claim }: MirrorClaim, failure: string): Promise<void> {
  await pool.query(
    `update source_mirror set failure = $3, failed_at = coalesce(case when failure is not null then failed_at end, now())
     where registry = $1 and claim = $2`,
    [registry, claim, failure],
  )
}

/** Asks the node that follows a source to compare all records. @returns false: the first comparison has not ended */
export async function requestComparison({ pool }: Pick<Database, 'pool'>, registry: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    'update source_mirror set comparison_wanted = true where registry = $1 and compared_at is not null',
    [registry],
  )
  return rowCount === 1
}

/** A mirror, as its operator sees it. */
export interface MirrorState {
  /** The time at which the last complete comparison began; null: the first one has not ended. */
  readonly compared_at: Date | null
  readonly comparison: ComparisonProgress | null
  /** The copy has all changes of the source that are older than this number of seconds; null: no such number is known. */
  readonly lag: number | null
  /** The number of changed rows that were found in the source and are not written yet. */
  readonly behind: number
  /** The number of rejected rows: rows without a record, and rows whose records stay as they were before the last change. */
  readonly rejects: number
  readonly failure: string | null
  readonly failed_at: Date | null
  /** True when a node has a claim of the mirror that is still valid. */
  readonly followed: boolean
}

/** Finds the mirror of a registry; null: no node has begun to follow it. */
export async function findMirror({ pool }: Pick<Database, 'pool'>, registry: number): Promise<MirrorState | null> {
  const { rows } = await pool.query<MirrorState>(
    `select compared_at, comparison, greatest(0, extract(epoch from now() - current_at))::float8 as lag,
       behind::float8 as behind, failure, failed_at, claimed_until is not null and claimed_until > now() as followed,
       (select count(*) from source_row where source_row.registry = source_mirror.registry and reason is not null)::float8
         as rejects
     from source_mirror where registry = $1`,
    [registry],
  )
  return rows[0] ?? null
}

/** Reads the health of mirrors, sorted by namespace. A new one that no node has claimed yet may be missing. */
export async function readMirrorsHealth({ pool }: Pick<Database, 'pool'>): Promise<readonly MirrorHealth[]> {
  const { rows } = await pool.query<MirrorHealth>({
    name: 'mirrors health',
    text: `select registry.namespace, mirror.behind::float8 as behind, mirror.failure,
        case when mirror.compared_at is not null then greatest(0, extract(epoch from now() - mirror.current_at)) end::float8 as lag,
        (select count(*) from source_row as row where row.registry = mirror.registry and row.reason is not null)::float8
          as rejects
      from source_mirror as mirror join ${REGISTRIES_SQL} as registry on registry.id = mirror.registry
      where mirror.left_at is null order by registry.namespace`,
  })
  return rows
}

/** The rows about a registry's source that are removed together with the registry. */
export const SOURCE_ROWS_TO_REMOVE: RowsStoredByPackage = { removed: rowsToRemove('registry', ['source_row', 'source_mirror']) }
