/** The times at which notifications of a subscription are sent (spec "SubscribeRequest"; docs/events.md "Frequency"). */
import { ItemRejection, isJsonObject, type JsonValue, timestampInstant } from '@rollcall/protocol'
import { Cron as Schedule } from 'croner'
import { LRUCache } from 'lru-cache'
import type { Frequency } from '../model/event.ts'
import { CronProblem, cronText, hasRunDay, readCron, shortestGapSeconds } from './cron.ts'

/** The values that reading a frequency needs: the registry's time zone and the current time. */
export interface TimeZoneAndNow {
  /** The time zone of the registry, in which cron expressions are read. */
  readonly time_zone: string
  readonly now: Date
}

/** The fewest seconds that may be between two runs. A run is only the time at which waiting notifications become due. */
const SHORTEST_RUN_GAP_SECONDS = 5

const FREQUENCY_PATH = 'subscribe_criteria.frequency'

/** Reads a frequency completely or refuses it. @throws ItemRejection rjct.notify_details.invalid */
export function readFrequency(given: JsonValue, { time_zone, now }: TimeZoneAndNow): Frequency {
  if (!isJsonObject(given)) {
    throw invalidFrequency('', 'must be an object with start_time, end_time and frequency')
  }
  const start_at = readFrequencyTime(given.start_time, '.start_time')
  const end_at = readFrequencyTime(given.end_time, '.end_time')
  if (end_at <= start_at) throw invalidFrequency('.end_time', 'must be after start_time')
  if (end_at <= now) throw invalidFrequency('.end_time', 'must be in the future')
  const cron = readCronExpression(given.frequency)
  const frequency = { cron: cronText(cron), start_at, end_at }
  const first = start_at > now ? start_at : now
  const isPossible = hasRunDay(cron, first.getUTCFullYear() - 1, end_at.getUTCFullYear() + 1)
  if (!isPossible || findScheduledRunAfter(frequency, time_zone, now) === null) {
    throw invalidFrequency('.frequency', 'must have a run between now, or start_time, and end_time')
  }
  return frequency
}

function readFrequencyTime(given: JsonValue | undefined, member: string): Date {
  const instant = typeof given === 'string' ? timestampInstant(given) : null
  if (instant === null) throw invalidFrequency(member, 'must be a date and time with a zone')
  return new Date(instant)
}

function readCronExpression(given: JsonValue | undefined) {
  if (typeof given !== 'string') throw invalidFrequency('.frequency', 'must be a cron expression')
  try {
    const cron = readCron(given)
    if (shortestGapSeconds(cron) >= SHORTEST_RUN_GAP_SECONDS) return cron
  } catch (error) {
    if (error instanceof CronProblem) throw invalidFrequency('.frequency', error.message)
    throw error
  }
  throw invalidFrequency('.frequency', `must have at least ${SHORTEST_RUN_GAP_SECONDS} seconds between two runs`)
}

const invalidFrequency = (member: string, rule: string): ItemRejection =>
  new ItemRejection('rjct.notify_details.invalid', `${FREQUENCY_PATH}${member}: ${rule}`)

/** The first run after an instant; `end_at` when there is no further run, so that nothing waits for ever. */
export const nextScheduledRunOrEnd = (frequency: Frequency, time_zone: string, after: Date): Date =>
  findScheduledRunAfter(frequency, time_zone, after) ?? frequency.end_at

/** The runs after an instant, in order, at most `count`. */
export function nextScheduledRuns(frequency: Frequency, time_zone: string, after: Date, count: number): readonly Date[] {
  const runs: Date[] = []
  for (let from = after; runs.length < count; ) {
    const run = findScheduledRunAfter(frequency, time_zone, from)
    if (run === null) break
    runs.push(run)
    from = run
  }
  return runs
}

/** The first run after `after`, from the start to the end of the frequency; null when there is none. */
function findScheduledRunAfter({ cron, start_at, end_at }: Frequency, time_zone: string, after: Date): Date | null {
  const beforeStart = start_at.getTime() - 1
  const from = new Date(Math.max(after.getTime(), beforeStart))
  const run = scheduleOf(cron, time_zone).nextRun(from)
  return run === null || run > end_at ? null : run
}

/** Recent schedules, compiled: many subscriptions have the same expression. */
const compiledSchedules = new LRUCache<string, Schedule>({ max: 1_000 })

/**
 * The compiled schedule. When clocks go back, a run at a fixed time happens once. When clocks go forward and skip the time of a
 * run, the run happens right after the clock change. A schedule with `*` for seconds, minutes or hours has no fixed times.
 */
function scheduleOf(cron: string, time_zone: string): Schedule {
  const key = `${time_zone} ${cron}`
  const known = compiledSchedules.get(key)
  if (known !== undefined) return known
  const made = new Schedule(cron, { timezone: time_zone, mode: '7-part', fixedTimeRule: 'no-wildcard' })
  compiledSchedules.set(key, made)
  return made
}
