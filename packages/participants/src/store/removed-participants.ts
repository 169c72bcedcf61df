/** Deletes the rows of this package's tables that belong to a removed registry or participant. */
import { countRowsSql, type Removable, type RowsStoredByPackage, rowsToRemove } from '@rollcall/database/removal'
import type { ClientBase } from 'pg'

const grantsToCount = (removable: Removable) => ({ grants: countRowsSql(removable, 'participant_grant') })

/** The rows to count and to delete. Grants and unrevoked keys are deleted together with the registry or participant. */
export const PARTICIPANT_ROWS_TO_REMOVE: Readonly<Record<Removable, RowsStoredByPackage>> = {
  registry: { counted: grantsToCount('registry'), removed: rowsToRemove('registry', ['participant_check']) },
  participant: {
    counted: {
      ...grantsToCount('participant'),
      secrets: countRowsSql('participant', 'participant_secret'),
      keys: countRowsSql('participant', 'participant_key'),
    },
    removed: rowsToRemove('participant', ['participant_check', 'accepted_day', 'inbox_day']),
  },
}

/**
 * Deletes a participant. Its public signature keys are kept, so that its signatures can still be verified. Its revoked
 * keys stay under its sender_id, and are refused for a later participant with the same sender_id.
 */
export async function removeParticipantRow(client: ClientBase, id: number): Promise<void> {
  await client.query(
    `insert into published_key (sender_id, thumbprint, kid, public_jwk, first_used_at, last_used_at)
      select sender_id, thumbprint, kid, public_jwk, participant_key.created_at, coalesce(revoked_at, now())
      from participant_key join participant on participant.id = participant_key.participant
      where participant.id = $1 and use = 'sig' on conflict do nothing`,
    [id],
  )
  await client.query(
    `update participant_key set participant = null, former_sender_id = sender_id
      from participant where participant.id = $1 and participant_key.participant = participant.id
        and revoked_at is not null`,
    [id],
  )
  await client.query('delete from participant where id = $1', [id])
}
