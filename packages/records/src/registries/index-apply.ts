/** Backfills columns and builds indexes of a registry as declared, while searches and imports go on. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { isStatementTimeout } from '@rollcall/database/database-errors'
import { quoteName } from '@rollcall/database/names'
import { StoreRefusal } from '@rollcall/database/refusal'
import type { RecordType } from '@rollcall/protocol'
import { sql } from 'kysely'
import type { PoolClient } from 'pg'
import { backfillColumns } from '../records/backfill.ts'
import { checkTableOwnership, estimateRowCount, readIndexes } from '../records/catalog.ts'
import { isRegistryClaimedSql } from '../records/claims.ts'
import { isIndexPlanApplied, planIndexes } from '../records/index-plan.ts'
import {
  type DeclaredIndex,
  declaredIndexes,
  indexStatement,
  type RecordTable,
  recordTable,
  recordTableNames,
} from '../records/record-tables.ts'
import { requireRegistry } from './registries.ts'

/** The progress of the current step, counted in records, blocks or rows, for a person who waits. */
export interface ApplyIndexesProgress {
  /** The current step in words, such as `civil Person: backfilling district`. */
  readonly task: string
  readonly done: number
  /** The number that `done` should reach at the end of the step, perhaps an estimate; 0 when unknown. */
  readonly total: number
}

export interface ApplyIndexesResult {
  /** The names of the indexes that were built. */
  readonly built: readonly string[]
  /** The names of `IndexPlan.unfilled` that were backfilled, with their record type, such as `Person.district`. */
  readonly filled: readonly string[]
  /** False when the signal stopped the work. The work so far is committed, and the next call continues it. */
  readonly finished: boolean
}

export interface ApplyIndexesOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ApplyIndexesProgress) => void
}

/**
 * Backfills the columns and identifier rows of a registry that need it, then builds the indexes that are missing. The call may be
 * stopped or killed at any moment.
 * @throws StoreRefusal there is no such registry, another process builds the registry's indexes or changes its attributes, or the
 * database user may not change the tables
 */
export async function applyIndexes(
  db: Database,
  namespace: string,
  options: ApplyIndexesOptions = {},
): Promise<ApplyIndexesResult> {
  const client = await db.pool.connect()
  try {
    const { id } = await requireRegistry(db, namespace)
    await setDatabaseSessionSettings(client)
    if (!(await claimIndexes(client, id))) {
      throw new StoreRefusal(
        `another command builds the indexes of ${namespace} or changed its attributes; try again when it has ended`,
      )
    }
    // Another process may have changed the registry before this session got the claim on its indexes.
    const registry = await requireRegistry(db, namespace)
    const plans = await planIndexes(db, registry)
    if (plans.every(isIndexPlanApplied)) return { built: [], filled: [], finished: true }
    await checkTableOwnership(db.kysely, recordTableNames(registry))
    return await backfillAndBuild(db, client, registry, options)
  } finally {
    // Release the claim at once, so that the next command can begin. Closing the connection releases it too, but
    // PostgreSQL may notice that later. The connection is closed because its settings differ from the pool's.
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined)
    client.release(true)
  }
}

/** True when a process builds the indexes of a registry now, or changes its attributes. */
export async function areIndexesClaimed({ pool }: Pick<Database, 'pool'>, registryId: number): Promise<boolean> {
  const { rows } = await pool.query<{ claimed: boolean }>(`select ${isRegistryClaimedSql('rollcall indexes')} as claimed`, [
    registryId,
  ])
  return rows[0]?.claimed === true
}

async function setDatabaseSessionSettings(client: PoolClient): Promise<void> {
  await client.query('set statement_timeout = 0')
  // If this process is killed, PostgreSQL stops the statement within seconds. Not every operating system supports this setting.
  await client.query(`set client_connection_check_interval = '2s'`).catch(() => undefined)
}

/** Claims the registry for this session; false when another session has the claim. The claim ends with the session. */
async function claimIndexes(client: PoolClient, registryId: number): Promise<boolean> {
  const { rows } = await client.query<{ claimed: boolean }>(
    `select pg_try_advisory_lock(hashtext('rollcall indexes'), $1) as claimed`,
    [registryId],
  )
  return rows[0]?.claimed === true
}

async function backfillAndBuild(
  db: Database,
  client: PoolClient,
  registry: Registry,
  options: ApplyIndexesOptions,
): Promise<ApplyIndexesResult> {
  const filled: string[] = []
  const built: string[] = []
  for (const recordType of registry.kind.record_types) {
    const names = [...(registry.unfilled.get(recordType.name) ?? [])]
    if (names.length === 0) continue
    if (!(await backfillRecordType(db, registry, recordType, names, options))) return { built, filled, finished: false }
    filled.push(...names.map((name) => `${recordType.name}.${name}`))
  }
  const plans = await planIndexes(db, registry)
  for (const recordType of registry.kind.record_types) {
    const table = recordTable(registry, recordType)
    const { missing = [] } = plans.find(({ record_type }) => record_type === recordType.name) ?? {}
    const names = new Set(missing.map(({ index }) => index))
    for (const index of declaredIndexes(table).filter(({ name }) => names.has(name))) {
      const task = `${registry.namespace} ${recordType.name}: index for ${index.of}`
      if (!(await buildIndex(db, client, table, index, { ...options, task }))) {
        return { built, filled, finished: false }
      }
      built.push(index.name)
    }
  }
  return { built, filled, finished: true }
}

async function backfillRecordType(
  db: Database,
  registry: Registry,
  recordType: RecordType,
  names: readonly string[],
  { signal, onProgress }: ApplyIndexesOptions,
): Promise<boolean> {
  const task = `${registry.namespace} ${recordType.name}: backfilling ${names.join(', ')}`
  const total = (await estimateRowCount(db.kysely, recordTable(registry, recordType).table)) ?? 0
  return backfillColumns(db, registry, recordType, {
    ...(signal && { signal }),
    progress: (done) => onProgress?.({ task, done, total: Math.max(total, done) }),
  })
}

/** Milliseconds between two polls of the progress. */
const POLL_INTERVAL_MS = 250

/**
 * Builds a missing index, and builds an interrupted one anew. When the signal aborts, PostgreSQL is asked to stop. The
 * unfinished index is used by no search, and the next build drops it first.
 * @param client outside a transaction, without a statement timeout
 * @returns false when the signal stopped the build
 */
async function buildIndex(
  db: Database,
  client: PoolClient,
  table: RecordTable,
  index: DeclaredIndex,
  options: ApplyIndexesOptions & { readonly task: string },
): Promise<boolean> {
  if (options.signal?.aborted) return false
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  const watch = watchIndexBuild(db, pid, options)
  try {
    const found = (await readIndexes(db.kysely, table.table)).get(index.name)
    if (found?.valid) return true
    if (found !== undefined) await client.query(`drop index concurrently ${quoteName(index.name)}`)
    if (options.signal?.aborted) return false
    await client.query(indexStatement(table, index, 'concurrently'))
    return true
  } catch (error) {
    if (options.signal?.aborted && isStatementTimeout(error)) return false
    throw error
  } finally {
    await watch.stop()
  }
}

/** Reports the progress of a session every `POLL_INTERVAL_MS`, and cancels its statement when the signal aborts. */
function watchIndexBuild(
  db: Database,
  pid: number,
  { signal, onProgress, task }: ApplyIndexesOptions & { readonly task: string },
): { stop(): Promise<void> } {
  let polling: Promise<void> = Promise.resolve()
  const poll = async (): Promise<void> => {
    // Every poll cancels again until the build ends: a cancel between two statements of the build has no effect.
    if (signal?.aborted) await sql`select pg_cancel_backend(${pid})`.execute(db.kysely)
    else if (onProgress) for (const progress of await readProgress(db, pid, task)) onProgress(progress)
  }
  const again = (): void => {
    // After a failed poll, such as one without a connection, the next poll tries again.
    polling = polling.then(poll).catch(() => undefined)
  }
  const timer = setInterval(again, POLL_INTERVAL_MS)
  signal?.addEventListener('abort', again)
  return {
    async stop() {
      clearInterval(timer)
      signal?.removeEventListener('abort', again)
      await polling
    },
  }
}

/** Reads the progress with PostgreSQL's words, such as `building index: scanning table`, in blocks or rows. */
async function readProgress(db: Database, pid: number, task: string): Promise<readonly ApplyIndexesProgress[]> {
  const { rows } = await sql<ApplyIndexesProgress>`
    select ${task}::text || ', ' || phase as task,
      case when blocks_total > 0 then blocks_done else tuples_done end as done,
      case when blocks_total > 0 then blocks_total else tuples_total end as total
    from pg_stat_progress_create_index where pid = ${pid}`.execute(db.kysely)
  return rows
}
