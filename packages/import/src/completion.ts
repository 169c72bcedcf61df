/** Imports of a complete file: records that the file does not name are removed from the registry. */

import { open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import type { Registry } from '@rollcall/core/model/registry'
import type { RecordType } from '@rollcall/protocol'
import { countRecordsBeforeImport } from '@rollcall/records/records/complete-records'
import type { ClientBase } from 'pg'
import type { Batch } from './batch.ts'
import { listRecordsNotInFile, noteLines, readRecordsNotInFile } from './noted-lines.ts'
import { ImportError, type ImportSource } from './source.ts'

/** The share of the registry's records that may be removed without the operator's permission. */
const REMOVABLE_RECORDS_SHARE = 0.02
/** The most records that one call of `remove` gets. */
const REMOVAL_BATCH_RECORDS = 1_000

export interface CompleteFileOptions {
  /** The most records that may be removed; by default 2 % of the records before the import. */
  readonly allowRemoval?: number
  /**
   * The file that gets the primary identifiers of records that the imported file does not name, also when none is
   * removed. They are personal data: only its owner can read it.
   */
  readonly removalsPath?: string
  /** Deletes records like the act `record delete`. @returns how many of them existed */
  readonly remove: (
    registry: Registry,
    recordType: RecordType,
    identifiers: readonly string[],
    isEvent: boolean,
  ) => Promise<number>
}

/** The result of removing the records that a complete file does not name. */
export interface RemovalResult {
  /** The number of records before the import. */
  readonly before: number
  /** The number of these records that are absent from the file. */
  readonly absent: number
  readonly removed: number
  /** The reason, for the operator, why nothing was removed; null when the removal was not refused. */
  readonly refusal: string | null
  /** False when the signal stopped the removal. */
  readonly isFinished: boolean
}

/** Collects rejected lines during the import of a complete file, and removes the records that no line names. */
export class RemovalOfAbsent {
  readonly #file: CompleteFileOptions
  /**
   * Records that were added after this time stay: the file cannot name them. In microseconds since 1970, the earlier of two
   * times: the file's last change (by the clock of its machine), and the first run that read it (by the database's clock).
   */
  readonly began: string
  /** The number of lines whose records were stored already as the lines have them. */
  unchanged = 0
  #unnamed = 0
  #firstUnnamed = 0

  /** @param firstRun microseconds since 1970: when a run first read the file (its `newRunNumber`), or an earlier time */
  constructor(file: CompleteFileOptions, firstRun: string, { changed }: Pick<ImportSource, 'changed'>) {
    this.#file = file
    this.began = changed !== null && changed < BigInt(firstRun) ? String(changed) : firstRun
  }

  /**
   * Stores the primary identifiers of a batch's rejected lines in the transaction of the batch, so that their records stay.
   * Counts the rejected lines without a primary identifier: if there is such a line, no record is removed.
   */
  async note(client: ClientBase, { rejectedPersons, unnamedLines }: Batch, unchanged: number): Promise<void> {
    this.unchanged += unchanged
    for (const [recordType, primaries] of rejectedPersons) {
      await noteLines(client, recordType, new Map(primaries.map((primary) => [primary, null])))
    }
    this.#firstUnnamed ||= unnamedLines[0] ?? 0
    this.#unnamed += unnamedLines.length
  }

  /**
   * Removes the records that no line names. All are listed, and the number is checked, before the first is removed.
   * @param recordTypes the record types of which the file names all records
   */
  async removeAbsent(
    client: ClientBase,
    registry: Registry,
    recordTypes: readonly RecordType[],
    { isDry, isEvent, signal }: { isDry: boolean; isEvent: boolean; signal?: AbortSignal | undefined },
  ): Promise<RemovalResult> {
    const compared = recordTypes.map((recordType) => ({ registry, recordType, began: this.began }))
    let before = 0
    for (const one of compared) before += await countRecordsBeforeImport(client, one)
    const absent = await listRecordsNotInFile(client, compared)
    await this.#writeList(client)
    const refusal = absent === 0 ? null : this.#refusalOf(registry, absent, before)
    if (isDry || refusal !== null) return { before, absent, removed: 0, refusal, isFinished: true }
    let removed = 0
    for await (const batch of readRecordsNotInFile(client, REMOVAL_BATCH_RECORDS)) {
      if (signal?.aborted) return { before, absent, removed, refusal, isFinished: false }
      const recordType = recordTypes.find(({ name }) => name === batch[0]?.record_type)
      if (recordType === undefined) continue
      const identifiers = batch.map(({ primary_identifier }) => primary_identifier)
      removed += await this.#file.remove(registry, recordType, identifiers, isEvent)
    }
    return { before, absent, removed, refusal, isFinished: true }
  }

  #refusalOf({ namespace }: Registry, absent: number, before: number): string | null {
    if (this.#unnamed > 0) {
      return `nobody is removed: line ${this.#firstUnnamed} was rejected and does not say whose record it is (such lines: ${this.#unnamed}); mend the file and import it again`
    }
    if (absent <= (this.#file.allowRemoval ?? Math.floor(before * REMOVABLE_RECORDS_SHARE))) return null
    const given = this.#file.allowRemoval
    const allowed = given === undefined ? '2 % of them may go' : `--allow-removal allows ${given}`
    return `nobody is removed: ${absent} of ${before} records in ${namespace} are not in the file, and ${allowed}; if the file is complete, import it again with --allow-removal ${absent}`
  }

  async #writeList(client: ClientBase): Promise<void> {
    const path = this.#file.removalsPath
    if (path === undefined) return
    const unusable = (error: NodeJS.ErrnoException): never => {
      throw new ImportError(`the file of removals cannot be written (${error.code}); name another with --removals`)
    }
    const handle = await open(path, 'a', 0o600).catch(unusable)
    try {
      const isFile = (await handle.stat()).isFile()
      // `open` sets the mode only of a new file, so an existing file gets its mode here.
      if (isFile) await handle.chmod(0o600)
      for await (const batch of readRecordsNotInFile(client, REMOVAL_BATCH_RECORDS)) {
        await handle.appendFile(batch.map((one) => `${JSON.stringify(one)}\n`).join(''))
      }
      if (isFile) await handle.datasync()
    } catch (error) {
      unusable(error as NodeJS.ErrnoException)
    } finally {
      await handle.close()
    }
  }
}

/**
 * Checks the files of the import of a complete file.
 * @throws ImportError the source is a stream, or --removals names the source or the file of rejected lines
 */
export function checkCompleteFile(
  source: string | Readable,
  opened: ImportSource,
  { removalsPath }: CompleteFileOptions,
  rejectsPath: string | null,
): void {
  if (opened.identity === null) {
    throw new ImportError(
      '--complete needs a file: standard input or a pipe may end early, and people would go; write it to a file first',
    )
  }
  if (removalsPath === undefined || typeof source !== 'string') return
  const others = [source, ...(rejectsPath === null ? [] : [rejectsPath])].map((path) => resolve(path))
  if (others.includes(resolve(removalsPath))) {
    throw new ImportError('--removals names the imported file or the file of rejected lines; name another file')
  }
}

/** Refuses a file without lines. @throws ImportError it would remove everybody */
export function checkHasLines(lines: number): void {
  if (lines > 0) return
  throw new ImportError('the file has no records: with --complete everybody would go, so nothing is removed')
}
