/** How many calls of the admin API a node works on at a time: what operators look at must not slow the messages of peers. */
import { RequestFault } from '@rollcall/protocol'
import type { Limits } from '../../limits.ts'
import type { Operator } from '../../model/operator.ts'
import type { Method } from '../server.ts'

export interface CallSlots {
  /**
   * Takes what a call needs.
   * @returns gives it back
   * @throws RequestFault 429 there is none left
   */
  take(
    call: { readonly method: Method; readonly heavy: Heavy | undefined },
    operator: Pick<Operator, 'name'>,
  ): () => void
}

export type SlotLimits = Pick<Limits, 'admin_reads' | 'account_searches'>

/** A call that reads much, by what it reads. */
export type Heavy = 'accounts' | 'prunable'

interface Slots {
  /** At a time on this node. */
  readonly all: number
  /** Of one operator. */
  readonly each: number
}

export function createCallSlots({ admin_reads, account_searches }: SlotLimits): CallSlots {
  const reads: Slots = { all: Number.POSITIVE_INFINITY, each: admin_reads }
  const heavySlots: Readonly<Record<Heavy, Slots>> = {
    // One operator leaves one to the others.
    accounts: { all: account_searches, each: account_searches - 1 },
    prunable: { all: 1, each: 1 },
  }
  const taken = new Map<string, number>()
  const add = (key: string, count: number): void => {
    const now = (taken.get(key) ?? 0) + count
    if (now > 0) taken.set(key, now)
    else taken.delete(key)
  }
  return {
    take({ method, heavy }, { name }) {
      const needed = [
        ...(method === 'GET' ? [{ of: 'reads', ...reads }] : []),
        ...(heavy === undefined ? [] : [{ of: heavy, ...heavySlots[heavy] }]),
      ].flatMap(({ of, all, each }) => [
        { key: of, most: all },
        { key: `${of} of ${name}`, most: each },
      ])
      if (needed.some(({ key, most }) => (taken.get(key) ?? 0) >= most)) {
        throw new RequestFault('err.request.too_many_requests', BUSY, undefined, { retryAfter: 1 })
      }
      for (const { key } of needed) add(key, 1)
      return () => {
        for (const { key } of needed) add(key, -1)
      }
    },
  }
}

const BUSY = 'this node works on as many such calls as it may; try again later'
