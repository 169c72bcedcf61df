/**
 * The tables whose shape does not depend on a kind, as Kysely sees them; `migrations/` makes them. The record
 * tables are not here: they are made from kind data by `record-tables.ts`.
 */
import type { Attribute, Jwk, SignatureProfile } from '@rollcall/protocol'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { AllowedHost } from '../allowed-hosts.ts'

/** A time that the database sets. */
type SetTime = ColumnType<Date, never, never>

export interface RegistryRow {
  id: GeneratedAlways<number>
  namespace: string
  /** A `Kind`'s name. */
  kind: string
  sender_id: string
  aliases: Generated<string[]>
  demo: Generated<boolean>
  created_at: SetTime
  /** An IANA name; its days are those by which ages are counted. */
  time_zone: Generated<string>
}

/** An attribute that an operator gave a registry. */
export interface RegistryAttributeRow {
  registry: number
  record_type: string
  name: string
  /** The `Attribute` as the operator declared it. */
  definition: ColumnType<Attribute, string, string>
  created_at: SetTime
}

/** A column that is not filled in the records that were there before it. */
export interface ColumnFillRow {
  registry: number
  record_type: string
  /** An attribute's or compound's. */
  name: string
  /** The id from which on records are yet to be filled. */
  next_record: Generated<number>
}

export interface RecordTombstoneRow {
  registry: number
  record_type: string
  /** The id that the record had. */
  record: number
  primary_identifier: string
  deleted_at: Generated<Date>
}

export interface SlowSearchRow {
  registry: number
  record_type: string
  /** Names that were asked for, sorted; never what was looked for. */
  attributes: string[]
  searches: number
  /** Milliseconds. */
  total_ms: number
  max_ms: number
  last_seen: Date
}

export interface ParticipantRow {
  id: GeneratedAlways<number>
  sender_id: string
  client_id: string
  name: string
  status: Generated<'active' | 'disabled'>
  /** Null: the server's limit. */
  max_page_size: Generated<number | null>
  /** Requests a second. Null: the server's limit; Infinity: none. */
  rate_limit: Generated<number | null>
  /** Requests in flight on one node. Null: the server's limit; Infinity: none. */
  concurrency_limit: Generated<number | null>
  signature_policy: Generated<'required' | 'if-present' | 'off'>
  /** A policy other than 'required' needs it. */
  allow_unsigned: Generated<boolean>
  /** Null: the default profile. */
  signature_profile: ColumnType<SignatureProfile | null, string | null | undefined, string | null>
  encryption_policy: Generated<'required' | 'allowed' | 'refused'>
  jwks_uri: Generated<string | null>
  outgoing: ColumnType<readonly AllowedHost[], string | undefined, string>
  demo: Generated<boolean>
  created_at: SetTime
}

export interface ParticipantKeyRow {
  id: GeneratedAlways<number>
  participant: number
  kid: string
  use: 'sig' | 'enc'
  algorithm: string
  /** The members that make the key (RFC 7638) and no others. */
  public_jwk: ColumnType<Jwk, string, string>
  /** RFC 7638, SHA-256. */
  thumbprint: string
  valid_from: Generated<Date>
  /** Null: no end. */
  valid_until: Generated<Date | null>
  created_at: SetTime
  /** Null: it is live. */
  revoked_at: ColumnType<Date | null, never, Date>
}

export interface ParticipantSecretRow {
  id: GeneratedAlways<number>
  participant: number
  sha256: Buffer
  created_at: SetTime
  /** Null: it is live. */
  retired_at: ColumnType<Date | null, never, Date>
}

export interface MasterKeyRow {
  /** 1 to 255; the first byte of what is sealed with it. */
  version: number
  /** A known text, sealed: tells the right master key from another. */
  check_value: Buffer
  created_at: SetTime
}

export interface OwnKeyRow {
  kid: string
  use: string
  algorithm: string
  state: 'next' | 'active' | 'retired' | 'revoked'
  /** The JWK: private, or public alone for a key that signs no more; null once it is erased. */
  sealed: Buffer | null
  created_at: SetTime
  activated_at: Date | null
  retired_at: Date | null
  /** When a retired key stops being one of ours. */
  expires_at: Date | null
  revoked_at: Date | null
}

export interface BodyKeyRow {
  /** 'YYYY-MM-DD' in UTC. */
  day: string
  sealed: Buffer
  created_at: SetTime
}

export interface ExchangeRow {
  participant: number
  /** As `messageKey` gives it. */
  message_id: string
  fingerprint: Buffer
  correlation_id: string
  registry: number
  operation: string
  received_at: SetTime
}

export interface SealedMessageRow {
  fingerprint: Buffer
  participant: number
  /** As `messageKey` gives it. */
  message_id: string
  received_at: SetTime
}

export interface QuotaBucketRow {
  bucket: string
  /** Requests that may still be taken, as of `refilled_at`. */
  tokens: number
  /** What the last statement took. */
  granted: number
  refilled_at: Date
}

export interface Tables {
  registry: RegistryRow
  registry_attribute: RegistryAttributeRow
  column_fill: ColumnFillRow
  record_tombstone: RecordTombstoneRow
  slow_search: SlowSearchRow
  participant: ParticipantRow
  participant_secret: ParticipantSecretRow
  participant_key: ParticipantKeyRow
  master_key: MasterKeyRow
  own_key: OwnKeyRow
  body_key: BodyKeyRow
  exchange: ExchangeRow
  sealed_message: SealedMessageRow
  quota_bucket: QuotaBucketRow
}
