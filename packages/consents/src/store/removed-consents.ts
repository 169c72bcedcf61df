/** The uses of consents that are deleted with a registry or participant. Signed consents and withdrawals stay. */
import { type RowsStoredByPackage, type RowsToRemove, rowsToRemove } from '@rollcall/database/removal'
import { senderIdSql } from '@rollcall/participants/store/participant-names'
import type { ClientBase } from 'pg'

/** The uses of consents to delete with their exchanges. @param exchanges SQL of the correlation_ids */
export const consentUsesToRemove = (exchanges: string): RowsToRemove => ({
  table: 'consent_use',
  of: `correlation_id in (${exchanges})`,
})

/** The uses of consents to delete with the participant that used them. */
export const CONSENT_ROWS_TO_REMOVE: RowsStoredByPackage = { removed: rowsToRemove('participant', ['consent_use']) }

/**
 * Stores a removed participant's sender_id in the withdrawals of consents that were given to it. The withdrawals then hold for a
 * later participant with the same sender_id.
 */
export async function storeSenderIdInWithdrawals(client: ClientBase, participant: number): Promise<void> {
  await client.query(
    `update consent_withdrawal set former_sender_id = ${senderIdSql('consent_withdrawal.participant')} where participant = $1`,
    [participant],
  )
}
