/**
 * Finds GET calls that a session of the console makes again within five minutes, as an open page does by itself. They are one
 * access of the operator, which is audited once.
 */
import type { CallFacts } from './call-log.ts'
import type { AdminRoute } from './route.ts'

interface RepeatableCall {
  readonly session: CallFacts['session']
  readonly route: Pick<AdminRoute, 'method' | 'role'>
  /** The path with the query. */
  readonly url: string
}

export interface RepeatedAccesses {
  /**
   * True when the same session made the same call, with an audit entry, in the last five minutes. False for a call that is
   * audited each time, because `keyOf` gives no key.
   */
  isRepeated(asked: RepeatableCall): boolean
  /** Notes the time of an answered and audited call. A repetition does not change it, so the five minutes are not extended. */
  note(asked: RepeatableCall): void
}

/** Milliseconds after an audited call in which its repetitions get no audit entry. */
const SAME_ACCESS_MS = 300_000
/** The most audited calls that are remembered. The repetition of a forgotten call is audited again. */
const MOST_REMEMBERED_CALLS = 10_000

export function createRepeatedAccesses(clock: { now(): number }): RepeatedAccesses {
  /** The time at which each call was audited, the oldest first. */
  const audited = new Map<string, number>()
  /**
   * The key that a call shares with its repetitions. Null when every repetition is audited: the call needs another role than
   * `read`, has no session, or is no GET.
   */
  const keyOf = ({ session, route: { method, role }, url }: RepeatableCall): string | null =>
    session === undefined || method !== 'GET' || role !== 'read' ? null : `${session.id} ${url}`
  const isRecent = (key: string): boolean => {
    const at = audited.get(key)
    return at !== undefined && clock.now() - at < SAME_ACCESS_MS
  }
  return {
    isRepeated(asked) {
      const key = keyOf(asked)
      return key !== null && isRecent(key)
    },
    note(asked) {
      const key = keyOf(asked)
      if (key === null || isRecent(key)) return
      audited.delete(key)
      audited.set(key, clock.now())
      const [oldest] = audited.keys()
      if (audited.size > MOST_REMEMBERED_CALLS && oldest !== undefined) audited.delete(oldest)
    },
  }
}
