/** Finds changes in the log of the source's database. */

import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import type { LogReading } from '../engine/change-log.ts'
import { SourceRefusal } from '../engine/source-refusal.ts'
import { requireClaim } from '../store/mirrors.ts'
import type { ChangeBatch, ChangeFeed } from './feed.ts'
import type { MirrorDeps } from './mirror-deps.ts'
import { inWords } from './read-source.ts'

/** Milliseconds until the source is asked again whether it sees commits: at first, and at most. */
const FIRST_PAUSE = 2
const LONGEST_PAUSE = 200
/** Keys of one batch. */
const MOST_KEYS = 5_000
/** Milliseconds of waiting for the place in the log, after which the log tells the operator. */
const PATIENCE = 5_000

export function logicalFeed(deps: MirrorDeps): ChangeFeed {
  const { file, engine, registry } = deps
  const { mostLog, every } = file.mirror
  const log = engine.log(registry.namespace)
  let reading: LogReading | null = null
  /**
   * Ends of the log at certain times: when the changes up to such an end are taken, nothing from before its time is
   * missing.
   */
  let ends: { readonly end: string; readonly at: Date }[] = []
  let looked = Number.NEGATIVE_INFINITY

  const begin = async (signal: AbortSignal): Promise<JsonValue> => {
    const problems = await log.problems()
    if (problems.length > 0) throw new SourceRefusal(problems.join('; '))
    // A place that is gone was dropped by whoever changed the source file: a new one would stay in the source for ever.
    await requireClaim(deps.db.pool, deps.claim)
    const timer = setTimeout(() => void deps.waits(WAITS), PATIENCE)
    try {
      return { log: await log.begin(signal) }
    } finally {
      clearTimeout(timer)
    }
  }
  const close = async (): Promise<void> => {
    await reading?.close()
    reading = null
    ends = []
  }
  /** @returns whether the log has all changes after the position */
  const look = async (position: string): Promise<boolean> => {
    const at = deps.now()
    if (reading !== null && at.getTime() - looked < every) return true
    looked = at.getTime()
    const { isKept, end, size } = await log.state(position)
    ends.push({ end, at })
    if (!isKept || size <= mostLog) return isKept
    await close()
    await log.drop()
    return false
  }
  /** Waits until a state sees the transactions: a row that is read before would be as it was, and its change lost. */
  const seen = async (transactions: readonly number[], signal: AbortSignal): Promise<void> => {
    if (transactions.length === 0) return
    for (let pause = FIRST_PAUSE; !(await log.isVisible(transactions)); pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      await sleep(pause, undefined, { signal })
    }
  }
  const next = async (position: string, wait: number, signal: AbortSignal): Promise<ChangeBatch> => {
    if (!(await look(position))) {
      await close()
      return { ...NOTHING, position: await begin(signal), isIncomplete: true }
    }
    reading ??= await log.read(position)
    const from = reading
    await from.wait(wait, signal)
    const { due, isEmptied, transactions, position: reached } = from.take(MOST_KEYS)
    await seen(transactions, signal)
    const later = ends.filter(({ end }) => log.isBefore(reached, end))
    const currentAt = ends.findLast(({ end }) => !log.isBefore(reached, end))?.at ?? null
    ends = later
    return {
      due: new Map([...due].map(([type, keys]) => [type, [...keys]])),
      position: { log: reached },
      isIncomplete: isEmptied,
      currentAt,
      committed: () => from.acknowledge(reached),
    }
  }
  return {
    begin: (signal) => inWords(deps, () => begin(signal)),
    next: (position, wait, signal) => inWords(deps, () => next(logPositionOf(position), wait, signal)),
    close,
  }
}

const WAITS =
  'the place in the log of the source is being made: PostgreSQL waits for transactions that were open before; end those that have been open for long'

const NOTHING = { due: new Map<string, readonly string[]>(), currentAt: null, committed: () => undefined }

/** The position in a log, of what is stored of a mirror. */
export const logPositionOf = (position: JsonValue): string =>
  isJsonObject(position) && typeof position.log === 'string' ? position.log : '0/0'
