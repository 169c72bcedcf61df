/** The records of a registry: imported from a file, or deleted by their identifiers. */

import type { Readable } from 'node:stream'
import type { Registry } from '@rollcall/core/model/registry'
import { isTextStorable } from '@rollcall/database/text'
import { inTransaction } from '@rollcall/database/transaction'
import { recordChanges } from '@rollcall/delivery/events/record-changes'
import { compiledFiltersOf } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { forgetRecordSourceVersions } from '@rollcall/delivery/store/events/published'
import type { CompleteFileOptions, RemovalResult } from '@rollcall/import/completion'
import { FILE_FORMATS, type FormatName } from '@rollcall/import/formats'
import { EVENT_MODES, importFile, type ReportedProgress } from '@rollcall/import/import-file'
import { identifierValue, oneOf, type RecordType, resolveIdentifierType } from '@rollcall/protocol'
import { recordsOf, requireSink } from '@rollcall/records/records/registry-records'
import { findSurvivors } from '@rollcall/records/records/retired-records'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { requireRecordType } from '@rollcall/records/registries/registry-attributes'
import Type from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { auditAct } from '../audit/operator-entries.ts'
import type { HasEventRecording } from '../deps.ts'
import { closed, flag, markPersonal, Namespace, orNull, RecordTypeName, text, wholeNumber } from '../members.ts'
import { ImportReport } from './import-reports.ts'

// The cast is safe: the table has exactly the names of the type.
export const IMPORT_FORMATS = Object.keys(FILE_FORMATS) as FormatName[]
export { delimiterName } from '@rollcall/import/csv'
export type { FormatName } from '@rollcall/import/formats'
export { EVENT_MODES, type EventMode, type ReportedProgress } from '@rollcall/import/import-file'
export { openRecordFile, type RecordFile, type RecordOrProblem } from '@rollcall/import/record-file'

const CountOf = (description: string) => wholeNumber(description)

interface ImportDeps extends HasEventRecording {
  /** The path of a file, or a stream. An interrupted import of a stream cannot be continued. */
  readonly source: string | Readable
  /** The path for rejected lines; null: they are not listed. Default for a file: `<file>.rejects.ndjson`. */
  readonly rejectsPath?: string | null
  /** With `complete`: the file to which removed records are added; only its owner can read it. */
  readonly removalsPath?: string
  /** The number of entries of the file that one transaction imports, for tests. Absent: the import's own default. */
  readonly batchEntries?: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: ReportedProgress) => void
}

const ImportFileFormat = closed({
  format: oneOf(IMPORT_FORMATS),
  encoding: text('Encoding of the text.'),
  delimiter: orNull(text('For CSV: the character between cells; null for JSON.')),
  header: orNull(flag('For CSV: whether the first row has the names of the columns; null for JSON.')),
})

const CompleteFileRemoval = closed({
  before: CountOf('Records that there were before the import.'),
  absent: CountOf('Of these, the records that the file does not name.'),
  removed: CountOf('Of these, the records that are deleted.'),
  refusal: orNull(text('Why nobody is removed; null: nothing forbids it.')),
})

/**
 * Imports the records of a file or a stream. Each replaces the record that has the same primary identifier. With `complete`,
 * records that the file lacks are deleted, unless a check refuses the deletion, for example because they are too many.
 */
export const importRecords = defineAct(
  {
    name: 'import',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      format: Type.Optional(oneOf(IMPORT_FORMATS, { description: 'Default: from the extension of the file.' })),
      mapping: Type.Optional(
        Type.Unknown({
          description: 'For CSV: by path in the record, such as identifier[UIN], the column or how it is read (docs/import.md).',
        }),
      ),
      delimiter: Type.Optional(text('For CSV: the character between cells (default: found out).')),
      encoding: Type.Optional(text('For CSV: the encoding of its text, such as windows-1252 (default: found out).')),
      header: Type.Optional(flag('For CSV: whether the first row has the names of the columns (default: found out).')),
      dry_run: Type.Optional(flag('Do everything but write (default: false).')),
      lenient: Type.Optional(
        flag('Keep records of which a value is not understood, and count them (default: false, they are rejected).'),
      ),
      complete: Type.Optional(
        flag('The file has all records of the registry, or of the record type: others are deleted (default: false).'),
      ),
      allow_removal: Type.Optional(
        CountOf('With complete: how many records may be deleted (default: 2 % of those that there are).'),
      ),
      record_type: Type.Optional(text("Record type of all records (default: each record's @type).")),
      events: Type.Optional(
        oneOf(EVENT_MODES, {
          description:
            'Whether changes are events that subscribers are notified of (default: none for a registry without records, else changes).',
        }),
      ),
    }),
    result: closed({
      namespace: Namespace,
      finished: flag('False: it was stopped; the same import goes on from there.'),
      lines: CountOf('Records read: written and rejected.'),
      written: CountOf('Records written.'),
      new: orNull(CountOf('Of those written, the records that were not there before; null in a dry run.')),
      replaced: orNull(CountOf('Of those written, those that took the place of another; null in a dry run.')),
      dry_run: flag('True: nothing was written; the counts say what would have been.'),
      unchanged: orNull(CountOf('Of those written, those that were there already as they are; null unless complete.')),
      removal: orNull(CompleteFileRemoval),
      rejected: CountOf('Records rejected.'),
      read_as: ImportFileFormat,
      report: ImportReport,
      events: oneOf(EVENT_MODES, { description: 'Whether changes were events.' }),
      resumed_from: CountOf('Lines that an earlier, interrupted import had done.'),
      rejects_file: orNull(text('File that lists the rejected lines.')),
    }),
  },
  async (
    { now = () => new Date(), ...deps }: ImportDeps & BaseActDeps,
    { namespace, record_type, events: mode, dry_run, complete, allow_removal, ...given },
  ) => {
    const { db, limits, source, rejectsPath, removalsPath, batchEntries, signal, onProgress } = deps
    if (complete !== true && (allow_removal !== undefined || removalsPath !== undefined)) {
      throw new AdminRefusal('a removal is of a complete file: --allow-removal and --removals go with --complete')
    }
    const registry = await requireRegistry(db, namespace)
    const result = await importFile(db, registry, source, {
      ...given,
      now,
      events: { limits, now, ...(mode !== undefined && { mode }) },
      ...(record_type !== undefined && { recordType: record_type }),
      ...(dry_run !== undefined && { dryRun: dry_run }),
      ...(rejectsPath !== undefined && { rejectsPath }),
      ...(complete === true && {
        complete: {
          remove: makeAbsentRecordRemover(deps, now()),
          ...(allow_removal !== undefined && { allowRemoval: allow_removal }),
          ...(removalsPath !== undefined && { removalsPath }),
        },
      }),
      ...(batchEntries !== undefined && { batchEntries }),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
    })
    const { lines, written, rejected, finished, report, events, resumedFrom, readAs, removal } = result
    const { format, encoding, table } = readAs
    const isDry = dry_run === true
    return {
      namespace,
      finished,
      dry_run: isDry,
      lines,
      written,
      rejected,
      report,
      events,
      unchanged: complete === true ? result.unchanged : null,
      removal: removal === null ? null : toRecordRemoval(removal),
      new: isDry ? null : result.added,
      replaced: isDry ? null : result.replaced,
      read_as: { format, encoding, delimiter: table?.delimiter ?? null, header: table?.header ?? null },
      resumed_from: resumedFrom,
      rejects_file: result.rejectsPath,
    }
  },
)

const toRecordRemoval = ({ before, absent, removed, refusal }: RemovalResult) => ({ before, absent, removed, refusal })

/**
 * Makes the function that removes records which a complete file lacks, with audit entry and traces as `deleteRecords` does. The
 * import can be stopped between two calls of this function, and never within one.
 */
function makeAbsentRecordRemover({ signal: _, ...deps }: ImportDeps & BaseActDeps, began: Date): CompleteFileOptions['remove'] {
  let isEntered = false
  return async (registry, recordType, identifiers, isEvent) => {
    if (!isEntered) await auditAct(deps, { note: 'record delete', registry: registry.namespace })
    isEntered = true
    return deleteInBatches(deps, registry, recordType, identifiers, { began, isEvent })
  }
}

/** The number of records that one transaction deletes. */
const DELETED_AT_ONCE = 1_000

interface DeleteDeps extends HasEventRecording {
  readonly signal?: AbortSignal
}

/** Deletes records. A trace of each is stored: its primary identifier and the time. */
export const deleteRecords = defineAct(
  {
    name: 'record delete',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      record_type: RecordTypeName,
      identifiers: markPersonal(Type.Array(Type.String(), { description: 'Primary identifiers of the records.' })),
    }),
    result: closed({
      namespace: Namespace,
      record_type: RecordTypeName,
      asked: CountOf('Records that were named, each once.'),
      deleted: CountOf('Records that were there, and are deleted.'),
    }),
  },
  deleteNamedRecords,
)

/** Deletes records by their primary identifiers. @throws AdminRefusal a value is invalid; StoreRefusal no such type */
export async function deleteNamedRecords(
  deps: DeleteDeps,
  {
    namespace,
    record_type,
    identifiers,
    isEvent = true,
  }: {
    readonly namespace: string
    readonly record_type: string
    readonly identifiers: readonly string[]
    readonly isEvent?: boolean
  },
) {
  if (identifiers.length === 0) throw new AdminRefusal('name the records: by identifiers')
  const registry = await requireRegistry(deps.db, namespace)
  const recordType = requireRecordType(registry, record_type)
  const named = normalisePrimaries(registry, recordType, identifiers)
  const deleted = await deleteInBatches(deps, registry, recordType, named, { isEvent })
  return { namespace, record_type, asked: named.length, deleted }
}

/** Normalises the values, and returns each once. No error message has a value: it is personal data. */
function normalisePrimaries({ kind }: Registry, { primary_identifier }: RecordType, named: readonly string[]): readonly string[] {
  const type = resolveIdentifierType(kind, primary_identifier)
  const values = named.map((name, at) => {
    const value = type === undefined ? null : identifierValue(type, name)
    if (value !== null) return value
    throw new AdminRefusal(`nothing is deleted: identifier number ${at + 1} is not a valid ${primary_identifier}`)
  })
  return [...new Set(values)]
}

/** Deletes records, each batch in one transaction with the traces of its records. */
async function deleteInBatches(
  { db, limits, now = () => new Date(), signal }: DeleteDeps,
  registry: Registry,
  recordType: RecordType,
  identifiers: readonly string[],
  { began = now(), isEvent = true }: { readonly began?: Date; readonly isEvent?: boolean } = {},
): Promise<number> {
  const record_type = recordType.name
  const sink = requireSink(db, registry)
  const client = await db.pool.connect()
  let deleted = 0
  try {
    for (let at = 0; at < identifiers.length; at += DELETED_AT_ONCE) {
      if (signal?.aborted) {
        throw new AdminRefusal(`interrupted: ${deleted} are deleted; the same command deletes the rest`)
      }
      const batch = identifiers.slice(at, at + DELETED_AT_ONCE)
      const named = { registry: registry.namespace, record_type, identifiers: batch }
      const act = { kind: 'records_deleted', ...named, ...(!isEvent && { silent: true as const }) } as const
      const remove = async () => {
        await lockRegistryFor(client, registry.id, 'change')
        const rows = await sink.deleteRecords(client, registry, recordType, batch)
        const retired = rows.flatMap(({ aliases }) => aliases.filter(({ type }) => type === recordType.primary_identifier))
        // A named record that was merged into a survivor that is not deleted keeps its source version.
        // The source versions of deleted records, and of records merged into them, are deleted.
        const merged = await findSurvivors(client, registry, recordType, batch.filter(isTextStorable))
        const deletedPrimaries = [...batch.filter((one) => !merged.has(one)), ...retired.map(({ value }) => value)]
        await forgetRecordSourceVersions(client, registry.id, record_type, deletedPrimaries)
        if (!isEvent) return rows.length
        const recording = {
          registry,
          records: recordsOf(db, registry),
          limits,
          filters: compiledFiltersOf(db.pool),
          began,
          now: now(),
        }
        const changes = rows.map(({ id, document, aliases }) => {
          return { record_type, record: id, before: document, after: null, aliases }
        })
        await recordChanges(client, recording, changes)
        return rows.length
      }
      deleted += await db.journal.write(act, () => inTransaction(client, remove))
    }
  } finally {
    client.release()
  }
  return deleted
}
