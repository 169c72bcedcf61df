/**
 * The tables whose shape does not depend on a kind, as Kysely sees them; `migrations/` makes them. The record
 * tables are not here: they are made from kind data by `record-tables.ts`.
 */
import type { Attribute, IdentifierType } from '@rollcall/protocol'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { Environment } from '../../model/environment.ts'
import type {
  AccountCheckpointRow,
  AccountKeyRow,
  AccountPersonRow,
  AccountReviewRow,
  AccountRow,
  AccountTombstoneRow,
} from './account-tables.ts'
import type {
  GrantUseRow,
  OperatorSessionRow,
  OperatorSignInLinkRow,
  OperatorTokenRow,
  ParticipantCallbackRow,
  ParticipantCheckRow,
  ParticipantGrantRow,
  ParticipantKeyRow,
  ParticipantMilestoneRow,
  ParticipantRow,
  ParticipantSecretRow,
  PartnerSessionRow,
  PartnerSignInLinkRow,
  ProposalRow,
  PublishedKeyRow,
  SetTime,
} from './directory-tables.ts'

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
  /** Another one after each change of what is protected; 0: nobody ever was. */
  protection_version: Generated<number>
  /** Years. */
  majority_age: Generated<number>
  /** By record type, the identifier type by which its records are known instead of the kind's. */
  primary_identifiers: ColumnType<Readonly<Record<string, string>>, string | undefined, string>
  environment: Generated<Environment>
  web_origins: Generated<string[]>
  reg_type_aliases: Generated<string[]>
  qualified_kids: Generated<boolean>
}

/** An identifier type that an operator gave a registry. */
export interface RegistryIdentifierTypeRow {
  registry: number
  name: string
  /** The `IdentifierType` without its name. */
  definition: ColumnType<Omit<IdentifierType, 'name'>, string, string>
  created_at: SetTime
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
  /** An attribute's or compound's, or `identifier`. */
  name: string
  /** The id from which on records are yet to be filled. */
  next_record: Generated<number>
}

/** By which rules of reading a column is filled. */
export interface ColumnRulesRow {
  registry: number
  record_type: string
  /** As in `ColumnFillRow`. */
  name: string
  /** A digest. */
  rules: string
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
  /** The names of the attributes in the search, sorted; never a value. */
  attributes: string[]
  searches: number
  /** Milliseconds. */
  total_ms: number
  max_ms: number
  last_seen: Date
}

export interface MasterKeyRow {
  /** 1 to 255; the first byte of the values that it encrypts. */
  version: number
  /** A known text, encrypted: it shows whether a master key is the right one. */
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
  /** Null where the message has none that could be asked for. */
  transaction_id: string | null
  received_at: SetTime
}

/** An exchange that is answered later. */
export interface AcceptedExchangeRow {
  correlation_id: string
  participant: number
  registry: number
  operation: string
  /** As `messageKey` gives it. */
  message_id: string
  transaction_id: string
  sender_uri: string | null
  encrypted: boolean
  /** Header and message in clear, encrypted at rest; null: its chunks have it, or its parent. */
  request: Buffer | null
  /** Bytes of header and message in clear; null: of an earlier version, or its chunks have it. */
  request_bytes: number | null
  /** How many items the request has. */
  items: number
  /** Whether `exchange_reference` has them; not so of what an earlier version accepted. */
  references_stored: Generated<boolean>
  state: Generated<'accepted' | 'replying' | 'replied' | 'failed'>
  /** The last page that has a delivery. */
  page: Generated<number>
  received_at: SetTime
  started_at: Date | null
  finished_at: Date | null
  /** When it may be claimed. */
  due_at: SetTime
  /** Of the run that answers it; null: none. */
  claim: string | null
  claimed_until: Date | null
  /** How often it was claimed since its last page. */
  runs: Generated<number>
  /** Of a chunk: the row of the request that was cut into chunks. */
  parent: string | null
  /** Of a chunk: the position of its first item in the request. */
  first_item: Generated<number>
  /** Of a chunk: its number, from 0, and how many there are. */
  chunk: Generated<number>
  chunks: Generated<number>
  /** Of a request that was cut into chunks: how many are not answered yet. Null: it was not. */
  open_chunks: number | null
}

/** One item of an accepted exchange, from the moment in which it is accepted. */
export interface ExchangeReferenceRow {
  correlation_id: string
  /** From 0, in the order of the request. */
  position: number
  participant: number
  registry: number
  /** As the answer names it: '' where it cannot be sent back. */
  reference_id: string
  /** Of the exchange. */
  received_at: Date
}

/** One answered item of an accepted exchange, with the records that its further pages are made of. */
export interface ExchangeItemRow {
  correlation_id: string
  /** From 0, in the order of the request. */
  position: number
  participant: number
  reference_id: string
  status: 'succ' | 'rjct'
  total: number | null
  page_size: number | null
  record_type: string | null
  record_ids: number[] | null
  answered_at: SetTime
}

/** One outgoing envelope. */
export interface DeliveryRow {
  id: string
  participant: number
  registry: number
  correlation_id: string | null
  /** The name of a row of CALLBACKS. */
  callback: string
  page: Generated<number>
  message_id: string
  /** Null where there is nowhere to send it to. */
  target: string | null
  /** Of the target; empty where there is none. */
  origin: GeneratedAlways<string>
  encrypted: boolean
  /** Header and message in clear, sealed. */
  body: Buffer
  state: 'pending' | 'delivered' | 'refused' | 'dead' | 'dropped' | 'held'
  /** Attempts that were begun. */
  attempts: Generated<number>
  /** Of them, those before `since`: its schedule began anew. */
  earlier: Generated<number>
  next_attempt_at: Date | null
  /** Who is attempting it, and until when nobody else does. */
  claim: string | null
  claimed_until: Date | null
  reason: string | null
  created_at: SetTime
  /** When its schedule began: as it was made, or when an operator asked for it again. */
  since: SetTime
  finished_at: Date | null
  /** Of a notification, with its number in the mailbox. */
  mailbox: Generated<number | null>
  sequence: Generated<number | null>
  /** `id`s of the notifications that it holds. */
  notifications: Generated<number[] | null>
}

export interface DeliveryAttemptRow {
  delivery: string
  /** From 1. */
  number: number
  at: Date
  duration_ms: number
  /** Of HTTP. */
  status: number | null
  /** A class of failure. */
  error: string | null
  /** At most 256 printable bytes of the answer, encrypted at rest. */
  answer: Buffer | null
}

export interface BreakerRow {
  participant: number
  /** Of the address that fails. */
  origin: string
  failures: number
  opened_at: Date | null
  probe_at: Date | null
  failed_at: Generated<Date>
}

/** A callback that was received. */
export interface InboxMessageRow {
  participant: number
  /** As `messageKey` gives it. */
  message_id: string
  fingerprint: Buffer
  /** The name of a row of CALLBACKS. */
  callback: string
  registry: number
  /** Of the message, or made for it: what it was acknowledged with. */
  correlation_id: string | null
  transaction_id: string | null
  /** Of its header. */
  status: string | null
  /** Quarantined: it answers no request that is known here. */
  state: 'stored' | 'quarantined'
  /** Header and message in clear, sealed. */
  body: Buffer
  received_at: SetTime
}

/** How much of a participant was persisted in one day. */
export interface ParticipantDayRow {
  participant: number
  /** 'YYYY-MM-DD' in UTC. */
  day: string
  messages: number
  /** Of encrypted bodies. */
  bytes: number
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
  /** Requests that may still be accepted, as of `refilled_at`. */
  tokens: number
  /** What the last statement took. */
  granted: number
  refilled_at: Date
}

export interface Tables {
  registry: RegistryRow
  registry_attribute: RegistryAttributeRow
  registry_identifier_type: RegistryIdentifierTypeRow
  column_fill: ColumnFillRow
  column_rules: ColumnRulesRow
  record_tombstone: RecordTombstoneRow
  slow_search: SlowSearchRow
  participant: ParticipantRow
  participant_secret: ParticipantSecretRow
  participant_grant: ParticipantGrantRow
  participant_key: ParticipantKeyRow
  published_key: PublishedKeyRow
  grant_use: GrantUseRow
  participant_check: ParticipantCheckRow
  operator_token: OperatorTokenRow
  operator_session: OperatorSessionRow
  operator_sign_in_link: OperatorSignInLinkRow
  partner_session: PartnerSessionRow
  partner_sign_in_link: PartnerSignInLinkRow
  participant_milestone: ParticipantMilestoneRow
  proposal: ProposalRow
  master_key: MasterKeyRow
  own_key: OwnKeyRow
  body_key: BodyKeyRow
  exchange: ExchangeRow
  accepted_exchange: AcceptedExchangeRow
  exchange_reference: ExchangeReferenceRow
  exchange_item: ExchangeItemRow
  delivery: DeliveryRow
  delivery_attempt: DeliveryAttemptRow
  participant_callback: ParticipantCallbackRow
  breaker: BreakerRow
  inbox_message: InboxMessageRow
  inbox_day: ParticipantDayRow
  accepted_day: ParticipantDayRow
  sealed_message: SealedMessageRow
  quota_bucket: QuotaBucketRow
  account: AccountRow
  account_person: AccountPersonRow
  account_checkpoint: AccountCheckpointRow
  account_tombstone: AccountTombstoneRow
  account_review: AccountReviewRow
  account_key: AccountKeyRow
}
