/** Encrypts details that may name a person who works with the data. The encryption binds them to their entry. */

import type { ConfidentialAuditDetails } from '@rollcall/core/model/audit-entry'
import { decrypt, ENCRYPTION_OVERHEAD, encrypt } from '@rollcall/keys/encrypted-value'
import type { ConfidentialKey } from './keys.ts'
import type { EntryPlace } from './store/evidence.ts'

const entryBindingOf = ({ chain, sequence }: EntryPlace): Buffer => Buffer.from(`account ${chain} ${sequence}`)

/** Encrypts confidential details for the entry at a place; the text begins with the kid of the key. */
export const encryptConfidentialDetails = (key: ConfidentialKey, place: EntryPlace, details: ConfidentialAuditDetails): string =>
  `${key.kid}.${encrypt(key.key, Buffer.alloc(0), entryBindingOf(place), Buffer.from(JSON.stringify(details))).toString('base64url')}`

/** Decrypts confidential details; null: the text was altered, moved to another entry, or has another key. */
export function decryptConfidentialDetails(
  key: ConfidentialKey,
  place: EntryPlace,
  sealed: string,
): ConfidentialAuditDetails | null {
  const bytes = Buffer.from(sealed.slice(key.kid.length + 1), 'base64url')
  // Only the one canonical spelling is accepted, so that no letter of the text can be changed.
  if (sealed !== `${key.kid}.${bytes.toString('base64url')}` || bytes.length < ENCRYPTION_OVERHEAD) return null
  const opened = decrypt(key.key, 0, entryBindingOf(place), bytes)
  return opened === null ? null : (JSON.parse(opened.toString()) as ConfidentialAuditDetails)
}
