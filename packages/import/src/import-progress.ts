/** How far an import came: one row for each registry, committed with every batch. */

import type { Database } from '@rollcall/database/database'
import { holdsClaim } from '@rollcall/records/records/claims'
import type { ClientBase } from 'pg'

/** All counts are from the beginning of the source, whether or not the import was interrupted. */
export interface Progress {
  readonly bytes: number
  /** Line of the source on which the last consumed entry stands. */
  readonly line: number
  readonly entries: number
  readonly written: number
  /** Of those written, the records that were not there before. */
  readonly inserted: number
  readonly rejected: number
  /** Length of the rejects file. */
  readonly rejects_bytes: number
  readonly read: ReportCounts
  /** Whether its changes are events; null: nothing is stored yet. */
  readonly events: boolean | null
  /** The number of the run, which stands in each record that it has written; null: nothing is stored yet. */
  readonly run: string | null
}

/** What the records of an import, or the rows of its table, had under one name; those that are missing had nothing. */
export interface ValueCounts {
  readonly understood: number
  readonly not_understood: number
  /** Codes that are not on their list; they count as understood. */
  readonly unlisted: number
  /** Lines of the first values that were not understood, and of the first unlisted codes. */
  readonly lines: readonly number[]
  readonly unlisted_lines: readonly number[]
  /** Birth dates after the day of the import, and the lines of the first ones; they count as understood. */
  readonly after_today: number
  readonly after_today_lines: readonly number[]
}

/** Nothing was counted. Also for the counts of an earlier version, which has fewer of them. */
export const NO_VALUES: ValueCounts = {
  understood: 0,
  not_understood: 0,
  lines: [],
  unlisted: 0,
  unlisted_lines: [],
  after_today: 0,
  after_today_lines: [],
}

export interface CountedValues {
  /** Records, or rows. */
  readonly count: number
  readonly values: Readonly<Record<string, ValueCounts>>
}

/** Why lines were rejected as a whole, for each reason. */
export interface RejectionCounts {
  readonly reason: string
  readonly count: number
  /** The first ones. */
  readonly lines: readonly number[]
}

export interface RepeatedCounts {
  readonly count: number
  /** The first ones. */
  readonly lines: readonly number[]
}

/** What an import's report is made of. */
export interface ReportCounts {
  /** Records that are stored although values of them were not understood. */
  readonly kept: number
  /** In the order in which the reasons were met. */
  readonly rejections: readonly RejectionCounts[]
  /** Lines whose record replaced that of an earlier line; an earlier version has not counted them. */
  readonly repeated?: RepeatedCounts
  /** By record type, then by attribute and type of identifier. */
  readonly records: Readonly<Record<string, CountedValues>>
  /** By path of the column mapping. */
  readonly columns: CountedValues
}

export const NOTHING_YET: Progress = {
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

const OTHERS = ['read', 'events', 'run'] as const
type Other = (typeof OTHERS)[number]
type Count = Exclude<keyof Progress, Other>
const COUNTS = (Object.keys(NOTHING_YET) as (keyof Progress)[]).filter(
  (name): name is Count => !OTHERS.includes(name as Other),
)

/**
 * Where the same import was interrupted. Any other import into the registry has the row for itself: to go on
 * in the middle of a file after another one was read would let old records win over newer ones.
 * @param identity of the source and the options it is read with
 */
export async function loadProgress(client: ClientBase, registryId: number, identity: string): Promise<Progress> {
  const { rows } = await client.query<Record<Count, string> & Pick<Progress, Other>>(
    `select ${[...COUNTS, ...OTHERS].join(', ')} from import_progress where registry = $1 and source = $2`,
    [registryId, identity],
  )
  const [row] = rows
  if (row === undefined) return NOTHING_YET
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row[name])]))
  return { ...NOTHING_YET, ...counts, read: row.read, events: row.events, run: row.run }
}

/** A number for a run that begins: the microseconds of the database's clock. */
export async function beginRun(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ run: string }>(
    'select (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as run',
  )
  return rows[0]?.run ?? ''
}

/** Part of the transaction that writes the batch. */
export async function saveProgress(
  client: ClientBase,
  registryId: number,
  identity: string,
  progress: Progress,
): Promise<void> {
  const all = ['registry', 'source', ...COUNTS, ...OTHERS]
  await client.query(
    `insert into import_progress (${all.join(', ')}) values (${all.map((_, at) => `$${at + 1}`).join(', ')})
     on conflict (registry) do update
     set ${all.map((name) => `${name} = excluded.${name}`).join(', ')}, updated_at = now()`,
    [
      ...[registryId, identity, ...COUNTS.map((name) => progress[name])],
      ...[progress.read, progress.events === true, progress.run],
    ],
  )
}

/** In the place of a source: the import has ended, and the row has what its report is made of. A source has a digest. */
const ENDED = 'ended'

/** After the end there is nothing to go on with, and the same file begins anew; the counts stay for the report. */
export const endProgress = (client: ClientBase, registryId: number, progress: Progress): Promise<void> =>
  saveProgress(client, registryId, ENDED, progress)

/** There is nothing to go on with, and nothing to report. */
export async function forgetProgress(client: ClientBase, registryId: number): Promise<void> {
  await client.query('delete from import_progress where registry = $1', [registryId])
}

/** The import of a registry that began last, unless it could not be gone on with and was interrupted. */
export interface LastImport extends Pick<Progress, Count | 'read'> {
  /** When its last batch was committed, or when it ended. */
  readonly updated_at: Date
  readonly ended: boolean
  /** Whether a process is importing into the registry now. Of one that has not ended: otherwise it was interrupted. */
  readonly running: boolean
}

/** Null where none has begun. */
export async function findLastImport({ pool }: Pick<Database, 'pool'>, registryId: number): Promise<LastImport | null> {
  const { rows } = await pool.query<
    Record<Count, string> & Pick<LastImport, 'read' | 'updated_at' | 'ended' | 'running'>
  >(
    `select ${COUNTS.join(', ')}, read, updated_at, source = $2 as ended,
        ${holdsClaim('rollcall import')} as running
      from import_progress where registry = $1::integer`,
    [registryId, ENDED],
  )
  const [row] = rows
  if (row === undefined) return null
  const { read, updated_at, ended, running } = row
  const counts = Object.fromEntries(COUNTS.map((name) => [name, Number(row[name])])) as Record<Count, number>
  return { ...counts, read, updated_at, ended, running }
}
