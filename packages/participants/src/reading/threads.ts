/**
 * The threads that read large bodies, so that the main thread can answer other requests meanwhile. Participants take
 * turns, so none waits for all bodies of another.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type AckCode, RequestFault } from '@rollcall/protocol'
import type { NamedReadingTask, ReadingOutcome, ReadingTaskName, ReadingTasks } from './thread.ts'

/** Reads large bodies and texts on other threads, so that the main thread is free. */
export interface ReadingThreads {
  /**
   * Does one piece of work on a thread.
   * @param participant the `Participant.id` of the sender
   * @throws RequestFault the fault that the work throws
   */
  run<Name extends ReadingTaskName>(
    participant: number,
    name: Name,
    task: Parameters<ReadingTasks[Name]>[0],
  ): Promise<ReturnType<ReadingTasks[Name]>>
}

/** The least characters of a large text, and the least bytes of a large body; smaller ones are read in milliseconds. */
export const LEAST_LARGE_TEXT_LENGTH = 65_536

/** The most threads: more would help only when more large bodies arrive at once. */
const MAX_THREADS = 4

interface WaitingReadingTask {
  readonly order: NamedReadingTask
  readonly settle: PromiseWithResolvers<unknown>
}

/**
 * Creates the threads, which start when needed and do not keep the process alive.
 * @param most the largest number of threads; by default one fewer than the processors, from 1 to `MAX_THREADS`
 */
export function createReadingThreads(most = Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1))): ReadingThreads {
  /** The waiting tasks by `Participant.id`, in the order of turns. */
  const waiting = new Map<number, WaitingReadingTask[]>()
  const idle: Worker[] = []
  let started = 0

  const next = (): WaitingReadingTask | undefined => {
    for (const [participant, [first, ...rest]] of waiting) {
      waiting.delete(participant)
      if (rest.length > 0) waiting.set(participant, rest)
      return first
    }
    return undefined
  }
  const thread = (): Worker | undefined => {
    const free = idle.pop()
    if (free !== undefined || started >= most) return free
    started += 1
    const made = new Worker(new URL('./thread.ts', import.meta.url))
    made.unref()
    // A thread that ends while it works rejects its work (below). An idle thread that ended is replaced when it is needed.
    made
      .on('error', () => undefined)
      .on('exit', () => {
        const index = idle.indexOf(made)
        if (index === -1) return
        idle.splice(index, 1)
        started -= 1
      })
    return made
  }
  const begin = (): void => {
    if (waiting.size === 0) return
    const worker = thread()
    if (worker === undefined) return
    const { order, settle } = next() as WaitingReadingTask
    const free = (): void => {
      worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd)
    }
    const onMessage = (outcome: ReadingOutcome): void => {
      free()
      idle.push(worker)
      if ('done' in outcome) settle.resolve(outcome.done)
      else settle.reject(errorOfOutcome(outcome))
      begin()
    }
    const onEnd = (): void => {
      free()
      started -= 1
      settle.reject(new Error('a reading thread ended'))
      begin()
    }
    worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd)
    worker.postMessage(order, transferableBody(order.task))
  }
  return {
    run<Name extends ReadingTaskName>(participant: number, name: Name, task: Parameters<ReadingTasks[Name]>[0]) {
      const settle = Promise.withResolvers<unknown>()
      waiting.set(participant, [...(waiting.get(participant) ?? []), { order: { name, task }, settle }])
      begin()
      return settle.promise as Promise<ReturnType<ReadingTasks[Name]>>
    },
  }
}

/** The memory of a body, which is moved to the thread instead of copied when the memory has nothing else in it. */
function transferableBody(task: object): ArrayBuffer[] {
  if (!('body' in task) || !(task.body instanceof Uint8Array)) return []
  const { buffer, byteLength } = task.body
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : []
}

function errorOfOutcome(outcome: Exclude<ReadingOutcome, { done: unknown }>): Error {
  if ('failed' in outcome) return new Error(`a reading thread failed: ${outcome.failed}`)
  const { code, message, httpStatus } = outcome.refused
  return new RequestFault(code as AckCode, message, httpStatus)
}
