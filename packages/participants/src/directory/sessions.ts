/**
 * Sessions in a browser, and the one-time links that begin one. A cookie, and the code of a link, are `<id>_<secret>`; a session
 * ends when it is idle, and with its time.
 */

import { CLOCK, type Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import { isSecretOf, newSecret } from './secrets.ts'

export type SessionLimits = Pick<Limits, 'session_idle' | 'session_time'>

export interface StoredSession {
  readonly session: number
  readonly sha256: Buffer
  readonly seen_at: Date
  readonly ends_at: Date
}

/** Where the sessions of one sort of people are. `By` says who signs in. */
export interface SessionStore<By, Session extends StoredSession> {
  /** @returns its id; null: nobody of that name may sign in */
  add(by: By, session: { readonly sha256: Buffer; readonly now: Date; readonly ends_at: Date }): Promise<number | null>
  /** Null: there is none, or its owner may not sign in any more. It may have ended. */
  find(id: number, now: Date): Promise<Session | null>
  noteSeen(id: number, now: Date): Promise<void>
  /** The digest of a link that has not ended; null: there is none. */
  findLink(id: number, now: Date): Promise<Buffer | null>
  /** Who signs in by it; null: somebody else has spent it. */
  spendLink(id: number): Promise<number | null>
}

export interface Sessions<By, Session> {
  /**
   * Begins a session, with a secret of its own.
   * @returns the value of its cookie; null: its owner may not sign in any more
   */
  begin(by: By): Promise<{ readonly cookie: string; readonly session: Session } | null>
  /**
   * The session of a cookie; null when it is not one of ours, or has ended.
   * @param acts whether somebody did something: a page that looks by itself does not keep the session alive
   */
  sessionOf(cookie: string, acts: boolean): Promise<Session | null>
  /** Whose one-time code this is, which is spent; null when it is not good. */
  spendCode(code: string): Promise<number | null>
}

/** Seconds for which a link is good. */
export const LINK_TIME = 900

/** Milliseconds for which the last call of a session need not be written again. */
const SEEN_EVERY = 15_000

const ID_AND_SECRET = /^([1-9]\d{0,14})_([\w-]{43})$/

export function createSessions<By, Session extends StoredSession>(
  store: SessionStore<By, Session>,
  { limits, clock = CLOCK }: { readonly limits: SessionLimits; readonly clock?: Pick<Clock, 'date'> },
): Sessions<By, Session> {
  const isLive = ({ ends_at, seen_at }: Session, date: number): boolean => {
    const { now, seenAfter } = sessionBounds(limits, date)
    return ends_at > now && seen_at > seenAfter
  }
  return {
    async begin(by) {
      const now = new Date(clock.date())
      const { secret, sha256 } = newSecret()
      const ends_at = new Date(now.getTime() + limits.session_time * 1_000)
      const id = await store.add(by, { sha256, now, ends_at })
      const session = id === null ? null : await store.find(id, now)
      return session && { cookie: `${id}_${secret}`, session }
    },
    async sessionOf(cookie, acts) {
      const [, id, secret] = ID_AND_SECRET.exec(cookie) ?? []
      if (id === undefined || secret === undefined) return null
      const now = clock.date()
      const found = await store.find(Number(id), new Date(now))
      if (!isSecretOf(found === null ? [] : [found.sha256], secret) || found === null) return null
      if (!isLive(found, now)) return null
      if (acts && now - found.seen_at.getTime() >= SEEN_EVERY) await store.noteSeen(found.session, new Date(now))
      return found
    },
    async spendCode(code) {
      const [, id, secret] = ID_AND_SECRET.exec(code) ?? []
      if (id === undefined || secret === undefined) return null
      const sha256 = await store.findLink(Number(id), new Date(clock.date()))
      if (!isSecretOf(sha256 === null ? [] : [sha256], secret)) return null
      return store.spendLink(Number(id))
    },
  }
}

/** What a session must have at a time, so that it has not ended. */
export const sessionBounds = (
  { session_idle }: Pick<Limits, 'session_idle'>,
  now: number,
): { readonly now: Date; readonly seenAfter: Date } => ({
  now: new Date(now),
  seenAfter: new Date(now - session_idle * 1_000),
})
