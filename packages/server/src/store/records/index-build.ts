/** Building one index while its table is read and written. */
import { sql } from 'kysely'
import type { PoolClient } from 'pg'
import type { Database } from '../db/database.ts'
import { quoteName } from '../db/names.ts'
import { indexesOf } from './catalog.ts'
import { type DeclaredIndex, indexStatement, type RecordTable } from './record-tables.ts'

/** How far PostgreSQL says it has come. */
export interface BuildProgress {
  /** In PostgreSQL's words, such as `building index: scanning table`. */
  readonly phase: string
  /** Of the phase; blocks or rows, whichever it counts. 0 of 0 where it counts neither. */
  readonly done: number
  readonly total: number
}

/** Milliseconds between two looks at the progress. */
const LOOK_AGAIN = 250

/**
 * Builds an index that is missing, or anew where a build was interrupted. When the signal aborts, PostgreSQL is asked
 * to stop: what it leaves is an index that no search uses, and the next build begins with dropping it.
 * @param client outside a transaction, without a statement timeout
 * @returns false: stopped by the signal
 */
export async function buildIndex(
  db: Database,
  client: PoolClient,
  table: RecordTable,
  index: DeclaredIndex,
  options: { readonly signal?: AbortSignal; readonly onProgress?: (progress: BuildProgress) => void },
): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid ?? 0
  const watch = watchBuild(db, pid, options)
  try {
    const found = (await indexesOf(db.kysely, table.table)).get(index.name)
    if (found?.valid) return true
    if (found !== undefined) await client.query(`drop index concurrently ${quoteName(index.name)}`)
    if (options.signal?.aborted) return false
    await client.query(indexStatement(table, index, 'concurrently'))
    return true
  } catch (error) {
    if (options.signal?.aborted && isCancelled(error)) return false
    throw error
  } finally {
    await watch.stop()
  }
}

const isCancelled = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '57014'

/** Tells the progress of a backend now and then, and cancels what it does once the signal aborts. */
function watchBuild(
  db: Database,
  pid: number,
  {
    signal,
    onProgress,
  }: { readonly signal?: AbortSignal; readonly onProgress?: (progress: BuildProgress) => void },
): { stop(): Promise<void> } {
  let looking: Promise<void> = Promise.resolve()
  const look = async (): Promise<void> => {
    // Asked again until the build has ended: a cancel between two statements of it meets nothing to cancel.
    if (signal?.aborted) await sql`select pg_cancel_backend(${pid})`.execute(db.kysely)
    else if (onProgress) for (const progress of await readProgress(db, pid)) onProgress(progress)
  }
  const again = (): void => {
    // A look that fails, as in a moment without a connection, is followed by another.
    looking = looking.then(look).catch(() => undefined)
  }
  const timer = setInterval(again, LOOK_AGAIN)
  signal?.addEventListener('abort', again)
  return {
    async stop() {
      clearInterval(timer)
      signal?.removeEventListener('abort', again)
      await looking
    },
  }
}

async function readProgress(db: Database, pid: number): Promise<readonly BuildProgress[]> {
  const { rows } = await sql<BuildProgress>`
    select phase,
      case when blocks_total > 0 then blocks_done else tuples_done end as done,
      case when blocks_total > 0 then blocks_total else tuples_total end as total
    from pg_stat_progress_create_index where pid = ${pid}`.execute(db.kysely)
  return rows
}
