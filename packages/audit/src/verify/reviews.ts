import { createSecretKey } from 'node:crypto'
import { DecryptionError } from '@rollcall/keys/encrypted-value'
import type { Vault } from '@rollcall/keys/vault'
import { type ConfidentialKey, decryptAuditKey } from '../keys.ts'
import { decryptEmergencyReview } from '../reviews.ts'
import type { AuditKey } from '../store/audit-keys.ts'
import type { StoredEmergencyReview } from '../store/entry-pages.ts'
import type { VerificationReport } from './report.ts'

/** Verifies reviews of emergencies. @param vault null: reviews are only counted, as their seals need the master key */
export async function verifyReviews(
  rows: AsyncIterable<StoredEmergencyReview>,
  keys: readonly AuditKey[],
  vault: Vault | null,
  report: VerificationReport,
): Promise<void> {
  const key = vault === null ? null : await findConfidentialKey(keys, vault)
  for await (const row of rows) {
    report.counts.reviews += 1
    if (vault === null) continue
    const review = key === null ? null : decryptEmergencyReview(key, row)
    if (review === null) report.fault('review_changed', row.chain, row.sequence, `review ${row.id}`)
    else if (!review.isBound) report.counts.unsealed_reviews += 1
  }
}

/** Decrypts the key that seals reviews; null when this key is missing or altered. `createVerifier` reports that fault. */
async function findConfidentialKey(keys: readonly AuditKey[], vault: Vault): Promise<ConfidentialKey | null> {
  const row = keys.find(({ kind }) => kind === 'confidential')
  if (row === undefined) return null
  try {
    return { kid: row.kid, key: createSecretKey(await decryptAuditKey(vault, row)) }
  } catch (error) {
    if (error instanceof DecryptionError) return null
    throw error
  }
}
