/** What graphile-worker has to say, in our log: without its texts of errors and without jobs, which may tell too much. */
import { Logger, type LogLevel } from 'graphile-worker'
import type { Log } from '../observe/log.ts'
import { safeDatabaseError } from '../store/database-errors.ts'

/** It speaks of every job and every step at `info`; its errors are mostly a database that is away for a moment. */
const LEVELS: Readonly<Record<LogLevel, 'warn' | 'debug'>> = {
  error: 'warn',
  warning: 'warn',
  info: 'debug',
  debug: 'debug',
}

export function createJobLog(log: Log): Logger {
  return new Logger(() => (level, text, meta) => {
    // Told by `tasks.ts`, with less.
    if (meta?.failure === true || meta?.success === true) return
    const { error } = meta ?? {}
    log[LEVELS[level]](
      { ...(error !== undefined && { database: safeDatabaseError(error) }) },
      beginning(text),
    )
  })
}

/** Its own words: what it quotes stands behind a colon, in quotes, in parentheses or on further lines. */
const beginning = (text: string): string => `jobs: ${/^[^:'"(\n;0-9]*/.exec(text)?.[0].trim() ?? ''}`
