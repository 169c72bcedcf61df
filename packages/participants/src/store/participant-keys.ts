/** Public keys of participants that the operator has registered or revoked. */

import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { isCheckViolation, isUniqueViolation } from '@rollcall/database/database-errors'
import { StoreRefusal } from '@rollcall/database/refusal'
import { assignmentsSql, valuesSql } from '@rollcall/database/statement-parts'
import { isTextStorable } from '@rollcall/database/text'
import { type Jwk, MOST_KEYS, type PublicKey } from '@rollcall/protocol'
import { sql } from 'kysely'
import { lockParticipant } from './participants.ts'

export interface ParticipantKey {
  readonly id: number
  /** The `Participant.id` of the owner; null: the owner was removed, or never existed. */
  readonly participant: number | null
  /** The sender_id when `participant` is null; such a key is revoked. */
  readonly former_sender_id: string | null
  readonly kid: string
  readonly use: 'sig' | 'enc'
  readonly algorithm: string
  /** Only the members of the JWK that make the key (RFC 7638). */
  readonly public_jwk: Jwk
  /** The RFC 7638 thumbprint with SHA-256. */
  readonly thumbprint: string
  readonly valid_from: Date
  /** The end of the key; null: it has no end. */
  readonly valid_until: Date | null
  readonly created_at: Date
  /** The time of the revocation; null: the key is not revoked. */
  readonly revoked_at: Date | null
}

/** SQL condition: the key is neither revoked nor past its end. */
const LIVE_KEY_SQL = 'revoked_at is null and (valid_until is null or valid_until > now())'

/** The period of a key: valid from `valid_from` until just before `valid_until`; null: without end. */
export interface KeyPeriod {
  readonly valid_from?: Date
  readonly valid_until?: Date | null
}

/**
 * Registers a key. A public key has one row: adding it again changes the kid, the use, the algorithm and any given times of
 * the row.
 * @throws StoreRefusal another participant has the key, the key was ever revoked, the participant has too many keys or another
 * with this kid, the times are in the wrong order, or there is no such participant
 */
export async function addParticipantKey(
  db: Database,
  participant: Pick<Participant, 'id'>,
  key: PublicKey & KeyPeriod,
): Promise<ParticipantKey> {
  const { kid, use, algorithm, thumbprint, valid_from, valid_until } = key
  const times = { ...(valid_from && { valid_from }), ...(valid_until !== undefined && { valid_until }) }
  const entry = { kid, use, algorithm, public_jwk: JSON.stringify(key.public_jwk), ...times }
  try {
    return await db.kysely.transaction().execute(async (transaction) => {
      const owner = await lockParticipant(transaction, participant)
      const [known] = (
        await sql<Pick<ParticipantKey, 'id' | 'participant' | 'revoked_at'> & { readonly sender_id: string | null }>`
          select participant_key.id, participant, revoked_at, sender_id
          from participant_key left join participant on participant.id = participant_key.participant
          where thumbprint = ${thumbprint}`.execute(transaction)
      ).rows
      if (known !== undefined) {
        if (known.sender_id !== null && known.participant !== owner.id) throw otherKeyOwnerRefusal(known.sender_id)
        if (known.revoked_at !== null) {
          throw new StoreRefusal('this key was revoked, and a revoked key cannot be registered again; make a new key')
        }
        return requireFirstRow(
          await sql<ParticipantKey>`update participant_key set ${assignmentsSql(entry)} where id = ${known.id}
            returning *`.execute(transaction),
        )
      }
      const { live } = requireFirstRow(
        await sql<{ live: number }>`select count(*) as live from participant_key
          where participant = ${owner.id} and ${sql.raw(LIVE_KEY_SQL)}`.execute(transaction),
      )
      if (live >= MOST_KEYS) {
        throw new StoreRefusal(`a participant has at most ${MOST_KEYS} live keys; revoke one that is not used`)
      }
      return requireFirstRow(
        await sql<ParticipantKey>`insert into participant_key
          ${valuesSql({ participant: owner.id, thumbprint, ...entry })} returning *`.execute(transaction),
      )
    })
  } catch (error) {
    throw toKeyRefusal(error, kid)
  }
}

function requireFirstRow<Row>({ rows: [row] }: { readonly rows: readonly Row[] }): Row {
  if (row === undefined) throw new Error('unreachable: the statement answers one row')
  return row
}

const otherKeyOwnerRefusal = (owner: string): StoreRefusal =>
  new StoreRefusal(`this key belongs to ${owner} already, and a public key belongs to one participant`)

function toKeyRefusal(error: unknown, kid: string): unknown {
  if (isUniqueViolation(error, 'participant_key_thumbprint_key')) return otherKeyOwnerRefusal('another participant')
  if (isUniqueViolation(error, 'participant_key_live_index')) {
    return new StoreRefusal(
      `an unrevoked key of the participant has the kid ${kid}; revoke it if it has ended, or give this one another kid`,
    )
  }
  if (isCheckViolation(error, 'participant_key_valid_check')) {
    return new StoreRefusal('valid_until: must be later than valid_from')
  }
  return error
}

/** Lists all stored keys of a participant, also revoked and ended ones, the newest first. */
export async function listParticipantKeys(
  db: Database,
  participant: Pick<Participant, 'id'>,
): Promise<readonly ParticipantKey[]> {
  const { rows } = await db.pool.query<ParticipantKey>('select * from participant_key where participant = $1 order by id desc', [
    participant.id,
  ])
  return rows
}

/** Lists the keys of one participant, or of all, that are neither revoked nor ended; the latest `valid_from` first. */
export async function listCurrentAndFutureKeys(
  db: Database,
  participant?: Pick<Participant, 'id'>,
): Promise<readonly ParticipantKey[]> {
  const { rows } = await db.pool.query<ParticipantKey>(
    `select * from participant_key where ($1::integer is null or participant = $1) and ${LIVE_KEY_SQL}
      order by valid_from desc, id desc`,
    [participant?.id ?? null],
  )
  return rows
}

/** Finds the registered key with which a participant signs at a time: its newest valid one; undefined when it has none. */
export async function findSigningKey(
  db: Database,
  participant: Pick<Participant, 'id'>,
  now: Date,
): Promise<ParticipantKey | undefined> {
  const live = await listCurrentAndFutureKeys(db, participant)
  return live.find(({ use, valid_from }) => use === 'sig' && valid_from <= now)
}

/** Finds the registered keys with these thumbprints, of all participants, also revoked ones. */
export async function findRegisteredKeys(db: Database, thumbprints: readonly string[]): Promise<readonly ParticipantKey[]> {
  if (thumbprints.length === 0) return []
  const { rows } = await db.pool.query<ParticipantKey>('select * from participant_key where thumbprint = any($1)', [thumbprints])
  return rows
}

/** Revokes a key for ever; all nodes follow within a second. @throws StoreRefusal no unrevoked key has this kid */
export async function revokeParticipantKey(
  db: Database,
  participant: Pick<Participant, 'id' | 'sender_id'>,
  kid: string,
): Promise<ParticipantKey> {
  const { rows } = isTextStorable(kid)
    ? await db.pool.query<ParticipantKey>(
        `update participant_key set revoked_at = now()
          where participant = $1 and kid = $2 and revoked_at is null returning *`,
        [participant.id, kid],
      )
    : { rows: [] }
  const [revoked] = rows
  if (!revoked) {
    throw new StoreRefusal(
      `${participant.sender_id} has no live registered key with this kid; ` +
        'to refuse a key that only its jwks_uri lists, add it here and revoke it',
    )
  }
  return revoked
}

/**
 * Stores a key as revoked, whether it was registered before or not.
 * @param owner.id null when the participant does not exist: then a later participant with this sender_id cannot use the key
 */
export async function storeRevokedKey(
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
