/**
 * Sessions of the partner page, and links by which a participant signs in once. Both are known by the SHA-256 of their secret
 * only, and are of an active participant.
 */

import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { isStorable } from '@rollcall/database/text'
import { withTransaction } from '@rollcall/database/transaction'
import { type Kysely, sql } from 'kysely'

type Pool = Pick<Database, 'pool'>

/**
 * SQL of the id of a new session or link, which its participant gets: the time in steps of 10 microseconds, because a number of
 * the sequence would count the sessions of others. It grows, and has 15 digits.
 */
const NEW_ID = '(extract(epoch from clock_timestamp()) * 100000)::bigint'

/** A session of a participant that is active. It may have ended. */
export interface StoredPartnerSession extends Pick<Participant, 'sender_id'> {
  readonly session: number
  readonly sha256: Buffer
  /** Of the last call. */
  readonly seen_at: Date
  /** At the latest. */
  readonly ends_at: Date
}

/** @returns its id; null: no such participant is active */
export async function addPartnerSession(
  { pool }: Pool,
  participant: number,
  session: { readonly sha256: Buffer; readonly now: Date; readonly ends_at: Date },
): Promise<number | null> {
  // Locked: who is disabled meanwhile gets no session that a later `enable` would wake up.
  const { rows } = await pool.query<{ id: string }>(
    `insert into partner_session (id, sha256, participant, created_at, seen_at, ends_at) overriding system value
      select ${NEW_ID}, $2, active.id, $3, $3, $4
      from (select id from participant where id = $1 and status = 'active' for share) as active
      returning id`,
    [participant, session.sha256, session.now, session.ends_at],
  )
  return rows[0] === undefined ? null : Number(rows[0].id)
}

/** @returns null: there is none, or its participant is not active */
export async function findPartnerSession({ pool }: Pool, id: number): Promise<StoredPartnerSession | null> {
  const { rows } = await pool.query<StoredPartnerSession>({
    name: 'find partner session',
    text: `select $1::bigint as session, partner_session.sha256, sender_id, seen_at, ends_at
      from partner_session join participant on participant.id = partner_session.participant
      where partner_session.id = $1 and status = 'active'`,
    values: [id],
  })
  const [row] = rows
  return row === undefined ? null : { ...row, session: id }
}

/** Notes that somebody does something in a session. */
export async function notePartnerSeen({ pool }: Pool, id: number, now: Date): Promise<void> {
  await pool.query('update partner_session set seen_at = greatest(seen_at, $2) where id = $1', [id, now])
}

/** Ends one session. */
export async function endPartnerSession({ pool }: Pool, id: number): Promise<void> {
  await pool.query('delete from partner_session where id = $1', [id])
}

/** Of the sessions of one participant those stay that were used last, so many. */
export async function endOlderPartnerSessions({ pool }: Pool, participant: number, most: number): Promise<void> {
  await pool.query(
    `delete from partner_session where id in (
      select id from partner_session where participant = $1 order by seen_at desc, id desc offset $2)`,
    [participant, most],
  )
}

/**
 * Ends every session of a participant, and the links that would begin one.
 * @returns how many sessions
 */
export async function endPartnerSessions(on: Kysely<unknown>, { id }: Pick<Participant, 'id'>): Promise<number> {
  await sql`delete from partner_sign_in_link where participant = ${id}`.execute(on)
  const { numAffectedRows } = await sql`delete from partner_session where participant = ${id}`.execute(on)
  return Number(numAffectedRows)
}

/** Deletes sessions and links that have ended. */
export async function forgetPartnerSessions(
  { pool }: Pool,
  { now, seenAfter }: { readonly now: Date; readonly seenAfter: Date },
): Promise<void> {
  await pool.query('delete from partner_session where ends_at <= $1 or seen_at <= $2', [now, seenAfter])
  await pool.query('delete from partner_sign_in_link where ends_at <= $1', [now])
}

/**
 * Adds a link. Those of the participant that were not spent end.
 * @returns the id of the link; null: no active participant has this sender_id
 */
export async function addPartnerLink(
  { pool }: Pool,
  link: { readonly sender_id: string; readonly sha256: Buffer; readonly ends_at: Date },
): Promise<number | null> {
  if (!isStorable(link.sender_id)) return null
  return withTransaction(pool, async (client) => {
    // Locked: of links that are made at the same time the last one is good.
    const { rows } = await client.query<{ participant: number }>(
      `select id as participant from participant where sender_id = $1 and status = 'active' for no key update`,
      [link.sender_id],
    )
    const [active] = rows
    if (active === undefined) return null
    await client.query('delete from partner_sign_in_link where participant = $1', [active.participant])
    const added = await client.query<{ id: string }>(
      `insert into partner_sign_in_link (id, sha256, participant, ends_at) overriding system value
        values (${NEW_ID}, $1, $2, $3) returning id`,
      [link.sha256, active.participant, link.ends_at],
    )
    return Number(added.rows[0]?.id)
  })
}

/** The digest of a link that has not ended; null: there is none. */
export async function findPartnerLink({ pool }: Pool, id: number, now: Date): Promise<Buffer | null> {
  const { rows } = await pool.query<{ sha256: Buffer }>(
    'select sha256 from partner_sign_in_link where id = $1 and ends_at > $2',
    [id, now],
  )
  return rows[0]?.sha256 ?? null
}

/** Spends a link: of calls at the same time one gets the `Participant.id`, the others null. */
export async function spendPartnerLink({ pool }: Pool, id: number): Promise<number | null> {
  const { rows } = await pool.query<{ participant: number }>(
    'delete from partner_sign_in_link where id = $1 returning participant',
    [id],
  )
  return rows[0]?.participant ?? null
}
