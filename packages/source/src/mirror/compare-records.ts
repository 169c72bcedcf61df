/**
 * Compares all records of a mirror with its source, in portions. Rows that differ are written, and records whose rows
 * are gone are deleted. The first comparison fills an empty mirror.
 */

import { NO_STATEMENT_TIMEOUT_SQL, withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { letRegistryAnswer } from '@rollcall/records/registries/registries'
import { ANY_RECORD_MAY_MATCH } from '../engine/column-test.ts'
import type { RecordMapping } from '../engine/mapped-records.ts'
import { nextKey } from '../engine/row-statement.ts'
import { canBeKey } from '../live-records.ts'
import { isBecomingMirror, noteMirrorComplete } from '../store/changed-sources.ts'
import { type ComparisonProgress, saveProgress } from '../store/mirrors.ts'
import { replaceStoredRecordIds } from '../store/moved-records.ts'
import { analyzeSourceRows, listKeysUnseenInSource } from '../store/source-rows.ts'
import { applyRows, type KeyedRowReadResult, readRowsByMapping } from './apply-rows.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { PORTION_ROWS, runInSnapshot } from './read-source.ts'

/** The rows of a portion, and the key after which the next portion begins; null: this is the last one. */
interface RowPortion {
  readonly rows: readonly KeyedRowReadResult[]
  readonly next: string | null
}

type PortionReader = (records: RecordMapping, after: string | null) => Promise<RowPortion>

/** Makes a reader that reads each portion when it is wanted. */
export const createPortionReader =
  (deps: MirrorDeps): PortionReader =>
  async (records, after) => {
    const asked = { needed: ANY_RECORD_MAY_MATCH, keys: null, after, limit: PORTION_ROWS }
    const found = await runInSnapshot(deps, (state) => state.rows(records, asked))
    const keyed = found.filter(({ key }) => canBeKey(key))
    return { rows: await readRowsByMapping(deps.registry.kind, records, keyed), next: nextKey(found, PORTION_ROWS, after) }
  }

/**
 * Makes a reader that reads the next portion while the present one is written. A portion that was read ahead may be older than
 * rows that were written meanwhile, and replace them. In a first load this does no harm: the feed finds the changed keys
 * afterwards, and nothing is an event. So this reader is used only there.
 * @param count the number of portions that are wanted; no more are read
 */
export function createReadAheadReader(deps: MirrorDeps, count: number): PortionReader {
  const read = createPortionReader(deps)
  let ahead: { readonly records: RecordMapping; readonly after: string; readonly portion: Promise<RowPortion> } | null = null
  let left = count
  return async (records, after) => {
    const isAhead = ahead !== null && ahead.records === records && ahead.after === after
    const portion = await (isAhead && ahead !== null ? ahead.portion : read(records, after))
    left -= 1
    const { next } = portion
    ahead = next === null || left <= 0 ? null : { records, after: next, portion: read(records, next) }
    // If reading ahead fails, the next call throws the error, at `await`. Until then Node must not report the error as unhandled.
    ahead?.portion.catch(() => undefined)
    return portion
  }
}

/**
 * Compares the next portion.
 * @param read reads the rows of the portion
 * @param isEvent whether differences are events
 * @param isFirst whether this is the first load
 * @returns the progress; null: the comparison has ended
 * @throws SourceRefusal, ClaimLost
 */
export async function compareNextPortion(
  deps: MirrorDeps,
  comparison: ComparisonProgress,
  { read, isEvent, isFirst }: { readonly read: PortionReader; readonly isEvent: boolean; readonly isFirst: boolean },
): Promise<ComparisonProgress | null> {
  const types = [...deps.file.records.values()]
  const at = types.findIndex(({ recordType }) => recordType.name === (comparison.recordType ?? recordType.name))
  const records = types[at]
  if (records === undefined)
    return (await rereadRowsUnseenInSource(deps, comparison, isEvent)) ? comparison : endComparison(deps, comparison)
  const { rows, next: after } = await read(records, comparison.after)
  const next: ComparisonProgress =
    after === null
      ? { ...comparison, recordType: types[at + 1]?.recordType.name ?? REREAD_STEP_RECORD_TYPE, after }
      : { ...comparison, recordType: records.recordType.name, after }
  const due = { recordType: records.recordType, records, keys: rows.map(({ key }) => key), rows }
  await applyRows(deps, due, {
    progress: { comparison: next },
    run: comparison.run,
    began: comparisonStartTime(comparison),
    isEvent,
  })
  if (isFirst && comparison.after === null) await analyzeSourceRows(deps.db.pool)
  return next
}

/** The value of `ComparisonProgress.recordType` in the last step, which reads unseen rows again. No record type has this name. */
const REREAD_STEP_RECORD_TYPE = ''

const comparisonStartTime = ({ began }: ComparisonProgress): Date => new Date(began * 1_000)

/**
 * Reads again a portion of the stored rows that the comparison did not find, and deletes the records of rows that are gone.
 * @returns true: more such rows may be left; false: none is left. Rows of record types that the kind no longer has are not read
 */
async function rereadRowsUnseenInSource(deps: MirrorDeps, comparison: ComparisonProgress, isEvent: boolean): Promise<boolean> {
  const { db, registry, file } = deps
  for (const recordType of registry.kind.record_types) {
    const { name } = recordType
    const keys = await listKeysUnseenInSource(db.pool, { registry: registry.id, recordType: name }, comparison.run, PORTION_ROWS)
    if (keys.length === 0) continue
    const due = { recordType, records: file.records.get(name) ?? null, keys, rows: null }
    await applyRows(deps, due, { progress: {}, run: comparison.run, began: comparisonStartTime(comparison), isEvent })
    return true
  }
  return false
}

/** Stores that the comparison has ended, and lets the registry answer. @returns null, which means that no comparison runs */
async function endComparison({ db, registry, claim }: MirrorDeps, comparison: ComparisonProgress): Promise<null> {
  const began = comparisonStartTime(comparison)
  await withTransaction(db.pool, async (client) => {
    if (registry.awaits_records) await lockRegistryFor(client, registry.id, 'exclusive change')
    await saveProgress(client, claim, { comparison: null, compared_at: began })
    if (registry.awaits_records && (await isBecomingMirror(client, registry.id))) {
      // The statements have no time limit, because the record ids in all events and stored pages of the registry may change.
      await client.query(NO_STATEMENT_TIMEOUT_SQL)
      await replaceStoredRecordIds(client, registry, 'copies')
      await noteMirrorComplete(client, registry.id)
    }
    await letRegistryAnswer(client, registry.id)
  })
  return null
}

/**
 * True when the daily time of the comparison has come since the last comparison began. Also true when the last comparison seems
 * to have begun more than a day from now: then a clock was wrong.
 * @param at HH:MM
 */
export function isComparisonDue(zone: string, at: string, comparedAt: Date, now: Date): boolean {
  if (comparedAt.getTime() > now.getTime() + MILLISECONDS_OF_DAY) return true
  const [day, time] = localTime(zone, now)
  const today = `${day} ${at}`
  const last = time >= at ? today : `${localTime(zone, new Date(now.getTime() - MILLISECONDS_OF_DAY))[0]} ${at}`
  return localTime(zone, comparedAt).join(' ') < last
}

const MILLISECONDS_OF_DAY = 86_400_000

/** The day (YYYY-MM-DD) and the time (HH:MM) in a zone. */
function localTime(zone: string, time: Date): readonly [string, string] {
  const format = { timeZone: zone, hourCycle: 'h23', dateStyle: 'short', timeStyle: 'short' } as const
  const [day = '', clock = ''] = new Intl.DateTimeFormat('sv-SE', format).format(time).split(' ')
  return [day, clock]
}
