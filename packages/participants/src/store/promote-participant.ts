/** Makes a sandbox participant live. This ends the keys, secrets, sessions, grants and callback settings that it had before. */

import type { Participant } from '@rollcall/core/model/participant'
import { commitJournaledWork } from '@rollcall/database/commit-journaled'
import type { Database } from '@rollcall/database/database'
import { isUniqueViolation } from '@rollcall/database/database-errors'
import { StoreRefusal } from '@rollcall/database/refusal'
import { valuesSql } from '@rollcall/database/statement-parts'
import type { PublicKey } from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'
import { lockParticipant } from './participants.ts'
import { endPartnerSessions } from './sessions.ts'

/** The keys, address and secret that a participant gets when it becomes live. */
export interface Promotion {
  /** The keys of the live participant. */
  readonly keys: readonly PublicKey[]
  /** The keys that the participant published for the sandbox. They are never accepted again. */
  readonly former: readonly PublicKey[]
  /** The address of the key set of the live participant; null: no address. */
  readonly jwks_uri: string | null
  /** The SHA-256 of the client secret of the live participant. */
  readonly sha256: Buffer
}

/**
 * Replaces the participant's keys and secrets by the given ones, and ends its sessions, grants and callback settings. Its access
 * tokens, which are marked as sandbox tokens, become invalid. All nodes follow within a second.
 * @returns ids of the registries in which it had a grant
 * @throws StoreRefusal it is no sandbox participant; a key was used in the sandbox, or belongs to another participant; two of
 * `keys` have the same kid; or another participant has the jwks_uri
 */
export async function promoteParticipant(
  db: Pick<Database, 'kysely' | 'journal'>,
  participant: Pick<Participant, 'id' | 'sender_id'>,
  { keys, former, jwks_uri, sha256 }: Promotion,
): Promise<readonly number[]> {
  const act = {
    kind: 'participant_promoted',
    participant: participant.sender_id,
    keys,
    former,
    jwks_uri,
    secret: sha256.toString('hex'),
  } as const
  const promote = async (transaction: Transaction<unknown>) => {
    const { id, environment } = await lockParticipant(transaction, participant)
    if (environment !== 'sandbox') throw new StoreRefusal(`${participant.sender_id} is live already`)
    await setParticipantLive(transaction, participant, jwks_uri)
    await sql`update participant_key set revoked_at = now() where participant = ${id} and revoked_at is null`.execute(transaction)
    for (const key of former) await refuseKeyForEver(transaction, id, key)
    for (const key of keys) await addKeyOfLiveParticipant(transaction, participant, key)
    await sql`update participant_secret set retired_at = now() where participant = ${id} and retired_at is null`.execute(
      transaction,
    )
    await sql`insert into participant_secret (participant, sha256) values (${id}, ${sha256})`.execute(transaction)
    await sql`delete from participant_callback where participant = ${id}`.execute(transaction)
    await endPartnerSessions(transaction, { id })
    await sql`delete from participant_milestone where participant = ${id}`.execute(transaction)
    const { rows: revoked } = await sql<{ registry: number }>`update participant_grant set revoked_at = now()
      where participant = ${id} and revoked_at is null returning registry`.execute(transaction)
    return [...new Set(revoked.map(({ registry }) => registry))]
  }
  return commitJournaledWork(db, promote, () => act)
}

async function setParticipantLive(
  transaction: Transaction<unknown>,
  { id }: Pick<Participant, 'id'>,
  jwks_uri: string | null,
): Promise<void> {
  try {
    await sql`update participant set environment = 'live', jwks_uri = ${jwks_uri} where id = ${id}`.execute(transaction)
  } catch (error) {
    if (!isUniqueViolation(error, 'participant_jwks_uri_key')) throw error
    throw new StoreRefusal('another participant has this jwks_uri; each participant needs one of its own')
  }
}

/** Stores a published key as revoked, so that it is refused even if it is published again. */
async function refuseKeyForEver(transaction: Transaction<unknown>, participant: number, key: PublicKey): Promise<void> {
  await sql`insert into participant_key (participant, kid, use, algorithm, public_jwk, thumbprint, revoked_at)
    values (${participant}, ${key.kid}, ${key.use}, ${key.algorithm}, ${JSON.stringify(key.public_jwk)}, ${key.thumbprint}, now())
    on conflict (thumbprint) do nothing`.execute(transaction)
}

async function addKeyOfLiveParticipant(
  transaction: Transaction<unknown>,
  { id }: Pick<Participant, 'id'>,
  key: PublicKey,
): Promise<void> {
  const { kid, use, algorithm, thumbprint } = key
  const { rows } = await sql<{ participant: number | null }>`
    select participant from participant_key where thumbprint = ${thumbprint}`.execute(transaction)
  const [known] = rows
  if (known?.participant === id) {
    throw new StoreRefusal(`the key ${kid} was used in the sandbox; make a new key for the live system`)
  }
  if (known !== undefined) {
    throw new StoreRefusal(`the key ${kid} belongs to another participant already; make a new key`)
  }
  try {
    const public_jwk = JSON.stringify(key.public_jwk)
    await sql`insert into participant_key
      ${valuesSql({ participant: id, kid, use, algorithm, thumbprint, public_jwk })}`.execute(transaction)
  } catch (error) {
    if (!isUniqueViolation(error, 'participant_key_live_index')) throw error
    throw new StoreRefusal(`two of the keys have the kid ${kid}; give each key its own kid`)
  }
}
