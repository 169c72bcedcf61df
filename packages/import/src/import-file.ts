/**
 * Imports a file of records into a registry: reads, prepares and writes batches. While PostgreSQL writes one batch, the next one
 * is prepared; there are never more than two batches in memory.
 */

import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { inTransaction } from '@rollcall/database/transaction'
import { compiledFiltersOf, type RecordingDeps } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { type Kind, type RecordType, resolveRecordType } from '@rollcall/protocol'
import { hasRecords } from '@rollcall/records/records/record-counts'
import type { RecordSink } from '@rollcall/records/records/record-sink'
import { recordsOf, requireSink } from '@rollcall/records/records/registry-records'
import type { ClientBase } from 'pg'
import { Batch, type BatchOptions } from './batch.ts'
import { type CompleteFileOptions, checkCompleteFile, checkHasLines, RemovalOfAbsent, type RemovalResult } from './completion.ts'
import {
  chooseDuplicateRule,
  chooseSourceFormat,
  FILE_FORMATS,
  type FormatName,
  type FormatOptions,
  type ReadingDescription,
} from './formats.ts'
import { withClaimedRegistry, withDryRun } from './import-connection.ts'
import { importFingerprint } from './import-fingerprint.ts'
import {
  forgetProgress,
  INITIAL_PROGRESS,
  loadProgress,
  newRunNumber,
  type Progress,
  saveImportEnd,
  saveProgress,
} from './import-progress.ts'
import { createNotedLineTable } from './noted-lines.ts'
import { openRejects, type RejectsFile, rejectsPathFor } from './rejects.ts'
import { type ImportReport, makeReport } from './report.ts'
import { ImportError, type ImportSource, openSource, type SourceEntry } from './source.ts'
import type { DuplicateRule } from './write-lines.ts'

const DEFAULT_BATCH_ENTRIES = 2_000
/** The number of characters in the documents of a batch after which the batch ends. */
const BATCH_CHARACTERS = 16 * 1024 * 1024
/** The number of entries after which the main thread does other work, such as writing the previous batch. */
const ENTRIES_PER_TURN = 32

export interface ImportOptions extends Omit<FormatOptions, 'records' | 'described'> {
  /** True when a record with a value that is not understood is stored and counted; by default it is rejected. */
  readonly lenient?: boolean
  /** The format of the file; by default the extension decides. */
  readonly format?: FormatName
  /** True: no record, no event and no progress is written; rejects and removals are listed only if a path is given. */
  readonly dryRun?: boolean
  /** The name of a record type of the kind; absent: the `@type` of each document decides. */
  readonly recordType?: string
  /** The file for rejected lines; null: no file. Default: `<file>.rejects.ndjson`; none for a stream or a dry run. */
  readonly rejectsPath?: string | null
  /** Stops the import between two batches. Committed batches stay; the import of a file can be continued after them. */
  readonly signal?: AbortSignal
  /** Called after each batch, and again when the source was read to its end. */
  readonly onProgress?: (progress: ReportedProgress) => void
  /** The most entries in one transaction. */
  readonly batchEntries?: number
  /** How events are recorded; absent: no change is an event. */
  readonly events?: EventRecordingOptions
  /** Set when the file is complete: records that are not in it are removed. */
  readonly complete?: CompleteFileOptions
  /** Returns the current time; by default that of the machine. */
  readonly now?: () => Date
}

/** Whether the changes that an import makes are events. */
export const EVENT_MODES = ['none', 'changes'] as const
export type EventMode = (typeof EVENT_MODES)[number]

export interface EventRecordingOptions extends Pick<RecordingDeps, 'limits'> {
  /** `changes`, or `none`. Default: `none` when the registry has no records as the import begins, else `changes`. */
  readonly mode?: EventMode
  readonly now: () => Date
}

/** The counts that an import reports: since the beginning of the source, including those before an interruption. */
export interface ReportedProgress {
  /** The number of entries that were read, without blank lines. */
  readonly lines: number
  readonly written: number
  /** The number of written records that are new; 0 in a dry run. */
  readonly added: number
  /** Written lines whose record replaced a record or changed a survivor. A dry run counts new records here: it cannot tell. */
  readonly replaced: number
  /** The number of lines whose records were stored already as the lines have them; 0 unless the file is complete. */
  readonly unchanged: number
  readonly rejected: number
  readonly bytes: number
  /** The size of the source in bytes; null for a stream. */
  readonly totalBytes: number | null
}

interface ImportResult extends ReportedProgress {
  /** False when the signal stopped the import. */
  readonly finished: boolean
  readonly readAs: ReadingDescription
  readonly report: ImportReport
  readonly events: EventMode
  /** The number of lines that an earlier, interrupted import had read. */
  readonly resumedFrom: number
  /** The file of rejected lines; null when nothing was rejected, or no file was wanted. */
  readonly rejectsPath: string | null
  /** The result of removing absent records; null unless the file is complete and was read to its end. */
  readonly removal: RemovalResult | null
}

/**
 * Imports NDJSON, a JSON array or CSV. Each record replaces the one with its primary identifier. An interrupted import
 * continues after its last committed batch when it is called with the same file and options. A finished import begins
 * anew. The import of a complete file always begins anew: records that it has written before are then unchanged.
 * @param source a path, or a stream, which cannot be resumed
 * @throws ImportError an option is wrong, the source cannot be read, or another import into the registry is running
 * @throws StoreRefusal the records of the registry are not ours to write
 */
export async function importFile(
  db: Database,
  registry: Registry,
  source: string | Readable,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const sink = requireSink(db, registry)
  const format = await chooseSourceFormat(source, options.format)
  const { kind } = registry
  const named = recordTypeNamed(kind, options.recordType)
  const recordTypes = named === null ? kind.record_types : [named]
  let readAs: ReadingDescription = { format, encoding: 'utf-8', table: null }
  const described = (how: ReadingDescription): void => {
    readAs = how
  }
  const read = FILE_FORMATS[format].reader({ ...options, records: { kind, recordTypes }, described })
  const duplicates = chooseDuplicateRule(format, options.mapping)
  const opened = await openSource(source)
  const given = { sink, format, source, opened, read, duplicates, options, readAs: () => readAs }
  try {
    if (options.dryRun === true) {
      return await withDryRun(db, (client) => importOpenedSource(db, client, registry, given))
    }
    return await withClaimedRegistry(db, registry, (client, current) => importOpenedSource(db, client, current, given))
  } finally {
    await opened.close()
  }
}

interface ImportInputs {
  readonly sink: RecordSink
  readonly format: FormatName
  readonly source: string | Readable
  readonly opened: ImportSource
  readonly read: ReturnType<(typeof FILE_FORMATS)[FormatName]['reader']>
  readonly duplicates: DuplicateRule
  readonly options: ImportOptions
  readonly readAs: () => ReadingDescription
}

async function importOpenedSource(
  db: Database,
  client: ClientBase,
  registry: Registry,
  { sink, format, source, opened, read, duplicates, options, readAs }: ImportInputs,
): Promise<ImportResult> {
  const isDry = options.dryRun === true
  const recordType = recordTypeNamed(registry.kind, options.recordType)
  const rejectsPath = rejectsPathFor(source, opened, isDry ? (options.rejectsPath ?? null) : options.rejectsPath)
  const identity = isDry ? null : importFingerprint(opened, format, recordType, options, rejectsPath)
  const stored =
    identity === null ? INITIAL_PROGRESS : await loadProgress(client, registry.id, identity, options.complete !== undefined)
  const number = await newRunNumber(client)
  const completion = options.complete === undefined ? null : new RemovalOfAbsent(options.complete, stored.run ?? number, opened)
  const from = completion === null ? stored : { ...INITIAL_PROGRESS, events: stored.events }
  if (completion !== null && !isDry) await createNotedLineTable(client)
  if (options.complete) checkCompleteFile(source, opened, options.complete, rejectsPath)
  if (!isDry && identity === null) await forgetProgress(client, registry.id)
  // When an interrupted import continues, its rejects stay in the file.
  const rejects = await openRejects(rejectsPath, from.rejects_bytes)
  try {
    const run = {
      client,
      sink,
      completion,
      isComplete: completion !== null,
      registry,
      run: isDry ? null : (from.run ?? number),
      duplicates,
      events: isDry ? null : await chooseEventRecording(db, registry, from, options.events),
      preparing: {
        kind: registry.kind,
        recordType,
        lenient: options.lenient === true,
        today: (options.now?.() ?? new Date()).toISOString().slice(0, 10),
      },
      identity,
      rejects,
      totalBytes: opened.totalBytes,
      options,
    }
    const [progress, isRead] = await runImport(run, read(opened, from), from)
    const absent = { isDry, isEvent: run.events !== null, signal: options.signal }
    const recordTypes = recordType === null ? registry.kind.record_types : [recordType]
    const removal = completion === null || !isRead ? null : await completion.removeAbsent(client, registry, recordTypes, absent)
    const finished = isRead && (removal === null || removal.isFinished)
    if (finished && removal?.refusal === null && !isDry) await saveImportEnd(client, registry.id, progress)
    return {
      ...importProgressOf(progress, opened.totalBytes, completion),
      finished,
      removal,
      readAs: readAs(),
      report: makeReport(registry.kind, progress.read, readAs()),
      events: run.events === null ? 'none' : 'changes',
      resumedFrom: from.entries,
      rejectsPath: progress.rejected > 0 ? rejectsPath : null,
    }
  } finally {
    await rejects.close()
  }
}

/** Null: no events. Without `mode`, a resumed import does as before; a new one records events if the registry has records. */
async function chooseEventRecording(
  db: Database,
  registry: Registry,
  from: Progress,
  given: EventRecordingOptions | undefined,
): Promise<EventRecordingDeps | null> {
  if (given === undefined || given.mode === 'none') return null
  const isWanted = given.mode === 'changes' || (from.events ?? (await hasRecords(db, registry)))
  return isWanted ? { ...given, records: recordsOf(db, registry), filters: compiledFiltersOf(db.pool) } : null
}

type EventRecordingDeps = EventRecordingOptions & Pick<RecordingDeps, 'filters' | 'records'>

interface ImportRun {
  readonly client: ClientBase
  /** The number of the import (`newRunNumber`), which a resumed import keeps; null: a dry run, which writes nothing. */
  readonly run: string | null
  readonly duplicates: DuplicateRule
  readonly registry: Registry
  readonly sink: RecordSink
  /** Removes records that a complete file does not name; null: these records stay. */
  readonly completion: RemovalOfAbsent | null
  readonly isComplete: boolean
  /** How changes are recorded as events; null: changes of records are no events. */
  readonly events: EventRecordingDeps | null
  readonly preparing: BatchOptions
  readonly identity: string | null
  readonly rejects: RejectsFile
  readonly totalBytes: number | null
  readonly options: ImportOptions
}

async function runImport(
  run: ImportRun,
  groups: AsyncIterable<SourceEntry[]>,
  from: Progress,
): Promise<[progress: Progress, finished: boolean]> {
  const { preparing, options } = run
  let writing: Promise<Progress> = Promise.resolve(from)
  try {
    for await (const batch of makeBatches(groups, preparing, options.batchEntries ?? DEFAULT_BATCH_ENTRIES)) {
      const before = await writing
      if (options.signal?.aborted) return [before, false]
      writing = commitBatch(run, batch, before)
      // A failure is thrown where the result is awaited. Until then it must not be reported as unhandled.
      writing.catch(() => undefined)
    }
    const done = await writing
    if (run.isComplete) checkHasLines(done.entries)
    if (run.run !== null) await saveImportEnd(run.client, run.registry.id, done, run.isComplete ? run.identity : null)
    const progress = { ...done, bytes: Math.max(done.bytes, run.totalBytes ?? 0) }
    if (run.options.onProgress) run.options.onProgress(importProgressOf(progress, run.totalBytes, run.completion))
    return [progress, true]
  } finally {
    await writing.catch(() => undefined)
  }
}

/** Divides entries into batches. @param limit the most entries of a batch; `BATCH_CHARACTERS` may end a batch earlier */
async function* makeBatches(groups: AsyncIterable<SourceEntry[]>, preparing: BatchOptions, limit: number): AsyncGenerator<Batch> {
  let batch = new Batch()
  for await (const group of groups) {
    for (const entry of group) {
      batch.add(preparing, entry)
      if (batch.entries % ENTRIES_PER_TURN === 0) await nextTurn()
      if (batch.entries < limit && batch.size < BATCH_CHARACTERS) continue
      yield batch
      batch = new Batch()
    }
  }
  if (batch.entries > 0) yield batch
}

/** Writes a batch in one transaction. @param before the progress before the batch @returns the progress after it */
async function commitBatch(run: ImportRun, batch: Batch, before: Progress): Promise<Progress> {
  const { client, registry, events, options } = run
  const progress = await inTransaction(client, async () => {
    // The number of the run is the time at which it began, in microseconds; a resumed import keeps it.
    const recording = events && { ...events, registry, now: events.now(), began: new Date(Number(run.run) / 1_000) }
    if (run.run !== null) await lockRegistryFor(client, registry.id, 'change')
    const { inserted, unchanged } = await batch.write(run, recording)
    await run.completion?.note(client, batch, unchanged)
    const after = await progressAfterBatch(run, batch, before, inserted)
    if (run.identity !== null) await saveProgress(client, registry.id, run.identity, after)
    return after
  })
  options.onProgress?.(importProgressOf(progress, run.totalBytes, run.completion))
  return progress
}

/** Writes the rejects of a batch to the disk, and returns the progress after the batch. */
async function progressAfterBatch(run: ImportRun, batch: Batch, before: Progress, inserted: number): Promise<Progress> {
  const { rejects, events } = run
  await rejects.append(batch.rejects)
  return {
    bytes: batch.last?.end ?? before.bytes,
    line: batch.last?.line ?? before.line,
    entries: before.entries + batch.entries,
    written: before.written + batch.entries - batch.rejects.length,
    inserted: before.inserted + inserted,
    rejected: before.rejected + batch.rejects.length,
    rejects_bytes: rejects.bytes,
    read: batch.counts.after(before.read),
    events: events !== null,
    run: run.completion?.began ?? run.run,
  }
}

function importProgressOf(progress: Progress, totalBytes: number | null, completion: RemovalOfAbsent | null): ReportedProgress {
  const { entries: lines, written, inserted: added, rejected } = progress
  // Bytes are counted in UTF-8: for a source in another encoding, that may be more than the file has.
  const bytes = Math.min(progress.bytes, totalBytes ?? progress.bytes)
  const unchanged = completion?.unchanged ?? 0
  return { lines, written, added, replaced: written - added - unchanged, unchanged, rejected, bytes, totalBytes }
}

function recordTypeNamed(kind: Kind, name: string | undefined): RecordType | null {
  if (name === undefined) return null
  const found = resolveRecordType(kind, name)
  if (found) return found
  const names = kind.record_types.map((recordType) => recordType.name).join(', ')
  throw new ImportError(`the registry has no record type ${name}; it has ${names}`)
}
