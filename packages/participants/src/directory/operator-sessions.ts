/** Sessions of the console. One ends with its token too, or when its provider of OpenID Connect is not configured any more. */

import type { Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Operator } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import {
  addOperatorSession,
  endOlderSessions,
  endOperatorSession,
  findOperatorSession,
  findSignInLink,
  noteSessionSeen,
  type SignedInBy,
  type StoredSession,
  spendSignInLink,
} from '../store/operator-sessions.ts'
import { createSessions, type SessionLimits, type Sessions } from './sessions.ts'

export interface OperatorSession {
  readonly id: number
  readonly operator: Operator
  readonly ends_at: Date
}

/** A code is of the id of a token. */
export interface OperatorSessions extends Sessions<SignedInBy, OperatorSession> {
  end(session: Pick<OperatorSession, 'id'>): Promise<void>
}

interface SessionEnd {
  readonly now: Date
  readonly ends_at: Date
}

/** @param parts.issuer of the provider of OpenID Connect that is configured; sessions of any other have ended */
export function createOperatorSessions(
  db: Pick<Database, 'pool' | 'kysely'>,
  parts: {
    readonly limits: SessionLimits & Pick<Limits, 'provided_session_time' | 'operator_sessions'>
    readonly issuer: string | null
    readonly clock?: Pick<Clock, 'date'>
  },
): OperatorSessions {
  /** A provider is asked for the roles at the sign-in alone. */
  const shortened = <Times extends SessionEnd>(session: Times): Times => {
    const latest = session.now.getTime() + parts.limits.provided_session_time * 1_000
    return { ...session, ends_at: new Date(Math.min(session.ends_at.getTime(), latest)) }
  }
  const sessions = createSessions<SignedInBy, StoredSession>(
    {
      async add(by, session) {
        const id = await addOperatorSession(db, by, 'token' in by ? session : shortened(session))
        await endOlderSessions(db, id, parts.limits.operator_sessions)
        return id
      },
      async find(id, now) {
        const found = await findOperatorSession(db, id, now)
        return found !== null && (found.issuer === null || found.issuer === parts.issuer) ? found : null
      },
      noteSeen: (id, now) => noteSessionSeen(db, id, now),
      findLink: (id, now) => findSignInLink(db, id, now),
      spendLink: (id) => spendSignInLink(db, id),
    },
    parts,
  )
  return {
    async begin(by) {
      const begun = await sessions.begin(by)
      return begun && { cookie: begun.cookie, session: sessionIn(begun.session) }
    },
    async sessionOf(cookie, acts) {
      const found = await sessions.sessionOf(cookie, acts)
      return found && sessionIn(found)
    },
    spendCode: sessions.spendCode,
    end: ({ id }) => endOperatorSession(db, id),
  }
}

const sessionIn = ({ session, operator, ends_at }: StoredSession): OperatorSession => ({
  id: session,
  operator,
  ends_at,
})
