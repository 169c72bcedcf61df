/** What graphile-worker has to say, in our log: without its texts of errors and without jobs, which may tell too much. */
import { Logger, type LogLevel } from 'graphile-worker'
import type { Log } from '../observe/log.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'

/** It speaks of every job and every step at `info`; its errors are mostly a database that is away for a moment. */
const LEVELS: Readonly<Record<LogLevel, 'warn' | 'debug'>> = {
  error: 'warn',
  warning: 'warn',
  info: 'debug',
  debug: 'debug',
}

export function createJobLog(log: Log): Logger {
  return new Logger(() => (level, text, meta) => {
    if (LEFT_OUT.some((member) => meta !== undefined && Object.hasOwn(meta, member))) return
    const error = meta?.error
    log[LEVELS[level]](
      { ...(error !== undefined && { database: safeDatabaseError(error) }) },
      beginning(text),
    )
  })
}

/**
 * By what comes with them, messages that say nothing new: how single jobs ended, which `task-list.ts` tells with less,
 * and that there are fewer connections than jobs in work, which is as it should be where they are taken in batches.
 */
const LEFT_OUT: readonly string[] = ['failure', 'success', 'concurrency']

/** Its own words: what it quotes stands behind a colon, in quotes, in parentheses or on further lines. */
const beginning = (text: string): string => `jobs: ${/^[^:'"(\n;0-9]*/.exec(text)?.[0].trim() ?? ''}`
