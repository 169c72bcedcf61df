/** The rows of `tasks.ts` as graphile-worker runs them. */
import type { JobHelpers, TaskList } from 'graphile-worker'
import type { Context } from '../context.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'
import type { TaskRow, Tasks } from './tasks.ts'

/** Kept with the job for an operator: no more than the class of what went wrong, and its code. */
export class JobFailed extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'JobFailed'
  }
}

/** @param signal of every run */
export function taskList(context: Context, tasks: Tasks, signal: AbortSignal): TaskList {
  const entries = Object.entries(tasks).map(([task, row]) => [
    task,
    (_payload: unknown, { job }: JobHelpers) => runTask(context, task, row, job, signal),
  ])
  return Object.fromEntries(entries)
}

interface Job {
  readonly payload: unknown
  readonly attempts: number
  readonly max_attempts: number
}

async function runTask<Id>(
  context: Context,
  task: string,
  row: TaskRow<Id>,
  { payload, attempts: attempt, max_attempts }: Job,
  signal: AbortSignal,
): Promise<void> {
  const { log, metrics } = context
  const started = performance.now()
  const seconds = (): number => (performance.now() - started) / 1_000
  const last = attempt >= max_attempts
  try {
    await row.run(context, idOf(row, payload), { attempt, last, signal })
    metrics.jobEnded(task, 'done', seconds())
  } catch (error) {
    metrics.jobEnded(task, 'failed', seconds())
    const safe = safeDatabaseError(error)
    log.warn({ task, attempt, last, ...safe }, 'a job failed')
    throw new JobFailed([safe.error, safe.sqlstate ?? safe.code ?? ''].join(' ').trim())
  }
}

function idOf<Id>({ payload, isId }: TaskRow<Id>, given: unknown): Id {
  const id = typeof given === 'object' && given !== null ? Reflect.get(given, payload) : undefined
  if (!isId(id)) throw new TypeError(`the payload of a job has no ${payload}`)
  return id
}
