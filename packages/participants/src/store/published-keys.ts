/**
 * Keys stored as evidence for messages: the participants' published keys that have verified a message, and the registered
 * signature keys of removed participants.
 */

import type { Database } from '@rollcall/database/database'
import type { Jwk, PublicKey } from '@rollcall/protocol'

/** A key stored as evidence, with the first and the last time of its use. */
export interface StoredEvidenceKey {
  readonly kid: string
  readonly public_jwk: Jwk
  /**
   * The time at which the key first verified a message; for a registered key of a removed participant, the time of its
   * registration.
   */
  readonly first_used_at: Date
  /**
   * The time at which the key last verified a message, exact to about an hour; for a registered key of a removed
   * participant, the time of its revocation or of the removal.
   */
  readonly last_used_at: Date
}

/** Notes that a published key has verified a message now. */
export async function notePublishedKeyUse(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
  { kid, thumbprint, public_jwk }: Pick<PublicKey, 'thumbprint' | 'public_jwk'> & { readonly kid: string },
): Promise<void> {
  await pool.query({
    name: 'note used key',
    text: `insert into published_key (sender_id, thumbprint, kid, public_jwk) values ($1, $2, $3, $4)
      on conflict (sender_id, thumbprint, kid) do update set last_used_at = now()`,
    values: [sender_id, thumbprint, kid, JSON.stringify(public_jwk)],
  })
}

/** Lists the keys stored as evidence for a sender_id, in the order of `first_used_at`. */
export async function listEvidenceKeys(
  { pool }: Pick<Database, 'pool'>,
  sender_id: string,
): Promise<readonly StoredEvidenceKey[]> {
  const { rows } = await pool.query<StoredEvidenceKey>(
    `select kid, public_jwk, first_used_at, last_used_at from published_key
      where sender_id = $1 order by first_used_at, kid`,
    [sender_id],
  )
  return rows
}
