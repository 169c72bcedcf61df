/** Participants' public keys that the operator has registered, one by one. */

import { MOST_KEYS, type PublicKey } from '@rollcall/protocol'
import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import type { Participant } from '../../model/participant.ts'
import type { Database } from '../db/database.ts'
import { isDuplicate, isViolation } from '../db/database-errors.ts'
import type { ParticipantKeyRow } from '../db/directory-tables.ts'
import { StoreRefusal } from '../db/refusal.ts'
import type { Tables } from '../db/tables.ts'
import { isStorable } from '../db/text.ts'
import { lockParticipant } from './participants.ts'

export type ParticipantKey = Readonly<Selectable<ParticipantKeyRow>>

/** When a key is valid: from the first moment until just before the second; null: without end. */
export interface Validity {
  readonly valid_from?: Date
  readonly valid_until?: Date | null
}

/**
 * Registers a key. A public key belongs to one participant and has one entry: adding it again changes that entry's
 * kid, use and, where they are given, its times. A revoked key is never taken again, not even from its owner.
 * @throws StoreRefusal
 */
export async function addParticipantKey(
  db: Database,
  participant: Pick<Participant, 'id'>,
  key: PublicKey & Validity,
): Promise<ParticipantKey> {
  const { kid, use, algorithm, thumbprint, valid_from, valid_until } = key
  const times = { ...(valid_from && { valid_from }), ...(valid_until !== undefined && { valid_until }) }
  const entry = { kid, use, algorithm, public_jwk: JSON.stringify(key.public_jwk), ...times }
  try {
    return await db.kysely.transaction().execute(async (transaction) => {
      const owner = await lockParticipant(transaction, participant)
      const known = await transaction
        .selectFrom('participant_key')
        .leftJoin('participant', 'participant.id', 'participant_key.participant')
        .select(['participant_key.id', 'participant_key.participant', 'revoked_at', 'sender_id'])
        .where('thumbprint', '=', thumbprint)
        .executeTakeFirst()
      if (known !== undefined) {
        if (known.sender_id !== null && known.participant !== owner.id) throw taken(known.sender_id)
        if (known.revoked_at !== null) {
          throw new StoreRefusal(
            'this key was revoked, and a revoked key cannot be registered again; make a new key',
          )
        }
        return await transaction
          .updateTable('participant_key')
          .set(entry)
          .where('id', '=', known.id)
          .returningAll()
          .executeTakeFirstOrThrow()
      }
      const { live } = await transaction
        .selectFrom('participant_key')
        .select((all) => all.fn.countAll<number>().as('live'))
        .where('participant', '=', owner.id)
        .where(isLive)
        .executeTakeFirstOrThrow()
      if (live >= MOST_KEYS) {
        throw new StoreRefusal(
          `a participant has at most ${MOST_KEYS} live keys; revoke one that is not used`,
        )
      }
      return await transaction
        .insertInto('participant_key')
        .values({ participant: owner.id, thumbprint, ...entry })
        .returningAll()
        .executeTakeFirstOrThrow()
    })
  } catch (error) {
    throw asRefusal(error, kid)
  }
}

const taken = (owner: string): StoreRefusal =>
  new StoreRefusal(`this key belongs to ${owner} already, and a public key belongs to one participant`)

function asRefusal(error: unknown, kid: string): unknown {
  if (isDuplicate(error, 'participant_key_thumbprint_key')) return taken('another participant')
  if (isDuplicate(error, 'participant_key_live_index')) {
    return new StoreRefusal(
      `the participant has another live key with the kid ${kid}; give this one another kid`,
    )
  }
  if (isViolation(error, 'participant_key_valid_check')) {
    return new StoreRefusal('valid_until: must be later than valid_from')
  }
  return error
}

/** Every key that was ever registered for it, the newest first. */
export async function listParticipantKeys(
  db: Database,
  participant: Pick<Participant, 'id'>,
): Promise<readonly ParticipantKey[]> {
  return db.kysely
    .selectFrom('participant_key')
    .selectAll()
    .where('participant', '=', participant.id)
    .orderBy('id', 'desc')
    .execute()
}

/** Live keys of one participant or of all, those that begin latest first: neither revoked nor ended. */
export async function listLiveKeys(
  db: Database,
  participant?: Pick<Participant, 'id'>,
): Promise<readonly ParticipantKey[]> {
  return db.kysely
    .selectFrom('participant_key')
    .selectAll()
    .$if(participant !== undefined, (keys) => keys.where('participant', '=', participant?.id ?? 0))
    .where(isLive)
    .orderBy('valid_from', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** The registered keys with these thumbprints, of all participants, revoked ones included. */
export async function findRegisteredKeys(
  db: Database,
  thumbprints: readonly string[],
): Promise<readonly ParticipantKey[]> {
  if (thumbprints.length === 0) return []
  return db.kysely.selectFrom('participant_key').selectAll().where('thumbprint', 'in', thumbprints).execute()
}

/**
 * Revokes a key at once and for ever; every node follows within a second.
 * @throws StoreRefusal it has no live key of this kid
 */
export async function revokeParticipantKey(
  db: Database,
  participant: Pick<Participant, 'id' | 'sender_id'>,
  kid: string,
): Promise<ParticipantKey> {
  const revoked =
    isStorable(kid) &&
    (await db.kysely
      .updateTable('participant_key')
      .set({ revoked_at: sql<Date>`now()` })
      .where('participant', '=', participant.id)
      .where('kid', '=', kid)
      .where('revoked_at', 'is', null)
      .returningAll()
      .executeTakeFirst())
  if (!revoked) {
    throw new StoreRefusal(
      `${participant.sender_id} has no live registered key with this kid; ` +
        'to refuse a key that only its jwks_uri lists, add it here and revoke it',
    )
  }
  return revoked
}

/**
 * Refuses a key that was revoked, whether or not it is registered.
 * @param owner id null: there is no such participant now; the key stays revoked for one with this sender_id that is added later
 */
export async function refuseKey(
  { pool }: Pick<Database, 'pool'>,
  { id, sender_id }: { readonly id: number | null; readonly sender_id: string },
  { kid, use, algorithm, public_jwk, thumbprint }: PublicKey,
): Promise<void> {
  const former = id === null ? sender_id : null
  await pool.query(
    `insert into participant_key (participant, former_sender_id, kid, use, algorithm, public_jwk, thumbprint, revoked_at)
      values ($1, $2, $3, $4, $5, $6, $7, now())
      on conflict (thumbprint) do update set revoked_at = coalesce(participant_key.revoked_at, now())`,
    [id, former, kid, use, algorithm, JSON.stringify(public_jwk), thumbprint],
  )
}

function isLive({ and, or, eb }: ExpressionBuilder<Tables, 'participant_key'>) {
  const unending = or([eb('valid_until', 'is', null), eb('valid_until', '>', sql<Date>`now()`)])
  return and([eb('revoked_at', 'is', null), unending])
}
