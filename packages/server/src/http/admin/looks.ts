/**
 * Looks of the pages of the console. A page asks for the same again and again while it is open: that is one look, which
 * is accounted once in a while and not at every call.
 */
import type { Call } from './call-log.ts'
import type { AdminRoute } from './route.ts'

/** A call as it was made. */
interface Asked {
  readonly session: Call['session']
  readonly route: Pick<AdminRoute, 'method' | 'role'>
  /** With its query. */
  readonly url: string
}

export interface Looks {
  /** Whether the same session has asked for the same a short while ago; a call with a token never has. */
  isRepeated(asked: Asked): boolean
  /** What was asked for was answered, and so accounted. */
  note(asked: Asked): void
}

/** Milliseconds for which the same look is not accounted again. */
const ONE_LOOK = 300_000
/** Looks that are remembered; one that was forgotten is accounted again. */
const MOST = 10_000

export function createLooks(clock: { now(): number }): Looks {
  /** When each was accounted, the oldest first. */
  const accounted = new Map<string, number>()
  /** Null: each call is accounted. So it is where more is shown than every reader may see. */
  const keyOf = ({ session, route: { method, role }, url }: Asked): string | null =>
    session === undefined || method !== 'GET' || role !== 'read' ? null : `${session.id} ${url}`
  const isRecent = (key: string): boolean => {
    const at = accounted.get(key)
    return at !== undefined && clock.now() - at < ONE_LOOK
  }
  return {
    isRepeated(asked) {
      const key = keyOf(asked)
      return key !== null && isRecent(key)
    },
    note(asked) {
      const key = keyOf(asked)
      if (key === null || isRecent(key)) return
      accounted.delete(key)
      accounted.set(key, clock.now())
      const [oldest] = accounted.keys()
      if (accounted.size > MOST && oldest !== undefined) accounted.delete(oldest)
    },
  }
}
