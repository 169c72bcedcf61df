/** A reading thread: does one piece of work after the other (`threads.ts` starts it). */
import { parentPort } from 'node:worker_threads'
import { RequestFault } from '@rollcall/protocol'
import { WORK, type WorkName } from './work.ts'

export interface Order {
  readonly name: WorkName
  readonly task: object
}

export type Outcome =
  | { readonly done: unknown }
  | { readonly refused: Pick<RequestFault, 'code' | 'message' | 'httpStatus'> }
  | { readonly failed: string }

function outcomeOf({ name, task }: Order): Outcome {
  try {
    return { done: (WORK[name] as (task: unknown) => unknown)(task) }
  } catch (error) {
    if (error instanceof RequestFault) {
      const { code, message, httpStatus } = error
      return { refused: { code, message, httpStatus } }
    }
    // The class alone: its message may quote what was sent.
    return { failed: error instanceof Error ? error.constructor.name : typeof error }
  }
}

parentPort?.on('message', (order: Order) => parentPort?.postMessage(outcomeOf(order)))
