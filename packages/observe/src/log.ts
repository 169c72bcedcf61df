/** Rollcall's log: JSON lines, or readable lines on a terminal. Write no personal data and no secrets into it. */
import { createRequire } from 'node:module'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Logger

/** A `require` for `pino-pretty`, which is loaded only for a terminal: servers have none, and most commands write no line. */
const loadPinoPretty = createRequire(import.meta.url)

/** Makes a log that writes to `destination` (default: standard error, so that standard output is free for results). */
export function createLog(options: { level?: string; destination?: DestinationStream } = {}): Log {
  const destination: DestinationStream = options.destination ?? process.stderr
  const settings = {
    level: options.level ?? 'info',
    base: null,
    timestamp: timeMemberText,
    formatters: { level: levelFormatter },
  }
  const onTerminal = 'isTTY' in destination && destination.isTTY === true
  if (!onTerminal) return pino(settings, destination)
  const pretty = loadPinoPretty('pino-pretty') as typeof import('pino-pretty')
  return pino(settings, pretty({ destination, colorize: true, translateTime: 'SYS:HH:MM:ss.l', sync: true }))
}

const timeMemberText = (): string => `,"time":"${new Date().toISOString()}"`
const levelFormatter = (label: string) => ({ level: label })

/** Writes a line when an event first happens. Repetitions are counted: each period has one line with their number. */
export interface FloodLimitingLog<Subject extends object> {
  /** Counts an event. The first event of a subject is written at once, unless `options.most` subjects have their own lines. */
  note(subject: Subject): void
  /** Writes a line for each subject with events since its last line, with their number. */
  flush(): void
}

/**
 * Makes a log for events that repeat.
 * @param options.period milliseconds between two lines about one subject
 * @param options.most subjects that have lines of their own at a time, because peers may be able to invent subjects
 * @param options.report writes the number of events of a subject; null: all subjects beyond `most`
 */
export function createFloodLimitingLog<Subject extends object>(options: {
  readonly period: number
  readonly most: number
  readonly report: (subject: Subject | null, count: number) => void
  readonly later?: Clock['later']
}): FloodLimitingLog<Subject> {
  const { period, most, report, later = SYSTEM_CLOCK.later } = options
  const known = new Map<string, { readonly subject: Subject; count: number }>()
  let others = 0
  let scheduled = false

  const reportAll = (): void => {
    for (const [key, entry] of known) {
      // There was no event of this subject since the last report, so the next event is a first event again.
      if (entry.count === 0) known.delete(key)
      else report(entry.subject, entry.count)
      entry.count = 0
    }
    if (others > 0) report(null, others)
    others = 0
  }
  const reportAndArm = (): void => {
    scheduled = false
    reportAll()
    if (known.size > 0) arm()
  }
  const arm = (): void => {
    if (scheduled) return
    scheduled = true
    later(reportAndArm, period)
  }

  return {
    note(subject) {
      const key = JSON.stringify(subject)
      const entry = known.get(key)
      if (entry !== undefined) entry.count += 1
      else if (known.size >= most) others += 1
      else {
        known.set(key, { subject, count: 0 })
        report(subject, 1)
      }
      arm()
    },
    flush: reportAll,
  }
}
