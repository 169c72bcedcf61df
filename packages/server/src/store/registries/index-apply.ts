/** Bringing a registry's tables to what is declared: columns filled, indexes built, while searches and imports go on. */

import type { RecordType } from '@rollcall/protocol'
import type { PoolClient } from 'pg'
import type { Registry } from '../../model/registry.ts'
import type { Database } from '../db/database.ts'
import { StoreRefusal } from '../db/refusal.ts'
import { estimatedRows } from '../records/catalog.ts'
import { fillColumns } from '../records/fill-columns.ts'
import { buildIndex } from '../records/index-build.ts'
import { isComplete, planIndexes } from '../records/index-plan.ts'
import { declaredIndexes, recordTable } from '../records/record-tables.ts'
import { registryAt } from './registries.ts'
import { checkOwnership } from './registry-changes.ts'

/** What is being done, for a person who waits. */
export interface ApplyProgress {
  /** Such as `civil Person: filling district`. */
  readonly task: string
  readonly done: number
  /** 0 where it is not known. */
  readonly total: number
}

export interface Applied {
  /** Indexes built, by name. */
  readonly built: readonly string[]
  /** Attributes and compounds whose columns were filled, as `Person.district`. */
  readonly filled: readonly string[]
  /** False: stopped by the signal; what is done is kept, and the next call goes on from there. */
  readonly finished: boolean
}

export interface ApplyOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ApplyProgress) => void
}

/**
 * Fills the columns of a registry that are to be filled, then builds the indexes that are missing. It may be stopped
 * or killed at any moment.
 * @throws StoreRefusal another one works on the registry, or the database's user may not
 */
export async function applyIndexes(
  db: Database,
  namespace: string,
  options: ApplyOptions = {},
): Promise<Applied> {
  const client = await db.pool.connect()
  try {
    const { id } = await registryAt(db, namespace)
    await prepareSession(client)
    if (!(await claimIndexes(client, id))) {
      throw new StoreRefusal(
        `another command builds the indexes of ${namespace} or changed its attributes; try again when it has ended`,
      )
    }
    // What was read before the claim may have changed until it was ours.
    const registry = await registryAt(db, namespace)
    const plans = await planIndexes(db, registry)
    if (plans.every(isComplete)) return { built: [], filled: [], finished: true }
    await checkOwnership(db.kysely, registry)
    return await apply(db, client, registry, options)
  } finally {
    // The next may begin as soon as this one has ended. Closing the connection, whose settings are not the pool's,
    // gives up the claim as well, whatever state a failure left it in, but only when PostgreSQL gets to notice.
    await client.query('select pg_advisory_unlock_all()').catch(() => undefined)
    client.release(true)
  }
}

async function prepareSession(client: PoolClient): Promise<void> {
  await client.query('set statement_timeout = 0')
  // PostgreSQL notices within seconds when we are killed, and gives up what it does for us. Not every system can.
  await client.query(`set client_connection_check_interval = '2s'`).catch(() => undefined)
}

/** The claim ends with the session, also when this process is killed. */
async function claimIndexes(client: PoolClient, registryId: number): Promise<boolean> {
  const { rows } = await client.query<{ claimed: boolean }>(
    `select pg_try_advisory_lock(hashtext('rollcall indexes'), $1) as claimed`,
    [registryId],
  )
  return rows[0]?.claimed === true
}

async function apply(
  db: Database,
  client: PoolClient,
  registry: Registry,
  options: ApplyOptions,
): Promise<Applied> {
  const filled: string[] = []
  const built: string[] = []
  for (const recordType of registry.kind.record_types) {
    const names = [...(registry.unfilled.get(recordType.name) ?? [])]
    if (names.length === 0) continue
    if (!(await fill(db, registry, recordType, names, options))) return { built, filled, finished: false }
    filled.push(...names.map((name) => `${recordType.name}.${name}`))
  }
  for (const plan of await planIndexes(db, registry)) {
    for (const { index } of plan.missing) {
      if (!(await build(db, client, registry, plan.record_type, index, options))) {
        return { built, filled, finished: false }
      }
      built.push(index)
    }
  }
  return { built, filled, finished: true }
}

async function fill(
  db: Database,
  registry: Registry,
  recordType: RecordType,
  names: readonly string[],
  { signal, onProgress }: ApplyOptions,
): Promise<boolean> {
  const task = `${registry.namespace} ${recordType.name}: filling ${names.join(', ')}`
  const total = (await estimatedRows(db.kysely, recordTable(registry, recordType).table)) ?? 0
  return fillColumns(db, registry, recordType, {
    ...(signal && { signal }),
    progress: (done) => onProgress?.({ task, done, total: Math.max(total, done) }),
  })
}

async function build(
  db: Database,
  client: PoolClient,
  registry: Registry,
  record_type: string,
  name: string,
  { signal, onProgress }: ApplyOptions,
): Promise<boolean> {
  if (signal?.aborted) return false
  const recordType = registry.kind.record_types.find((row) => row.name === record_type)
  if (recordType === undefined) return true
  const table = recordTable(registry, recordType)
  const index = declaredIndexes(table).find((declared) => declared.name === name)
  if (index === undefined) return true
  const task = `${registry.namespace} ${record_type}: index for ${index.of}`
  return buildIndex(db, client, table, index, {
    ...(signal && { signal }),
    onProgress: ({ phase, done, total }) => onProgress?.({ task: `${task}, ${phase}`, done, total }),
  })
}
