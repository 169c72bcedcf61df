/** The life of a mirror: it copies all records, writes changes meanwhile and afterwards, and compares all records each day. */

import { withTransaction } from '@rollcall/database/transaction'
import { canBeKey } from '../live-records.ts'
import {
  type ComparisonProgress,
  databaseTimeAt,
  makeComparisonProgress,
  type StoredMirrorProgress,
  saveProgress,
  sourceFileDigest,
} from '../store/mirrors.ts'
import { applyRows, type RowsToMirror } from './apply-rows.ts'
import { compareNextPortion, createPortionReader, createReadAheadReader, isComparisonDue } from './compare-records.ts'
import type { ChangeBatch, ChangeFeed } from './feed.ts'
import { openFeed } from './feeds.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { PORTION_ROWS } from './read-source.ts'

/** The most portions of a comparison between two polls for changes. */
const PORTIONS_PER_POLL = 5
/** The most portions of a first load between two polls; the next portion is read while one is written. */
const FIRST_LOAD_PORTIONS_PER_POLL = 20

/**
 * Follows the source until the signal is aborted. The position after a batch is committed together with the last changes of the
 * batch, so any node can continue from there after a failure. A change that is read twice is written once.
 * @throws SourceRefusal the source cannot be read now; ClaimLost this node may no longer write the mirror
 */
export async function followSource(deps: MirrorDeps, place: StoredMirrorProgress, signal: AbortSignal): Promise<void> {
  const feed = openFeed(deps)
  try {
    let state = await beginFollowing(deps, feed, place, signal)
    while (!signal.aborted) {
      if (state.comparison === null && (state.isWanted || isDailyComparisonDue(deps, state.comparedAt, deps.now()))) {
        state = await beginDueComparison(deps, state)
      }
      // Changes come before the comparison, so that they are written even if the comparison fails.
      const wait = state.comparison === null ? deps.file.mirror.every : 0
      const batch = await feed.next(state.position, wait, signal)
      state = await applyBatch(deps, state, batch)
      state = await compareSomePortions(deps, state, signal)
    }
  } finally {
    await feed.close()
  }
}

/** The progress of the mirror as this node knows it between two batches. It has all of `StoredMirrorProgress` but the file. */
interface FollowState {
  readonly position: StoredMirrorProgress['position']
  readonly comparison: ComparisonProgress | null
  /** The time at which the last complete comparison began; null: the first one has not ended. */
  readonly comparedAt: Date | null
  /** True when an operator wants all records compared. */
  readonly isWanted: boolean
}

/**
 * Returns the progress from which to follow. A new source file gets a new position and a new comparison. Each record stays as the
 * former file has made it until the comparison replaces it.
 */
async function beginFollowing(
  { db, registry, claim }: MirrorDeps,
  feed: ChangeFeed,
  place: StoredMirrorProgress,
  signal: AbortSignal,
): Promise<FollowState> {
  const { position, comparison, compared_at: comparedAt, comparison_wanted: isWanted } = place
  const file = sourceFileDigest(registry)
  if (place.file === file) return { position, comparison, comparedAt, isWanted }
  // Changes between the position of the former file and the new position are missing until the comparison has ended.
  const fresh = { position: await feed.begin(signal), comparison: await makeComparisonProgress(db.pool, comparedAt !== null) }
  await withTransaction(db.pool, (client) => saveProgress(client, claim, { file, ...fresh, comparison_wanted: false }))
  return { ...fresh, comparedAt, isWanted: false }
}

const isDailyComparisonDue = ({ file }: MirrorDeps, comparedAt: Date | null, now: Date): boolean =>
  comparedAt !== null && isComparisonDue(file.timeZone, file.mirror.compareAt, comparedAt, now)

/**
 * Begins a comparison, if an operator has asked for one or the daily one is due; otherwise returns `state`. If an operator asks
 * during a comparison, a second one follows the first, which may have read some rows before the operator asked. A daily one must
 * be due by the clock of our database too, because `ComparisonProgress.began` is a time of that clock.
 */
async function beginDueComparison(deps: MirrorDeps, state: FollowState): Promise<FollowState> {
  const comparison = await makeComparisonProgress(deps.db.pool, false)
  if (!state.isWanted && !isDailyComparisonDue(deps, state.comparedAt, new Date(comparison.began * 1_000))) return state
  const begun = { comparison, comparison_wanted: false } as const
  await withTransaction(deps.db.pool, (client) => saveProgress(client, deps.claim, begun))
  return { ...state, comparison, isWanted: false }
}

/** Compares the portions that are due before the next poll, or fewer if the comparison ends or the signal is aborted. */
async function compareSomePortions(deps: MirrorDeps, state: FollowState, signal: AbortSignal): Promise<FollowState> {
  let { comparison, comparedAt } = state
  const isFirst = comparedAt === null
  const count = isFirst ? FIRST_LOAD_PORTIONS_PER_POLL : PORTIONS_PER_POLL
  const read = isFirst ? createReadAheadReader(deps, count) : createPortionReader(deps)
  for (let portion = 0; comparison !== null && portion < count && !signal.aborted; portion += 1) {
    const { began } = comparison
    comparison = await compareNextPortion(deps, comparison, { read, isEvent: areChangesEvents(deps, state), isFirst })
    if (comparison === null) comparedAt = new Date(began * 1_000)
  }
  return { ...state, comparison, comparedAt }
}

/** True when changes are events. Changes of the first load are no events, because the persons were in the source before. */
const areChangesEvents = ({ file }: MirrorDeps, { comparedAt }: FollowState): boolean => file.mirror.events && comparedAt !== null

/** Writes a batch of changes. The position is committed with the last records of the batch. */
async function applyBatch(deps: MirrorDeps, state: FollowState, batch: ChangeBatch): Promise<FollowState> {
  const { db, claim } = deps
  const portions = splitIntoPortions(deps, batch)
  const { position, currentAt, loss } = batch
  const comparison = loss !== null ? await makeComparisonProgress(db.pool, true) : state.comparison
  if (loss !== null) {
    const facts = { registry: deps.registry.namespace, reason: loss }
    deps.log.warn(facts, 'changes of a source may be missing, so all its records are read again')
  }
  // During a comparison that repairs (`isRepair`), the copy lacks changes. So its `current_at` stays, and its lag grows.
  const isCurrent = currentAt !== null && comparison?.isRepair !== true
  const current = isCurrent && { current_at: await databaseTimeAt(db.pool, currentAt, deps.now) }
  const last = { position, comparison, behind: 0, ...current }
  let behind = portions.reduce((sum, { keys }) => sum + keys.length, 0)
  let isWanted = false
  for (const due of portions) {
    behind -= due.keys.length
    const progress = due === portions.at(-1) ? last : { behind }
    isWanted = await applyRows(deps, due, { progress, run: 0, began: null, isEvent: areChangesEvents(deps, state) })
  }
  if (portions.length === 0) {
    isWanted = await withTransaction(db.pool, (client) => saveProgress(client, claim, last))
  }
  batch.committed()
  return { ...state, position, comparison, isWanted }
}

const splitIntoPortions = ({ file }: MirrorDeps, { due }: ChangeBatch): readonly RowsToMirror[] =>
  [...due].flatMap(([name, given]) => {
    const records = file.records.get(name)
    if (records === undefined) return []
    const keys = given.filter(canBeKey)
    return Array.from({ length: Math.ceil(keys.length / PORTION_ROWS) }, (_, at): RowsToMirror => {
      const some = keys.slice(at * PORTION_ROWS, (at + 1) * PORTION_ROWS)
      return { recordType: records.recordType, records, keys: some, rows: null }
    })
  })
