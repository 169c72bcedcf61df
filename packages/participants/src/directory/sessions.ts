/**
 * Sessions in browsers, of operators in the console and of participants on the partner page, and the one-time links that begin
 * them. The value of a cookie, and the code of a link, is `<id>_<secret>`. A session ends when its owner signs out, when an
 * operator ends it, when it is idle for too long, at its fixed end, or when its operator token or its participant is no longer
 * valid. A provider of OpenID Connect is not asked again: its sessions also end when another issuer is configured. A new sign-in
 * ends the least recently used sessions of its owner, an operator or a participant, who may have `operator_sessions` of them.
 */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { Operator } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import {
  addSession,
  endExcessSessions,
  endSession,
  findLinkDigest,
  findSession,
  noteSessionSeen,
  type PageAudience,
  type SignInLinkOwner,
  type SignInMeans,
  type StoredSession,
  spendLink,
} from '../store/sessions.ts'
import { isSecretOf, newSecret } from './secrets.ts'

export type SessionLimits = Pick<Limits, 'session_idle'>

/** A session that has not ended. */
export interface Session<Owner> {
  readonly id: number
  readonly owner: Owner
  readonly ends_at: Date
}

export type OperatorSession = Session<Operator>

/** A session of the partner page. Its owner is the sender_id of a participant. */
export type PartnerSession = Session<string>

/** The sessions of one page: the console or the partner page. */
export interface Sessions<Owner> {
  /** Begins a session. @returns the session and the value of its cookie; null when its owner may no longer sign in */
  begin(by: SignInMeans): Promise<{ readonly cookie: string; readonly session: Session<Owner> } | null>
  /**
   * Finds the session of a cookie; null when the cookie is not valid, or its session belongs to another page or has ended.
   * @param acts true when a person made the call, which keeps the session alive; false for calls that a page makes by itself
   */
  sessionOf(cookie: string, acts: boolean): Promise<Session<Owner> | null>
  /** Spends the one-time code of a sign-in link, and returns its owner; null when the code is not valid. */
  spendCode(code: string): Promise<SignInLinkOwner | null>
  end(session: Pick<Session<Owner>, 'id'>): Promise<void>
}

/** Seconds for which a sign-in link is valid. */
export const SIGN_IN_LINK_SECONDS = 900

/** Seconds after which a session ends even if it is used: a long day of work. */
const SESSION_SECONDS = 43_200

/** Seconds after which a session begun at an OpenID provider ends even if it is used. Roles are read only at sign-in. */
const OPENID_SESSION_SECONDS = 3_600

/** The least milliseconds between two writes of the time at which a session was last used. */
const SEEN_UPDATE_INTERVAL_MS = 15_000

const ID_AND_SECRET_PATTERN = /^([1-9]\d{0,14})_([\w-]{43})$/

interface SessionDeps {
  readonly limits: SessionLimits & Pick<Limits, 'operator_sessions'>
  /** The issuer of the configured OpenID Connect provider; null: none. A session begun at another issuer has ended. */
  readonly issuer: string | null
  readonly clock?: Pick<Clock, 'date'>
}

/** Creates the functions that begin, find and end sessions of the console. */
export const createOperatorSessionStore = (db: Pick<Database, 'pool'>, deps: SessionDeps): Sessions<Operator> =>
  createSessionStore<Operator>(db, 'operator', deps)

/** Creates the functions that begin, find and end sessions of the partner page. */
export const createPartnerSessionStore = (db: Pick<Database, 'pool'>, deps: Omit<SessionDeps, 'issuer'>): Sessions<string> =>
  createSessionStore<string>(db, 'participant', { ...deps, issuer: null })

function createSessionStore<Owner extends StoredSession['owner']>(
  db: Pick<Database, 'pool'>,
  audience: PageAudience,
  { limits, issuer, clock = SYSTEM_CLOCK }: SessionDeps,
): Sessions<Owner> {
  /** Finds a session of this page (`audience`) that has not ended; null when there is none. */
  const live = async (id: number): Promise<(StoredSession & { readonly owner: Owner }) | null> => {
    const { now, seenAfter } = sessionTimeBounds(limits, clock.date())
    const found = await findSession(db, audience, id, now)
    if (found === null || (found.issuer !== null && found.issuer !== issuer)) return null
    return found.ends_at > now && found.seen_at > seenAfter ? (found as StoredSession & { owner: Owner }) : null
  }
  return {
    async begin(by) {
      const now = new Date(clock.date())
      const { secret, sha256 } = newSecret()
      const longest = 'issuer' in by ? OPENID_SESSION_SECONDS : SESSION_SECONDS
      const id = await addSession(db, by, { sha256, now, ends_at: new Date(now.getTime() + longest * 1_000) })
      if (id === null) return null
      await endExcessSessions(db, id, limits.operator_sessions)
      const session = await live(id)
      return session && { cookie: `${id}_${secret}`, session: omitSecretDigest(session) }
    },
    async sessionOf(cookie, acts) {
      const [, id, secret] = ID_AND_SECRET_PATTERN.exec(cookie) ?? []
      if (id === undefined || secret === undefined) return null
      const found = await live(Number(id))
      if (!isSecretOf(found === null ? [] : [found.sha256], secret) || found === null) return null
      const now = clock.date()
      if (acts && now - found.seen_at.getTime() >= SEEN_UPDATE_INTERVAL_MS) await noteSessionSeen(db, found.id, new Date(now))
      return omitSecretDigest(found)
    },
    async spendCode(code) {
      const [, id, secret] = ID_AND_SECRET_PATTERN.exec(code) ?? []
      if (id === undefined || secret === undefined) return null
      const sha256 = await findLinkDigest(db, audience, Number(id), new Date(clock.date()))
      if (!isSecretOf(sha256 === null ? [] : [sha256], secret)) return null
      return spendLink(db, audience, Number(id))
    },
    end: ({ id }) => endSession(db, id),
  }
}

const omitSecretDigest = <Owner>({ id, owner, ends_at }: Session<Owner>): Session<Owner> => ({ id, owner, ends_at })

/** The bounds of a live session: it ends after `now`, and was used after `seenAfter`. */
export const sessionTimeBounds = (
  { session_idle }: Pick<Limits, 'session_idle'>,
  now: number,
): { readonly now: Date; readonly seenAfter: Date } => ({ now: new Date(now), seenAfter: new Date(now - session_idle * 1_000) })
