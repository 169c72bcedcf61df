/** Counts the traffic of the last hours in the audit log, and caches the counts of hours that ended at least two minutes ago. */

import { countTrafficBetween, durationStepEndMs, type TrafficRow } from '@rollcall/audit/store/traffic'
import type { Database } from '@rollcall/database/database'
import { oncePerPool } from '@rollcall/database/group-commit'
import { EXCHANGES_SQL } from './exchange-names.ts'

const HOUR_MS = 3_600_000
/** Milliseconds after the end of an hour in which its audit entries may still be committed. Its count is cached after that. */
const LATE_AUDIT_ENTRIES_OF_HOUR_MS = 120_000
/** The number of hours in the list of traffic, the present one included. */
export const TRAFFIC_HOURS = 24

/** An hour with the counts of its messages. */
export interface TrafficHour {
  readonly from: Date
  /** The counts; null: the hour is not counted yet, and a later call counts it. */
  readonly rows: readonly TrafficRow[] | null
}

/** The counts of hours that have ended, by the beginning of the hour in milliseconds. */
const endedHourCounts = oncePerPool(() => new Map<number, readonly TrafficRow[]>())

/** Counts that are in progress, by the beginning of the hour: simultaneous calls share the count of an hour. */
const hourCountPromises = oncePerPool(() => new Map<number, Promise<readonly TrafficRow[]>>())

function countHour(db: Pick<Database, 'pool'>, begin: number): Promise<readonly TrafficRow[]> {
  const running = hourCountPromises(db.pool)
  const known = running.get(begin)
  if (known !== undefined) return known
  const span = { from: new Date(begin), to: new Date(begin + HOUR_MS) }
  const count = countTrafficBetween(db, span, EXCHANGES_SQL).finally(() => running.delete(begin))
  running.set(begin, count)
  return count
}

/**
 * Lists the last hours with their traffic, the newest first. The present hour is always counted. An earlier hour that is not
 * cached is counted only while `spent` returns false.
 * @param spent returns true when the time that the caller allows for counting is used up
 */
export async function listTrafficHours(
  db: Pick<Database, 'pool'>,
  now: Date,
  spent: () => boolean,
): Promise<readonly TrafficHour[]> {
  const known = endedHourCounts(db.pool)
  const newest = Math.floor(now.getTime() / HOUR_MS) * HOUR_MS
  const hours: TrafficHour[] = []
  for (let hour = 0; hour < TRAFFIC_HOURS; hour += 1) {
    const begin = newest - hour * HOUR_MS
    const from = new Date(begin)
    let rows = known.get(begin) ?? null
    if (rows === null && (hour === 0 || !spent())) {
      rows = await countHour(db, begin)
      if (begin + HOUR_MS + LATE_AUDIT_ENTRIES_OF_HOUR_MS <= now.getTime()) known.set(begin, rows)
    }
    hours.push({ from, rows })
  }
  for (const begin of known.keys()) if (begin <= newest - TRAFFIC_HOURS * HOUR_MS) known.delete(begin)
  return hours
}

/** The number of messages of one operation and mode, and their durations. */
export interface TrafficCount extends Pick<TrafficRow, 'operation' | 'mode'> {
  readonly outcomes: Readonly<Record<string, number>>
  /** The median duration in milliseconds; null where none was measured. */
  readonly p50_ms: number | null
  readonly p99_ms: number | null
}

/** Adds up counted messages by operation and mode. */
export function sumTraffic(rows: readonly TrafficRow[]): readonly TrafficCount[] {
  const groups = Map.groupBy(rows, ({ operation, mode }) => JSON.stringify([operation, mode]))
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike
    if (first === undefined) return []
    const outcomes: Record<string, number> = {}
    for (const { outcome, messages } of alike) outcomes[outcome] = (outcomes[outcome] ?? 0) + messages
    const { operation, mode } = first
    return [{ operation, mode, outcomes, ...trafficDurations(alike) }]
  })
}

/** The median and the 99th percentile of the durations of all given messages; null where none was measured. */
export const trafficDurations = (rows: readonly TrafficRow[]) => ({
  p50_ms: durationQuantileMs(rows, 0.5),
  p99_ms: durationQuantileMs(rows, 0.99),
})

/**
 * A quantile of the durations in milliseconds. Durations are counted in steps, which are ranges, so the quantile is rounded up to
 * the longest duration in its step (`durationStepEndMs`).
 * @param share the share of messages that took no longer, such as 0.5 for the median
 */
function durationQuantileMs(rows: readonly TrafficRow[], share: number): number | null {
  const timed = rows.flatMap(({ step, messages }) => (step === null ? [] : [{ step, messages }]))
  const total = timed.reduce((sum, { messages }) => sum + messages, 0)
  let seen = 0
  for (const { step, messages } of timed.toSorted((a, b) => a.step - b.step)) {
    seen += messages
    if (seen >= total * share) return Math.round(durationStepEndMs(step))
  }
  return null
}
