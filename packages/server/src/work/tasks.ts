/** What is done for a job, as rows: one for each task. Its payload holds one id. */
import type { Context } from '../context.ts'
import { drain } from '../delivery/drain.ts'
import { process } from '../exchange/process.ts'
import type { Task } from '../store/db/jobs.ts'

/** One run of a job. */
export interface Run {
  /** From 1. */
  readonly attempt: number
  /** Whether no other follows when this one fails. */
  readonly last: boolean
  /** Aborted when the node takes no more jobs: what is begun may end, nothing else should be begun. */
  readonly signal: AbortSignal
}

export interface TaskRow<Id> {
  /** The member of the payload that names what it is about. */
  readonly payload: string
  readonly isId: (value: unknown) => value is Id
  /** Throws when it shall be tried again. */
  readonly run: (context: Context, id: Id, run: Run) => Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: each row reads its own id
export type Tasks = Readonly<Record<Task, TaskRow<any>>>

const isText = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number'

const PROCESS: TaskRow<string> = { payload: 'correlation_id', isId: isText, run: process }

const DRAIN: TaskRow<number> = {
  payload: 'participant',
  isId: isNumber,
  run: (context, participant, { signal }) => drain(context, participant, signal),
}

export const TASKS: Tasks = { process: PROCESS, drain: DRAIN }
