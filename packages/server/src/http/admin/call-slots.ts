/** Limits the calls of the admin API that a node works on, so that operators do not slow messages of peers. */

import { createSemaphore } from '@rollcall/base/shared/semaphore'
import type { Operator } from '@rollcall/core/model/operator'
import { RequestFault } from '@rollcall/protocol'
import type { RouteMethod } from '../server.ts'

export interface CallSlots {
  /**
   * Takes a slot for a call. A GET call waits while `admin_reads_at_once` GET calls of its operator run; no other call waits.
   * @returns a function that gives the slot back
   * @throws RequestFault 429 too many GET calls of the operator, or too many heavy calls, run or wait
   */
  take(
    call: { readonly method: RouteMethod; readonly heavy: HeavyCall | undefined },
    operator: Pick<Operator, 'name'>,
  ): Promise<() => void>
}

interface SlotLimits {
  /** The most GET calls of one operator that run or wait. */
  readonly admin_reads: number
  /** The most GET calls of one operator that run. */
  readonly admin_reads_at_once: number
  /** The most searches of the audit log that run or wait, of all operators. */
  readonly audit_searches: number
}

/** The slots of a node. A page of the console requests a few lists at a time, for which three calls at once suffice. */
const SLOT_LIMITS: SlotLimits = { admin_reads: 20, admin_reads_at_once: 3, audit_searches: 3 }

/**
 * The kinds of heavy calls: searches of the audit log, the count of rows that prune would delete, and calls that connect to the
 * database of a source.
 */
export type HeavyCall = 'auditLog' | 'prunable' | 'sources'

export function createCallSlots({ admin_reads, admin_reads_at_once, audit_searches } = SLOT_LIMITS): CallSlots {
  /** The most heavy calls of each kind that run or wait on this node: `all` operators together, `each` operator alone. */
  const heavySlots: Readonly<Record<HeavyCall, { readonly all: number; readonly each: number }>> = {
    // One operator cannot take the last slot for the audit log or for sources from the others.
    auditLog: { all: audit_searches, each: audit_searches - 1 },
    prunable: { all: 1, each: 1 },
    sources: { all: 2, each: 1 },
  }
  const taken = new Map<string, number>()
  const add = (key: string, count: number): void => {
    const now = (taken.get(key) ?? 0) + count
    if (now > 0) taken.set(key, now)
    else taken.delete(key)
  }
  const turns = createSemaphore(admin_reads_at_once)
  return {
    async take({ method, heavy }, { name }) {
      const reads = method === 'GET'
      const needed = [
        ...(reads ? [{ key: `reads of ${name}`, most: admin_reads }] : []),
        ...(heavy === undefined
          ? []
          : [
              { key: heavy, most: heavySlots[heavy].all },
              { key: `${heavy} of ${name}`, most: heavySlots[heavy].each },
            ]),
      ]
      if (needed.some(({ key, most }) => (taken.get(key) ?? 0) >= most)) {
        throw new RequestFault('err.request.too_many_requests', BUSY_MESSAGE, undefined, { retryAfter: 1 })
      }
      for (const { key } of needed) add(key, 1)
      const turn = reads ? turns.take(name) : null
      await turn?.begun
      return () => {
        turn?.end()
        for (const { key } of needed) add(key, -1)
      }
    },
  }
}

const BUSY_MESSAGE = 'this node works on as many such calls as it may; try again later'
