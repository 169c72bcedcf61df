/** Sessions of the console. A session is a cookie `<id>_<secret>`: it ends when it is idle, with its time, and with its token. */
import type { Limits } from '../limits.ts'
import type { Operator } from '../model/operator.ts'
import { CLOCK, type Clock } from '../shared/clock.ts'
import type { Database } from '../store/db/database.ts'
import {
  addOperatorSession,
  endOperatorSession,
  findOperatorSession,
  findSignInLink,
  noteSessionSeen,
  type SignedInBy,
  type StoredSession,
  spendSignInLink,
} from '../store/directory/operator-sessions.ts'
import { isSecretOf, newSecret } from './secrets.ts'

export interface OperatorSession {
  readonly id: number
  readonly operator: Operator
  readonly ends_at: Date
}

export interface OperatorSessions {
  /**
   * Begins a session, with a secret of its own.
   * @returns the value of its cookie; null: the token was revoked or has expired
   */
  begin(by: SignedInBy): Promise<{ readonly cookie: string; readonly session: OperatorSession } | null>
  /**
   * The session of a cookie; null when it is not one of ours, or has ended.
   * @param acts whether the operator did something: a page that looks by itself does not keep the session alive
   */
  sessionOf(cookie: string, acts: boolean): Promise<OperatorSession | null>
  end(session: Pick<OperatorSession, 'id'>): Promise<void>
  /** The id of the token whose owner has this one-time code, which is spent; null when it is not good. */
  spendCode(code: string): Promise<number | null>
}

export type SessionLimits = Pick<Limits, 'session_idle' | 'session_time'>

/** Milliseconds for which the last call of a session need not be written again. */
const SEEN_EVERY = 15_000

/** Of a cookie, and of the code of a link: an id, and its secret. */
const ID_AND_SECRET = /^([1-9]\d{0,14})_([\w-]{43})$/

/** @param parts.issuer of the provider of OpenID Connect that is configured; sessions of any other have ended */
export function createOperatorSessions(
  db: Pick<Database, 'pool' | 'kysely'>,
  parts: {
    readonly limits: SessionLimits
    readonly issuer: string | null
    readonly clock?: Pick<Clock, 'date'>
  },
): OperatorSessions {
  const { limits, issuer, clock = CLOCK } = parts
  const isLive = ({ ends_at, seen_at, issuer: of }: StoredSession, date: number): boolean => {
    const { now, seenAfter } = sessionBounds(limits, date)
    return ends_at > now && seen_at > seenAfter && (of === null || of === issuer)
  }

  return {
    async begin(by) {
      const now = new Date(clock.date())
      const { secret, sha256 } = newSecret()
      const ends_at = new Date(now.getTime() + limits.session_time * 1_000)
      const id = await addOperatorSession(db, by, { sha256, now, ends_at })
      const found = await findOperatorSession(db, id, now)
      return found && { cookie: `${id}_${secret}`, session: sessionIn(found) }
    },
    async sessionOf(cookie, acts) {
      const [, id, secret] = ID_AND_SECRET.exec(cookie) ?? []
      if (id === undefined || secret === undefined) return null
      const now = clock.date()
      const found = await findOperatorSession(db, Number(id), new Date(now))
      if (!isSecretOf(found === null ? [] : [found.sha256], secret) || found === null) return null
      if (!isLive(found, now)) return null
      if (acts && now - found.seen_at.getTime() >= SEEN_EVERY)
        await noteSessionSeen(db, found.session, new Date(now))
      return sessionIn(found)
    },
    end: ({ id }) => endOperatorSession(db, id),
    async spendCode(code) {
      const [, id, secret] = ID_AND_SECRET.exec(code) ?? []
      if (id === undefined || secret === undefined) return null
      const sha256 = await findSignInLink(db, Number(id), new Date(clock.date()))
      if (!isSecretOf(sha256 === null ? [] : [sha256], secret)) return null
      return spendSignInLink(db, Number(id))
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

const sessionIn = ({ session, operator, ends_at }: StoredSession): OperatorSession => ({
  ...{ id: session, operator, ends_at },
})
