/**
 * Sessions in browsers, and links that sign in once: for operators in the console, for participants in the partner
 * page. Only the SHA-256 of each secret is stored.
 */

import type { Operator, OperatorRole } from '@rollcall/core/model/operator'
import type { Participant } from '@rollcall/core/model/participant'
import type { DatabaseWithPool } from '@rollcall/database/database'
import { isTextStorable } from '@rollcall/database/text'
import { withTransaction } from '@rollcall/database/transaction'
import { type Kysely, sql } from 'kysely'

/** An operator at a provider of OpenID Connect, with the operator's roles in this system. */
export interface OpenIdOperator {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly roles: readonly OperatorRole[]
  /** The `Registry.id`s for which the operator may act; null: all registries. */
  readonly registries: readonly number[] | null
}

/** Who uses a page: operators the console, participants the partner page. A session is valid on one of them alone. */
export type PageAudience = 'operator' | 'participant'

/** The owner of a sign-in link: the id of an operator token, or of a participant. */
export type SignInLinkOwner = { readonly token: number } | { readonly participant: number }

/** The means by which somebody signed in: a link or a token, or a provider. */
export type SignInMeans = SignInLinkOwner | OpenIdOperator

/** The times of a session. */
export interface SessionTimes {
  readonly created_at: Date
  /** The time at which somebody last did something in the session, exact to about 15 seconds. */
  readonly seen_at: Date
  /** The latest end of the session. */
  readonly ends_at: Date
}

/**
 * A session as `findSession` reads it: its operator token is valid, or its participant is active. The owner of a session from
 * an OpenID Connect provider is not checked. The session may have ended: the caller checks `ends_at` and `seen_at`.
 */
export interface StoredSession extends SessionTimes {
  readonly id: number
  readonly sha256: Buffer
  /** The issuer of the provider where the session began; null: it began by a link or a token. */
  readonly issuer: string | null
  /** The owner of the session: an operator, or the sender_id of a participant. */
  readonly owner: Operator | string
}

/**
 * SQL for the id of a new session or link: the time since 1970 in steps of 10 microseconds, a number of 15 digits. Consecutive
 * numbers would tell the owner how many sessions others have.
 */
const NEW_ID_SQL = '(extract(epoch from clock_timestamp()) * 100000)::bigint'

/** Adds a session. @returns its id; null when the participant is not active */
export async function addSession(
  { pool }: DatabaseWithPool,
  by: SignInMeans,
  { sha256, now, ends_at }: { readonly sha256: Buffer; readonly now: Date; readonly ends_at: Date },
): Promise<number | null> {
  const given = { token: null, participant: null, issuer: null, subject: null, name: null, roles: null, ...by }
  const bound_to = 'registries' in by ? by.registries : null
  // The participant is locked: a session added during its disabling would be valid again after its enabling.
  const { rows } = await pool.query<{ id: string }>(
    `with active as (select id from participant where id = $5 and status = 'active' for share)
      insert into session
        (id, sha256, created_at, seen_at, ends_at, token, participant, issuer, subject, name, roles, bound_to)
      select ${NEW_ID_SQL}, $1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10
        where $5::integer is null or exists (select from active)
      returning id`,
    [sha256, now, ends_at, given.token, given.participant, given.issuer, given.subject, given.name, given.roles, bound_to],
  )
  return rows[0] === undefined ? null : Number(rows[0].id)
}

interface SessionColumns extends SessionTimes, Omit<Operator, 'id'> {
  readonly sha256: Buffer
  readonly token: number | null
  readonly issuer: string | null
  readonly provided: string | null
  readonly sender_id: string | null
}

/**
 * Finds a session.
 * @returns null: this page has no such session, its token was revoked or has expired by `now`, or its participant is not active
 */
export async function findSession(
  { pool }: DatabaseWithPool,
  audience: PageAudience,
  id: number,
  now: Date,
): Promise<StoredSession | null> {
  const { rows } = await pool.query<SessionColumns>({
    name: 'find session',
    text: `select session.sha256, token, issuer, issuer || ' ' || subject as provided, sender_id,
        session.created_at, seen_at, least(ends_at, expires_at) as ends_at,
        coalesce(operator_token.name, session.name) as name,
        coalesce(operator_token.roles, session.roles) as roles, coalesce(registries, bound_to) as registries,
        operator_token.authority
      from session left join operator_token on operator_token.id = token
        left join participant on participant.id = session.participant
      where session.id = $1 and (token is null or (revoked_at is null and expires_at > $2))
        and case when session.participant is null then $3 = 'operator' else $3 = 'participant' and status = 'active' end`,
    values: [id, now, audience],
  })
  const [row] = rows
  if (row === undefined) return null
  const { sha256, issuer, created_at, seen_at, ends_at, token, name, roles, registries, authority, provided } = row
  const operator = { id: token, name, roles, registries, authority, ...(provided !== null && { subject: provided }) }
  return { id, sha256, issuer, created_at, seen_at, ends_at, owner: row.sender_id ?? operator }
}

/** Notes the time at which somebody did something in a session. */
export async function noteSessionSeen({ pool }: DatabaseWithPool, id: number, now: Date): Promise<void> {
  await pool.query('update session set seen_at = greatest(seen_at, $2) where id = $1', [id, now])
}

/** Ends one session. */
export async function endSession({ pool }: DatabaseWithPool, id: number): Promise<void> {
  await pool.query('delete from session where id = $1', [id])
}

/** Ends sessions of the owner of `session`, so that `most` are left: those that were used last. */
export async function endExcessSessions({ pool }: DatabaseWithPool, session: number, most: number): Promise<void> {
  await pool.query(
    `delete from session where id in (
      select other.id from session as own join session as other on other.token = own.token
        or other.participant = own.participant or (other.issuer = own.issuer and other.subject = own.subject)
      where own.id = $1 order by other.seen_at desc, other.id desc offset $2)`,
    [session, most],
  )
}

const IS_SESSION_OF_OPERATOR_SQL = `(name = $1 or token in (select id from operator_token where operator_token.name = $1))`

/** Ends all sessions of an operator, and deletes the operator's links. @returns the number of sessions */
export async function endOperatorSessions({ pool }: DatabaseWithPool, name: string): Promise<number> {
  await pool.query('delete from sign_in_link using operator_token where operator_token.id = token and name = $1', [name])
  const { rowCount } = await pool.query(`delete from session where ${IS_SESSION_OF_OPERATOR_SQL}`, [name])
  return rowCount ?? 0
}

/** Ends one session of an operator. @returns 1, or 0 when the operator has no such session */
export async function endOperatorSession({ pool }: DatabaseWithPool, name: string, id: number): Promise<number> {
  const { rowCount } = await pool.query(`delete from session where id = $2 and ${IS_SESSION_OF_OPERATOR_SQL}`, [name, id])
  return rowCount ?? 0
}

/** Ends all sessions of a participant, and deletes its links. @returns the number of sessions */
export async function endPartnerSessions(on: Kysely<unknown>, { id }: Pick<Participant, 'id'>): Promise<number> {
  await sql`delete from sign_in_link where participant = ${id}`.execute(on)
  const { numAffectedRows } = await sql`delete from session where participant = ${id}`.execute(on)
  return Number(numAffectedRows)
}

/** A session as operators see it in the list. */
export interface ListedSession extends SessionTimes {
  readonly id: number
  readonly name: string
  readonly issuer: string | null
}

/** Lists the operators' sessions that have not ended and were used after `seenAfter`, sorted by name, then the newest first. */
export async function listOperatorSessions(
  { pool }: DatabaseWithPool,
  { now, seenAfter }: { readonly now: Date; readonly seenAfter: Date },
): Promise<readonly ListedSession[]> {
  const { rows } = await pool.query<ListedSession>(
    `select session.id, coalesce(operator_token.name, session.name) as name, issuer, session.created_at, seen_at,
        least(ends_at, expires_at) as ends_at
      from session left join operator_token on operator_token.id = token
      where participant is null and ends_at > $1 and seen_at > $2
        and (token is null or (revoked_at is null and expires_at > $1))
      order by 2, session.id desc`,
    [now, seenAfter],
  )
  return rows.map((row) => ({ ...row, id: Number(row.id) }))
}

/** Deletes sessions and links whose time is over, and sessions that were not used after `seenAfter`. */
export async function deleteEndedSessions(
  { pool }: DatabaseWithPool,
  { now, seenAfter }: { readonly now: Date; readonly seenAfter: Date },
): Promise<void> {
  await pool.query('delete from session where ends_at <= $1 or seen_at <= $2', [now, seenAfter])
  await pool.query('delete from sign_in_link where ends_at <= $1', [now])
}

/** Adds a sign-in link for the owner of a token. @returns its id; null when no live token has this name */
export async function addOperatorSignInLink(
  { pool }: DatabaseWithPool,
  link: { readonly name: string; readonly sha256: Buffer; readonly now: Date; readonly ends_at: Date },
): Promise<number | null> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into sign_in_link (id, sha256, token, ends_at)
      select ${NEW_ID_SQL}, $2, id, $4 from operator_token where name = $1 and revoked_at is null and expires_at > $3
      returning id`,
    [link.name, link.sha256, link.now, link.ends_at],
  )
  return rows[0] === undefined ? null : Number(rows[0].id)
}

/**
 * Adds a sign-in link for a participant, and deletes its unused links.
 * @returns the id of the link; null when no active participant has the sender_id
 */
export async function addParticipantSignInLink(
  { pool }: DatabaseWithPool,
  link: { readonly sender_id: string; readonly sha256: Buffer; readonly ends_at: Date },
): Promise<number | null> {
  if (!isTextStorable(link.sender_id)) return null
  return withTransaction(pool, async (client) => {
    // The participant is locked, so that only the last of several simultaneous links is valid.
    const { rows } = await client.query<{ participant: number }>(
      `select id as participant from participant where sender_id = $1 and status = 'active' for no key update`,
      [link.sender_id],
    )
    const [active] = rows
    if (active === undefined) return null
    await client.query('delete from sign_in_link where participant = $1', [active.participant])
    const added = await client.query<{ id: string }>(
      `insert into sign_in_link (id, sha256, participant, ends_at) values (${NEW_ID_SQL}, $1, $2, $3) returning id`,
      [link.sha256, active.participant, link.ends_at],
    )
    return Number(added.rows[0]?.id)
  })
}

const LINK_FOR_AUDIENCE_SQL = `case when participant is null then 'operator' else 'participant' end = $2`

/** Finds the SHA-256 of a sign-in link that has not ended; null when `audience` has no such link with this id. */
export async function findLinkDigest(
  { pool }: DatabaseWithPool,
  audience: PageAudience,
  id: number,
  now: Date,
): Promise<Buffer | null> {
  const { rows } = await pool.query<{ sha256: Buffer }>(
    `select sha256 from sign_in_link where id = $1 and ${LINK_FOR_AUDIENCE_SQL} and ends_at > $3`,
    [id, audience, now],
  )
  return rows[0]?.sha256 ?? null
}

/** Deletes a link and returns its owner. Of several simultaneous calls only one gets the owner, the others null. */
export async function spendLink({ pool }: DatabaseWithPool, audience: PageAudience, id: number): Promise<SignInLinkOwner | null> {
  const { rows } = await pool.query<{ token: number; participant: null } | { token: null; participant: number }>(
    `delete from sign_in_link where id = $1 and ${LINK_FOR_AUDIENCE_SQL} returning token, participant`,
    [id, audience],
  )
  const [link] = rows
  if (link === undefined) return null
  return link.token === null ? { participant: link.participant } : { token: link.token }
}
