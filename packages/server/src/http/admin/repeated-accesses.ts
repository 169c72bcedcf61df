/**
 * Finds repeated accesses by pages of the console. An open page repeats its calls: they are one access, which is audited from
 * time to time and not for each call.
 */
import type { Call } from './call-log.ts'
import type { AdminRoute } from './route.ts'

interface Asked {
  readonly session: Call['session']
  readonly route: Pick<AdminRoute, 'method' | 'role'>
  /** Path and query. */
  readonly url: string
}

export interface RepeatedAccesses {
  /** True when the same session made the same call a short while ago; false for calls with a token. */
  isRepeated(asked: Asked): boolean
  /** Notes an answered call, which was audited. */
  note(asked: Asked): void
}

/** Milliseconds in which the same access is not audited again. */
const ONE_ACCESS = 300_000
/** Limit of remembered accesses; a forgotten one is audited again. */
const MOST = 10_000

export function createRepeatedAccesses(clock: { now(): number }): RepeatedAccesses {
  /** When each access got its audit entry, the oldest first. */
  const audited = new Map<string, number>()
  /**
   * The key of a call whose repetitions share an entry. Null: each call has its own, for example if it shows more than
   * readers may see.
   */
  const keyOf = ({ session, route: { method, role }, url }: Asked): string | null =>
    session === undefined || method !== 'GET' || role !== 'read' ? null : `${session.id} ${url}`
  const isRecent = (key: string): boolean => {
    const at = audited.get(key)
    return at !== undefined && clock.now() - at < ONE_ACCESS
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
      if (audited.size > MOST && oldest !== undefined) audited.delete(oldest)
    },
  }
}
