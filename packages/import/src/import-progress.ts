/**
 * Stores the progress of an import: one row for each registry. For a file it is committed with every batch, for a
 * stream only at the end.
 */

import type { Database } from '@rollcall/database/database'
import { isRegistryClaimedSql } from '@rollcall/records/records/claims'
import type { ClientBase } from 'pg'

/** The progress of an import. Counts include those before an interruption. */
export interface Progress {
  readonly bytes: number
  /** The line of the source with the last entry that was read. */
  readonly line: number
  readonly entries: number
  readonly written: number
  /** The number of written records that are new. */
  readonly inserted: number
  readonly rejected: number
  /** The length of the rejects file in bytes. */
  readonly rejects_bytes: number
  readonly read: ReportCounts
  /** Whether changes are events; null: nothing is stored yet. */
  readonly events: boolean | null
  /**
   * The number of the run (`newRunNumber`), which each record that the run writes has too; null: nothing is stored yet. For a
   * complete file, a time in the same unit: records that were added after it are not removed.
   */
  readonly run: string | null
}

/** The counts of the values of one attribute, identifier type or column. Missing values are not counted. */
export interface ValueCounts {
  readonly understood: number
  readonly not_understood: number
  /** The number of codes that are not on the list of codes of their attribute. `understood` counts them too. */
  readonly unlisted: number
  /** The line numbers of the first values that were not understood. */
  readonly lines: readonly number[]
  /** The line numbers of the first unlisted codes. */
  readonly unlisted_lines: readonly number[]
  /** Birth dates after the day of the import: their number, and their first lines. They also count as understood. */
  readonly after_today: number
  readonly after_today_lines: readonly number[]
}

/** Counts of zero. They also stand for the counts that an earlier version did not store. */
export const NO_VALUE_COUNTS: ValueCounts = {
  understood: 0,
  not_understood: 0,
  lines: [],
  unlisted: 0,
  unlisted_lines: [],
  after_today: 0,
  after_today_lines: [],
}

/** The counts of the values in records or rows, by the name of the attribute or type, or by the path of the column. */
export interface CountedValues {
  /** The number of records or rows whose values were counted. */
  readonly count: number
  readonly values: Readonly<Record<string, ValueCounts>>
}

/** The count of the lines that were rejected as a whole for one reason. */
export interface RejectionCounts {
  readonly reason: string
  readonly count: number
  /** The numbers of the first lines with this reason. */
  readonly lines: readonly number[]
}

/** The count of lines whose record replaced that of an earlier line. */
export interface RepeatedLineCounts {
  readonly count: number
  /** The numbers of the first lines whose record replaced that of an earlier line. */
  readonly lines: readonly number[]
}

/** The counts from which the report of an import is made. */
export interface ReportCounts {
  /** The number of records that were stored although some of their values were not understood. */
  readonly kept: number
  /** The reasons why lines were rejected, in the order in which they occurred. */
  readonly rejections: readonly RejectionCounts[]
  /** The lines whose record replaced that of an earlier line; absent in counts of earlier versions. */
  readonly repeated?: RepeatedLineCounts
  /** The counts by record type, then by attribute or identifier type. */
  readonly records: Readonly<Record<string, CountedValues>>
  /** The counts of cells that were understood and not understood, by the path to which the column mapping writes the column. */
  readonly columns: CountedValues
}

export const INITIAL_PROGRESS: Progress = {
  bytes: 0,
  line: 0,
  entries: 0,
  written: 0,
  inserted: 0,
  rejected: 0,
  rejects_bytes: 0,
  read: { kept: 0, rejections: [], records: {}, columns: { count: 0, values: {} } },
  events: null,
  run: null,
}

const NON_COUNT_COLUMNS = ['read', 'events', 'run'] as const
type NonCountColumn = (typeof NON_COUNT_COLUMNS)[number]
type CountColumn = Exclude<keyof Progress, NonCountColumn>
const COUNT_COLUMNS = (Object.keys(INITIAL_PROGRESS) as (keyof Progress)[]).filter(
  (name): name is CountColumn => !NON_COUNT_COLUMNS.includes(name as NonCountColumn),
)

/**
 * Loads the progress of the same import, if it was interrupted. Another import into the registry begins anew: if it
 * continued in the middle of a file after another file was read, old records would replace newer ones.
 * @param identity the digest of the source and of the options for reading it
 * @param isComplete true for a complete file: the progress is then also loaded if the file was read to its end, but the records
 * that it does not name were not all removed
 */
export async function loadProgress(
  client: ClientBase,
  registryId: number,
  identity: string,
  isComplete: boolean,
): Promise<Progress> {
  const { rows } = await client.query<Record<CountColumn, string> & Pick<Progress, NonCountColumn> & { readonly source: string }>(
    `select source, ${[...COUNT_COLUMNS, ...NON_COUNT_COLUMNS].join(', ')} from import_progress where registry = $1 and source = any($2)`,
    [registryId, isComplete ? [identity, endedImportSourceText(identity)] : [identity]],
  )
  const [row] = rows
  if (row === undefined) return INITIAL_PROGRESS
  const counts = Object.fromEntries(COUNT_COLUMNS.map((name) => [name, Number(row[name])]))
  // A stored `source` other than `identity` begins with `ended`: the file was read to its end, and `events` is decided anew.
  const events = row.source === identity ? row.events : null
  return { ...INITIAL_PROGRESS, ...counts, read: row.read, events, run: row.run }
}

/** Makes a number for a new run: the microseconds since 1970 by the database's clock. */
export async function newRunNumber(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ run: string }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as run',
  )
  return rows[0]?.run ?? ''
}

/** Stores the progress, for a batch in the transaction that writes the batch. */
export async function saveProgress(client: ClientBase, registryId: number, identity: string, progress: Progress): Promise<void> {
  const all = ['registry', 'source', ...COUNT_COLUMNS, ...NON_COUNT_COLUMNS]
  await client.query(
    `insert into import_progress (${all.join(', ')}) values (${all.map((_, at) => `$${at + 1}`).join(', ')})
     on conflict (registry) do update
     set ${all.map((name) => `${name} = excluded.${name}`).join(', ')}, updated_at = now()`,
    [
      ...[registryId, identity, ...COUNT_COLUMNS.map((name) => progress[name])],
      ...[progress.read, progress.events === true, progress.run],
    ],
  )
}

/** The word with which `source` begins when the import has ended and the row has its report. No digest begins with it. */
const ENDED_IMPORT_PREFIX = 'ended'
/** The value of `source` for an import of a complete file that has ended, but may not have removed the absent records. */
const endedImportSourceText = (identity: string): string => `${ENDED_IMPORT_PREFIX} ${identity}`

/**
 * Stores that the import has ended. Another import of the same file begins at its first line; the counts stay for the report.
 * @param unremoved the `identity` of an import whose removal of absent records has yet to follow: `loadProgress` finds the
 * progress by it; null when no removal follows
 */
export const saveImportEnd = (
  client: ClientBase,
  registryId: number,
  progress: Progress,
  unremoved: string | null = null,
): Promise<void> =>
  saveProgress(client, registryId, unremoved === null ? ENDED_IMPORT_PREFIX : endedImportSourceText(unremoved), progress)

/** Deletes the progress: nothing is left to resume or to report. */
export async function forgetProgress(client: ClientBase, registryId: number): Promise<void> {
  await client.query('delete from import_progress where registry = $1', [registryId])
}

/** The last import that stored its progress or its end. An import of a stream stores only its end. */
export interface LastImport extends Pick<Progress, CountColumn | 'read'> {
  /** The time of the import's last committed batch, or of its end. */
  readonly updated_at: Date
  readonly ended: boolean
  /** True while a process imports into the registry. An import that has neither ended nor runs was interrupted. */
  readonly running: boolean
}

/** Finds the last import of a registry; null when nothing is stored of any import. */
export async function findLastImport({ pool }: Pick<Database, 'pool'>, registryId: number): Promise<LastImport | null> {
  const { rows } = await pool.query<Record<CountColumn, string> & Pick<LastImport, 'read' | 'updated_at' | 'ended' | 'running'>>(
    `select ${COUNT_COLUMNS.join(', ')}, read, updated_at, starts_with(source, $2) as ended,
        ${isRegistryClaimedSql('rollcall import')} as running
      from import_progress where registry = $1::integer`,
    [registryId, ENDED_IMPORT_PREFIX],
  )
  const [row] = rows
  if (row === undefined) return null
  const { read, updated_at, ended, running } = row
  const counts = Object.fromEntries(COUNT_COLUMNS.map((name) => [name, Number(row[name])])) as Record<CountColumn, number>
  return { ...counts, read, updated_at, ended, running }
}
