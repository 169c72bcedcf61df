/**
 * Sessions in a browser, and the one-time links that begin one. A cookie, and the code of a link, are `<id>_<secret>`.
 * A session ends when it is idle for too long, at its end, or when its owner may no longer sign in.
 */

import { CLOCK, type Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Operator } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import {
  type Audience,
  addSession,
  endOlderSessions,
  endSession,
  findLink,
  findSession,
  type Linked,
  noteSessionSeen,
  type SignedInBy,
  type StoredSession,
  spendLink,
} from '../store/sessions.ts'
import { isSecretOf, newSecret } from './secrets.ts'

export type SessionLimits = Pick<Limits, 'session_idle'>

export interface Session<Owner> {
  readonly id: number
  readonly owner: Owner
  readonly ends_at: Date
}

export type OperatorSession = Session<Operator>

/** Its owner is the sender_id of a participant. */
export type PartnerSession = Session<string>

/** The sessions of one page. */
export interface Sessions<Owner> {
  /**
   * Begins a session with a secret of its own.
   * @returns the value of its cookie; null: its owner may not sign in any more
   */
  begin(by: SignedInBy): Promise<{ readonly cookie: string; readonly session: Session<Owner> } | null>
  /**
   * The session of a cookie; null when it belongs to another page, or has ended.
   * @param acts whether a person did something: calls that a page makes by itself do not keep the session alive
   */
  sessionOf(cookie: string, acts: boolean): Promise<Session<Owner> | null>
  /** Spends a one-time code, and returns its owner; null when the code is not valid. */
  spendCode(code: string): Promise<Linked | null>
  end(session: Pick<Session<Owner>, 'id'>): Promise<void>
}

/** Seconds for which a link is good. */
export const LINK_TIME = 900

/** Seconds after which a session ends, whatever the person does: a long day of work. */
const SESSION_TIME = 43_200

/** Seconds after which a session ends that a provider of OpenID Connect began: its roles are those of the sign-in. */
const PROVIDED_SESSION_TIME = 3_600

/** Milliseconds for which the last call of a session need not be written again. */
const SEEN_EVERY = 15_000

const ID_AND_SECRET = /^([1-9]\d{0,14})_([\w-]{43})$/

interface SessionDeps {
  readonly limits: SessionLimits & Pick<Limits, 'operator_sessions'>
  /** The provider of OpenID Connect that is configured: sessions of any other have ended. */
  readonly issuer: string | null
  readonly clock?: Pick<Clock, 'date'>
}

/** Sessions of the console. */
export const createOperatorSessions = (db: Pick<Database, 'pool'>, deps: SessionDeps): Sessions<Operator> =>
  createSessions<Operator>(db, 'operator', deps)

/** Sessions of the partner page. */
export const createPartnerSessions = (
  db: Pick<Database, 'pool'>,
  deps: Omit<SessionDeps, 'issuer'>,
): Sessions<string> => createSessions<string>(db, 'participant', { ...deps, issuer: null })

function createSessions<Owner extends StoredSession['owner']>(
  db: Pick<Database, 'pool'>,
  audience: Audience,
  { limits, issuer, clock = CLOCK }: SessionDeps,
): Sessions<Owner> {
  /** A session that has not ended. The store finds only sessions of this audience, so `owner` has its type. */
  const live = async (id: number): Promise<(StoredSession & { readonly owner: Owner }) | null> => {
    const { now, seenAfter } = sessionBounds(limits, clock.date())
    const found = await findSession(db, audience, id, now)
    if (found === null || (found.issuer !== null && found.issuer !== issuer)) return null
    return found.ends_at > now && found.seen_at > seenAfter ? (found as StoredSession & { owner: Owner }) : null
  }
  return {
    async begin(by) {
      const now = new Date(clock.date())
      const { secret, sha256 } = newSecret()
      const longest = 'issuer' in by ? PROVIDED_SESSION_TIME : SESSION_TIME
      const id = await addSession(db, by, { sha256, now, ends_at: new Date(now.getTime() + longest * 1_000) })
      if (id === null) return null
      await endOlderSessions(db, id, limits.operator_sessions)
      const session = await live(id)
      return session && { cookie: `${id}_${secret}`, session: shown(session) }
    },
    async sessionOf(cookie, acts) {
      const [, id, secret] = ID_AND_SECRET.exec(cookie) ?? []
      if (id === undefined || secret === undefined) return null
      const found = await live(Number(id))
      if (!isSecretOf(found === null ? [] : [found.sha256], secret) || found === null) return null
      const now = clock.date()
      if (acts && now - found.seen_at.getTime() >= SEEN_EVERY) await noteSessionSeen(db, found.id, new Date(now))
      return shown(found)
    },
    async spendCode(code) {
      const [, id, secret] = ID_AND_SECRET.exec(code) ?? []
      if (id === undefined || secret === undefined) return null
      const sha256 = await findLink(db, audience, Number(id), new Date(clock.date()))
      if (!isSecretOf(sha256 === null ? [] : [sha256], secret)) return null
      return spendLink(db, audience, Number(id))
    },
    end: ({ id }) => endSession(db, id),
  }
}

const shown = <Owner>({ id, owner, ends_at }: Session<Owner>): Session<Owner> => ({ id, owner, ends_at })

/** The bounds of a time: a session that has not ended ends after `now`, and was seen after `seenAfter`. */
export const sessionBounds = (
  { session_idle }: Pick<Limits, 'session_idle'>,
  now: number,
): { readonly now: Date; readonly seenAfter: Date } => ({
  now: new Date(now),
  seenAfter: new Date(now - session_idle * 1_000),
})
