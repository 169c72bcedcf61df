/** Finds changes of a source in the log of its database. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import { type ChangeLog, LogLost, type LogProblem, type LogReader, logProblemsText } from '../engine/change-log.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { requireClaim } from '../store/mirrors.ts'
import type { ChangeBatch, ChangeFeed } from './feed.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { withExplainedFailures } from './read-source.ts'

/** Milliseconds until we ask the source again whether a new snapshot sees the commits in its log: at first, and at most. */
const FIRST_SNAPSHOT_RECHECK_MS = 2
const LONGEST_SNAPSHOT_RECHECK_MS = 200
/** Milliseconds until we look again whether each table is still in the log. */
const LOG_PROBLEMS_RECHECK_MS = 3_600_000
/** The number of keys of changed records after which a batch takes no more from the log. */
const BATCH_KEYS = 5_000
/** Milliseconds that the source may take to make our place in its log, before `MirrorDeps.waits` tells the operator. */
const SLOT_WAIT_NOTICE_MS = 5_000

/** Makes the feed of a mirror that follows the log of its source. */
export function createLogFeed(deps: MirrorDeps): ChangeFeed {
  const { mostLog, every } = deps.file.mirror
  const log = deps.engine.log(deps.placeName)
  let reading: LogReader | null = null
  /** Where the log ended (`end`) at a time (`at`). When all changes before `end` are taken, all changes before `at` are taken. */
  let ends: { readonly end: string; readonly at: Date }[] = []
  let [looked, checked] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]

  const close = async (): Promise<void> => {
    await reading?.close()
    reading = null
    ends = []
  }
  /**
   * Checks that the log has all changes after the position. While a reader of the log is open, it checks at most once in `every`
   * milliseconds; before, at each call. If the source keeps too much log for us, it removes our place.
   * @throws LogLost changes are missing, or our place was removed
   */
  const pollLogState = async (position: string): Promise<void> => {
    const at = deps.now()
    if (reading !== null && at.getTime() - looked < every) return
    looked = at.getTime()
    const { isKept, end, size } = await log.state(position)
    ends.push({ end, at })
    if (!isKept) throw new LogLost('the database does not have its log from our position on')
    if (size <= mostLog) return
    await close()
    await log.drop()
    throw new LogLost('the database kept more of its log than logical.most_log allows')
  }
  /**
   * Checks again what was checked when our place was made: the log may have no more changes of a table, and no error says so. If
   * changes are missing, removes our place.
   * @returns problems that lose no change; empty when the last check was not long ago
   * @throws SourceRefusal changes are missing
   */
  const requireNoLoss = async (): Promise<readonly LogProblem[]> => {
    if (reading !== null && deps.now().getTime() - checked < LOG_PROBLEMS_RECHECK_MS) return []
    checked = deps.now().getTime()
    const problems = await log.problems()
    if (!problems.some(({ losesChanges }) => losesChanges)) return problems
    await close()
    await log.drop().catch(() => undefined)
    throw new SourceRefusal(logProblemsText(problems))
  }
  const beginAgain = async (loss: string, signal: AbortSignal): Promise<ChangeBatch> => {
    await close()
    return { ...NO_CHANGES, position: await makeLogPlace(deps, log, signal), loss }
  }
  /** Finds the next changes. @throws LogLost the log lacks some, or our place was removed */
  const next = async (position: string, wait: number, signal: AbortSignal): Promise<ChangeBatch> => {
    await pollLogState(position)
    const problems = await requireNoLoss()
    reading ??= await log.read(position)
    if (problems.length > 0) warnOfProblems(deps, problems)
    const from = reading
    await from.wait(wait, signal)
    const { due, isEmptied, transactions, position: reached } = from.take(BATCH_KEYS)
    await waitUntilVisible(log, { transactions, reached }, signal)
    const currentAt = ends.findLast(({ end }) => !log.isBefore(reached, end))?.at ?? null
    ends = ends.filter(({ end }) => log.isBefore(reached, end))
    return {
      due: new Map([...due].map(([type, keys]) => [type, [...keys]])),
      position: { log: reached },
      loss: isEmptied ? 'a table was emptied, altered or replaced' : null,
      currentAt,
      committed: () => from.acknowledge(reached),
    }
  }
  return {
    begin: (signal) => makeLogPlace(deps, log, signal),
    async next(position, wait, signal) {
      const find = () => next(storedLogPosition(position), wait, signal).catch(reasonIfLogLost(every, signal))
      const found = await withExplainedFailures(deps, find)
      return typeof found === 'string' ? beginAgain(found, signal) : found
    },
    close,
  }
}

const warnOfProblems = ({ registry, log }: MirrorDeps, problems: readonly LogProblem[]): void =>
  log.warn(
    { registry: registry.namespace, problems: logProblemsText(problems) },
    'a source is followed, but its log is not as it should be',
  )

/** Makes our place in the log anew. @returns the stored position of a mirror */
async function makeLogPlace(deps: MirrorDeps, log: ChangeLog, signal: AbortSignal): Promise<JsonValue> {
  const problems = await withExplainedFailures(deps, () => log.problems())
  if (problems.length > 0) throw new SourceRefusal(logProblemsText(problems))
  // Without a claim, the registry may have another source by now. Then a new place would stay in this source for ever.
  await requireClaim(deps.db.pool, deps.claim)
  const timer = setTimeout(() => void deps.waits(WAITING_FOR_PLACE_MESSAGE), SLOT_WAIT_NOTICE_MS)
  try {
    return { log: await withExplainedFailures(deps, () => log.begin(signal)) }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Makes a handler of errors: after a `LogLost` it waits and returns its message, and throws any other error again. It waits
 * because the same unreadable event may come again at once.
 */
const reasonIfLogLost =
  (pause: number, signal: AbortSignal) =>
  async (error: unknown): Promise<string> => {
    if (!(error instanceof LogLost)) throw error
    await sleep(pause, undefined, { signal })
    return error.message
  }

/**
 * Waits until a new snapshot sees the transactions. An earlier snapshot would have the former rows, and the change would be lost.
 * A commit may wait for a standby server as long as it likes, so the wait has no other end.
 * @param reached the position behind the transactions
 * @throws LogLost the log was reset or set back, so that no snapshot will see them
 */
async function waitUntilVisible(
  log: ChangeLog,
  { transactions, reached }: { readonly transactions: readonly number[]; readonly reached: string },
  signal: AbortSignal,
): Promise<void> {
  if (transactions.length === 0) return
  for (
    let pause = FIRST_SNAPSHOT_RECHECK_MS;
    !(await log.isVisible(transactions));
    pause = Math.min(2 * pause, LONGEST_SNAPSHOT_RECHECK_MS)
  ) {
    await sleep(pause, undefined, { signal })
    if (pause === LONGEST_SNAPSHOT_RECHECK_MS && !(await log.state(reached)).isKept)
      throw new LogLost('the log lacks transactions that were read from it')
  }
}

const WAITING_FOR_PLACE_MESSAGE =
  'the place in the log of the source is being made: PostgreSQL waits for transactions that were open before; end those that have been open for long'

const NO_CHANGES = { due: new Map<string, readonly string[]>(), currentAt: null, committed: () => undefined }

/** Reads the position in the log from the stored position of a mirror; `0/0` when it has none. */
export const storedLogPosition = (position: JsonValue): string =>
  isJsonObject(position) && typeof position.log === 'string' ? position.log : '0/0'
