/** What goes with a registry or a participant that is removed, and what stays: consents that were used and withdrawn. */
import { type RemovedRows, rowsOf, type StoredPart } from '@rollcall/database/removal'
import { senderIdOf } from '@rollcall/participants/store/participant-names'
import type { ClientBase } from 'pg'

/**
 * The uses of consents in exchanges that go.
 * @param exchanges SQL of their correlation_ids
 */
export const consentUsesOf = (exchanges: string): RemovedRows => ({
  table: 'consent_use',
  of: `correlation_id in (${exchanges})`,
})

/** Of a participant. */
export const STORED_CONSENT_USES: StoredPart = { removed: rowsOf('participant', ['consent_use']) }

/** The withdrawals from a participant that is removed stay under its sender_id: they hold for one that has it later. */
export async function keepWithdrawals(client: ClientBase, participant: number): Promise<void> {
  await client.query(
    `update consent_withdrawal set former_sender_id = ${senderIdOf('consent_withdrawal.participant')} where participant = $1`,
    [participant],
  )
}
