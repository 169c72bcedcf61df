/** Writes rows of a source as records of its mirror, together with their events and the progress of the mirror. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordChange } from '@rollcall/core/model/event'
import { sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import { withTransaction } from '@rollcall/database/transaction'
import { recordChanges } from '@rollcall/delivery/events/record-changes'
import { compiledFiltersOf } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import type { Kind, RecordType } from '@rollcall/protocol'
import { protectNewPrimaryIdentifiers } from '@rollcall/records/records/protect-person'
import { mirroredRecords } from '@rollcall/records/records/registry-records'
import type { ClientBase } from 'pg'
import type { SourceRow } from '../engine/engine.ts'
import type { RecordMapping } from '../engine/mapped-records.ts'
import { canBeKey } from '../live-records.ts'
import { type RowReadResult, readRow } from '../source-record.ts'
import { type MirrorProgressChange, saveProgress } from '../store/mirrors.ts'
import { listRowKeysByIdentifiers, saveRows, storedRows } from '../store/source-rows.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { decideSourceRowOutcomes, type RecordWithRowKey, type SourceRowOutcomes } from './outcomes.ts'
import { readRowsByKeys, runInSnapshot } from './read-source.ts'

/** Rows of one record type to be written into the mirror. If `rows` is null, `applyRows` first reads them from the source. */
export interface RowsToMirror {
  readonly recordType: RecordType
  /** The mapping; null: the source file no longer has this record type, so all its rows count as gone. */
  readonly records: RecordMapping | null
  readonly keys: readonly string[]
  /** The rows with these keys; null: they are not read yet. */
  readonly rows: readonly KeyedRowReadResult[] | null
}

/** The key of a row of the source, and the record or the problems that were read from the row. */
export interface KeyedRowReadResult {
  readonly key: string
  readonly read: RowReadResult
}

/** The number of rows after which other work of the process gets its turn. */
const ROWS_BEFORE_OTHER_WORK = 32

/** Reads each row by the mapping, as a record or its problems. Now and then other work of the process gets its turn. */
export async function readRowsByMapping(
  kind: Kind,
  records: RecordMapping,
  rows: readonly SourceRow[],
): Promise<readonly KeyedRowReadResult[]> {
  const read: KeyedRowReadResult[] = []
  for (const row of rows) {
    read.push({ key: row.key, read: readRow(kind, records, row) })
    if (read.length % ROWS_BEFORE_OTHER_WORK === 0) await nextTurn()
  }
  return read
}

/** The options of `applyRows`: the progress to store with the rows, which comparison writes them, and whether it makes events. */
export interface ApplyRowsOptions {
  readonly progress: MirrorProgressChange
  /**
   * The `run` of the comparison of all records that writes the rows (`ComparisonProgress`); 0 when a change in the source is
   * written.
   */
  readonly run: number
  /** The time at which the comparison began, which its events have; null: events have the present time. */
  readonly began: Date | null
  readonly isEvent: boolean
}

/**
 * Writes the records of rows into the mirror. If a row has, or had before, the primary identifier of another row, both rows are
 * read in one snapshot of the source. Then `decideSourceRowOutcomes` decides which row becomes the record.
 * @returns true: an operator has asked that all records be compared
 * @throws SourceRefusal, ClaimLost
 */
export async function applyRows(deps: MirrorDeps, due: RowsToMirror, applying: ApplyRowsOptions): Promise<boolean> {
  const { db, registry } = deps
  const { recordType } = due
  const outcomes = await decideRowOutcomes(deps, due)
  return withTransaction(db.pool, async (client) => {
    await lockRegistryFor(client, registry.id, 'change')
    const isWanted = await saveProgress(client, deps.claim, applying.progress)
    const changes = await writeRowOutcomes(deps, client, recordType, outcomes, applying)
    if (applying.isEvent && changes.length > 0) {
      const recording = {
        registry,
        records: mirroredRecords(db),
        limits: deps.limits,
        filters: compiledFiltersOf(db.pool),
        now: deps.now(),
        ...(applying.began !== null && { began: applying.began }),
      }
      await recordChanges(client, recording, changes)
    }
    return isWanted
  })
}

/** Reads from the source and from our tables what `decideSourceRowOutcomes` needs, and returns its result. */
async function decideRowOutcomes(
  deps: MirrorDeps,
  { recordType, records, keys, rows }: RowsToMirror,
): Promise<SourceRowOutcomes> {
  const { db, registry } = deps
  const of = { registry: registry.id, recordType: recordType.name }
  const stored = new Map<string, string | null>()
  const read = new Map<string, RowReadResult>()
  const all = new Set<string>()
  const outcomes = () => decideSourceRowOutcomes(recordType.primary_identifier, [...all], read, stored)
  const add = async (fresh: readonly string[], found: readonly KeyedRowReadResult[]): Promise<void> => {
    for (const row of await storedRows(db.pool, of, fresh)) stored.set(row.key, row.primary_identifier)
    for (const key of fresh) all.add(key)
    for (const one of found) if (all.has(one.key)) read.set(one.key, one.read)
  }
  /**
   * Finds the keys of more rows to decide about. Such a row has a record in the mirror with a primary identifier that a row just
   * read has now. Or it was rejected, because another row had its primary identifier, which is free now (`released`).
   */
  const others = async (): Promise<readonly string[]> => {
    const { released } = outcomes()
    const wanted = [...read.values()].flatMap(({ record }) => record?.primary_identifier ?? [])
    return (await listRowKeysByIdentifiers(db.pool, of, { held: wanted, wanted: released })).filter((key) => !all.has(key))
  }
  const fresh = [...new Set(keys)]
  if (records === null) {
    await add(fresh, [])
    return outcomes()
  }
  if (rows !== null) {
    await add(fresh, rows)
    if ((await others()).length === 0) return outcomes()
    for (const set of [all, read, stored]) set.clear()
  }
  return runInSnapshot(deps, async (state) => {
    for (let next: readonly string[] = fresh; next.length > 0; next = await others()) {
      const found = await readRowsByKeys(state, records, next)
      // A child table may write a key in another way than the own table, such as in small letters, if the source takes both as
      // equal. So the key is also added as the own table writes it.
      const own = found.map(({ key }) => key).filter(canBeKey)
      await add([...new Set([...next, ...own])], await readRowsByMapping(registry.kind, records, found))
    }
    return outcomes()
  })
}

/** Writes and deletes records, and stores the outcome of each row. @returns the changes of records */
async function writeRowOutcomes(
  { db, registry }: MirrorDeps,
  client: ClientBase,
  recordType: RecordType,
  { records, rows, gone, released, renamed }: SourceRowOutcomes,
  { isEvent, run }: ApplyRowsOptions,
): Promise<readonly RecordChange[]> {
  const { sink } = mirroredRecords(db)
  const record_type = recordType.name
  const deleted = await sink.deleteRecords(client, registry, recordType, released)
  const changes: RecordChange[] = deleted.map(({ id, document, aliases }) => {
    return { record_type, record: id, before: document, after: null, aliases }
  })
  const newlyProtected = await protectNewPrimaryIdentifiers(client, registry, recordType, renamed)
  const prepared = records.map(({ record }) => record)
  const unchanged = await sink.unchangedAmong(client, registry, recordType, prepared)
  // An unchanged record of a newly protected person is written too: writing stores that the record is of a protected person.
  const changed = records.filter(({ record: { primary_identifier } }) => {
    return !unchanged.has(primary_identifier) || newlyProtected.has(primary_identifier)
  })
  const refused = new Map<string, string>()
  const write = async (some: readonly RecordWithRowKey[]): Promise<void> => {
    if (some.length === 0) return
    try {
      const given = new Map(some.map(({ record }) => [record.primary_identifier, record]))
      const written = await sink.writeRecords(client, registry, recordType, [...given.values()], { before: isEvent })
      for (const { id, primary_identifier, before = null, aliases = [] } of [...written.inserted, ...written.updated]) {
        const after = given.get(primary_identifier)?.document ?? null
        changes.push({ record_type, record: id, before, after, aliases })
      }
    } catch (error) {
      if (!/^(22|54)/.test(sqlStateOrSystemCode(error))) throw error
      const [first, ...others] = some
      // The message of PostgreSQL is not used: it could quote the value.
      const reason = `our database cannot store one of its values (SQLSTATE ${sqlStateOrSystemCode(error)})`
      if (others.length === 0 && first) refused.set(first.key, reason)
      else for (const half of splitInHalves(some)) await write(half)
    }
  }
  await write(changed)
  const of = { registry: registry.id, recordType: record_type }
  const found = rows.map((row) => ({ ...row, reason: refused.get(row.key) ?? row.reason }))
  await saveRows(client, of, { found, gone, run })
  return changes
}

function splitInHalves<Element>(all: readonly Element[]): readonly (readonly Element[])[] {
  const middle = Math.ceil(all.length / 2)
  return [all.slice(0, middle), all.slice(middle)]
}
