/** The tables of the accounts of access. */
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { PersonRole } from '../../model/account.ts'
import type { SetTime } from './directory-tables.ts'

export interface AccountRow {
  chain: string
  /** From 1 on, without gaps. */
  sequence: number
  at: Date
  /** Canonical JSON, as it was hashed. */
  entry: string
  /** 32 bytes for each row of `account_person`. */
  commitments: Buffer
  hash: Buffer
  /** As `messageKey` gives it; of the request, and of the reply. */
  message_id: string | null
  reply_message_id: string | null
}

export interface AccountPersonRow {
  chain: string
  sequence: number
  /** From 0, in the order of the commitments. */
  position: number
  pseudonym: Buffer
  salt: Buffer
  role: PersonRole
}

export interface AccountCheckpointRow {
  id: GeneratedAlways<number>
  chain: string
  /** The last entry that it signs. */
  sequence: number
  hash: Buffer
  at: Date
  /** Canonical JSON, as it was signed. */
  content: string
  /** SHA-256 of the content. */
  digest: Buffer
  kid: string
  signature: Buffer
}

export interface AccountTombstoneRow {
  id: GeneratedAlways<number>
  at: Date
  /** Canonical JSON, as it was signed. */
  content: string
  kid: string
  signature: Buffer
  /** Those that the content names. */
  chains: string[]
}

export interface AccountReviewRow {
  id: GeneratedAlways<number>
  chain: string
  sequence: number
  at: SetTime
  reviewed_by: string
  /** What was found, encrypted. */
  sealed: string
}

export interface AccountKeyRow {
  kid: string
  kind: 'signature' | 'pseudonym' | 'confidential'
  /** The public JWK of a signature key. */
  public_key: ColumnType<{ readonly x: string } | null, string | null, never>
  /** The private JWK, or the secret, encrypted with the master key; null once it is erased. */
  sealed: Buffer | null
  created_at: SetTime
  retired_at: Generated<Date | null>
}
