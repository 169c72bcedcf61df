/** The SHA-256 digests of client secrets in the database. */

import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { sql } from 'kysely'
import { lockParticipant } from './participants.ts'

/** The most live secrets of a participant: the old one works while a new one is put in place. */
const MOST_VALID_SECRETS = 2

/**
 * Adds a secret by its SHA-256. Only the newest two secrets can be used; older ones are retired, and refused from then on.
 * @throws StoreRefusal no such participant
 */
export async function addSecret(db: Database, participant: Pick<Participant, 'id'>, sha256: Buffer): Promise<void> {
  await db.kysely.transaction().execute(async (transaction) => {
    const owner = await lockParticipant(transaction, participant)
    await sql`insert into participant_secret (participant, sha256) values (${owner.id}, ${sha256})`.execute(transaction)
    await sql`update participant_secret set retired_at = now()
      where participant = ${owner.id} and retired_at is null and id not in (
        select id from participant_secret where participant = ${owner.id} order by id desc limit ${MOST_VALID_SECRETS})`.execute(
      transaction,
    )
  })
}

/** Retires those client secrets of a participant that have the given SHA-256 digests. */
export async function retireSecrets(
  { pool }: Pick<Database, 'pool'>,
  participant: Pick<Participant, 'id'>,
  secrets: readonly Buffer[],
): Promise<void> {
  await pool.query(
    `update participant_secret set retired_at = now()
      where participant = $1 and retired_at is null and sha256 = any($2::bytea[])`,
    [participant.id, secrets],
  )
}
