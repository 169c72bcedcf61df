/** Sessions of the console, and links by which an operator signs in once. Both are known by the SHA-256 of their secret only. */

import type { Operator, OperatorRole } from '@rollcall/core/model/operator'
import type { Database } from '@rollcall/database/database'
import { rowOf } from '@rollcall/database/statement-parts'
import { sql } from 'kysely'

/** Who an operator is at a provider of OpenID Connect, and what it may do here. */
export interface ProvidedOperator {
  readonly issuer: string
  readonly subject: string
  readonly name: string
  readonly roles: readonly OperatorRole[]
  /** `Registry.id`s; null: all. */
  readonly registries: readonly number[] | null
}

/** By what somebody signed in: the id of a token, or the word of a provider. */
export type SignedInBy = { readonly token: number } | ProvidedOperator

export interface SessionTimes {
  readonly created_at: Date
  /** Of the last call. */
  readonly seen_at: Date
  /** At the latest. */
  readonly ends_at: Date
}

/** A session whose token, where it has one, is not revoked. It may have ended. */
export interface StoredSession extends SessionTimes {
  readonly session: number
  readonly sha256: Buffer
  /** Null: it was begun with a token. */
  readonly issuer: string | null
  readonly operator: Operator
}

/** @returns its id */
export async function addOperatorSession(
  { kysely }: Pick<Database, 'kysely'>,
  by: SignedInBy,
  session: { readonly sha256: Buffer; readonly now: Date; readonly ends_at: Date },
): Promise<number> {
  const { sha256, now, ends_at } = session
  const word =
    'token' in by
      ? { token: by.token }
      : { issuer: by.issuer, subject: by.subject, name: by.name, roles: by.roles, bound_to: by.registries }
  const { rows } = await sql<{ id: string }>`insert into operator_session
    ${rowOf({ ...word, sha256, created_at: now, seen_at: now, ends_at })} returning id`.execute(kysely)
  return Number(rows[0]?.id)
}

interface SessionColumns extends SessionTimes, Omit<Operator, 'id'> {
  readonly token: number | null
  readonly sha256: Buffer
  readonly issuer: string | null
  readonly provided: string | null
}

/** @returns null: there is none, or its token was revoked or has expired by `now` */
export async function findOperatorSession(
  { pool }: Pick<Database, 'pool'>,
  id: number,
  now: Date,
): Promise<StoredSession | null> {
  const { rows } = await pool.query<SessionColumns>({
    name: 'find operator session',
    text: `select operator_session.sha256, token, issuer, issuer || ' ' || subject as provided, operator_session.created_at, seen_at,
        least(ends_at, expires_at) as ends_at,
        coalesce(operator_token.name, operator_session.name) as name,
        coalesce(operator_token.roles, operator_session.roles) as roles, coalesce(registries, bound_to) as registries,
        operator_token.authority
      from operator_session left join operator_token on operator_token.id = token
      where operator_session.id = $1 and (token is null or (revoked_at is null and expires_at > $2))`,
    values: [id, now],
  })
  const [row] = rows
  if (row === undefined) return null
  const { token, name, roles, registries, authority, provided, ...session } = row
  const operator = { id: token, name, roles, registries, authority, ...(provided !== null && { subject: provided }) }
  return { session: id, ...session, operator }
}

/** Notes that the operator of a session called. */
export async function noteSessionSeen({ pool }: Pick<Database, 'pool'>, id: number, now: Date): Promise<void> {
  await pool.query('update operator_session set seen_at = greatest(seen_at, $2) where id = $1', [id, now])
}

/** Ends one session. */
export async function endOperatorSession({ pool }: Pick<Database, 'pool'>, id: number): Promise<void> {
  await pool.query('delete from operator_session where id = $1', [id])
}

const OF_NAME = `(name = $1 or token in (select id from operator_token where operator_token.name = $1))`

/**
 * Ends every session of an operator, and the links that would begin one.
 * @returns how many sessions
 */
export async function endOperatorSessions({ pool }: Pick<Database, 'pool'>, name: string): Promise<number> {
  await pool.query(
    'delete from operator_sign_in_link using operator_token where operator_token.id = token and name = $1',
    [name],
  )
  const { rowCount } = await pool.query(`delete from operator_session where ${OF_NAME}`, [name])
  return rowCount ?? 0
}

/** Ends one session of an operator. @returns how many: 0, there is none of this name with this id */
export async function endSessionOf({ pool }: Pick<Database, 'pool'>, name: string, id: number): Promise<number> {
  const { rowCount } = await pool.query(`delete from operator_session where id = $2 and ${OF_NAME}`, [name, id])
  return rowCount ?? 0
}

/** Of the sessions of one operator those stay that were used last, so many. */
export async function endOlderSessions({ pool }: Pick<Database, 'pool'>, session: number, most: number): Promise<void> {
  await pool.query(
    `delete from operator_session where id in (
      select other.id from operator_session as own join operator_session as other
        on other.token = own.token or (other.issuer = own.issuer and other.subject = own.subject)
      where own.id = $1 order by other.seen_at desc, other.id desc offset $2)`,
    [session, most],
  )
}

/** A session as the operator's list has it. */
export interface ListedSession extends SessionTimes {
  readonly id: number
  readonly name: string
  readonly issuer: string | null
}

/** Sessions that were seen after a time and have not ended, by the name of the operator; the newest first. */
export async function listOperatorSessions(
  { pool }: Pick<Database, 'pool'>,
  { now, seenAfter }: { readonly now: Date; readonly seenAfter: Date },
): Promise<readonly ListedSession[]> {
  const { rows } = await pool.query<ListedSession>(
    `select operator_session.id, coalesce(operator_token.name, operator_session.name) as name, issuer,
        operator_session.created_at, seen_at, ends_at
      from operator_session left join operator_token on operator_token.id = token
      where ends_at > $1 and seen_at > $2 and (token is null or (revoked_at is null and expires_at > $1))
      order by 2, operator_session.id desc`,
    [now, seenAfter],
  )
  return rows.map((row) => ({ ...row, id: Number(row.id) }))
}

/** Deletes sessions and links that have ended. */
export async function forgetOperatorSessions(
  { pool }: Pick<Database, 'pool'>,
  { now, seenAfter }: { readonly now: Date; readonly seenAfter: Date },
): Promise<void> {
  await pool.query('delete from operator_session where ends_at <= $1 or seen_at <= $2', [now, seenAfter])
  await pool.query('delete from operator_sign_in_link where ends_at <= $1', [now])
}

/**
 * Adds a link that signs in as the owner of a token.
 * @returns its id; null: no live token has this name
 */
export async function addSignInLink(
  { pool }: Pick<Database, 'pool'>,
  link: { readonly name: string; readonly sha256: Buffer; readonly now: Date; readonly ends_at: Date },
): Promise<number | null> {
  const { rows } = await pool.query<{ id: number }>(
    `insert into operator_sign_in_link (sha256, token, ends_at)
      select $2, id, $4 from operator_token where name = $1 and revoked_at is null and expires_at > $3
      returning id`,
    [link.name, link.sha256, link.now, link.ends_at],
  )
  return rows[0]?.id ?? null
}

/** The digest of a link that has not ended; null: there is none. */
export async function findSignInLink({ pool }: Pick<Database, 'pool'>, id: number, now: Date): Promise<Buffer | null> {
  const { rows } = await pool.query<{ sha256: Buffer }>(
    'select sha256 from operator_sign_in_link where id = $1 and ends_at > $2',
    [id, now],
  )
  return rows[0]?.sha256 ?? null
}

/** Spends a link: of calls at the same time one gets the id of its token, the others null. */
export async function spendSignInLink({ pool }: Pick<Database, 'pool'>, id: number): Promise<number | null> {
  const { rows } = await pool.query<{ token: number }>(
    'delete from operator_sign_in_link where id = $1 returning token',
    [id],
  )
  return rows[0]?.token ?? null
}
