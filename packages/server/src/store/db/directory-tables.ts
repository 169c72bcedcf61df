/** The tables of participants and operators, as Kysely sees them. */
import type { Jwk, SignatureProfile } from '@rollcall/protocol'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { AllowedHost } from '../../model/allowed-hosts.ts'
import type { CheckStep } from '../../model/check.ts'
import type { Environment } from '../../model/environment.ts'
import type { GrantTerms } from '../../model/grant.ts'
import type { OperatorRole } from '../../model/operator.ts'

/** A time that the database sets. */
export type SetTime = ColumnType<Date, never, never>

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
  /** Null: the server's limit; Infinity: none. */
  max_subscriptions: Generated<number | null>
  demo: Generated<boolean>
  environment: Generated<Environment>
  created_at: SetTime
}

/** What was seen of a sandbox participant's system. */
export interface ParticipantCheckRow {
  id: GeneratedAlways<number>
  participant: number
  registry: number
  /** What was seen at this time or later counts. */
  since: Date
  checked_at: Date
  /** Of this software. */
  version: string
  passed: boolean
  steps: ColumnType<readonly CheckStep[], string, string>
}

export interface ParticipantKeyRow {
  id: GeneratedAlways<number>
  /** Null: of a participant that was removed. */
  participant: number | null
  /** Of the participant that was removed; the key is a revoked one. */
  former_sender_id: Generated<string | null>
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

export interface PublishedKeyRow {
  sender_id: string
  thumbprint: string
  kid: string
  public_jwk: ColumnType<Jwk, string, string>
  first_used_at: Generated<Date>
  /** To the hour. */
  last_used_at: Generated<Date>
}

export interface GrantUseRow {
  participant: number
  registry: number
  counted: string
  /** In UTC. */
  day: string
  used: number
}

export interface ParticipantGrantRow {
  id: GeneratedAlways<number>
  participant: number
  registry: number
  terms: ColumnType<GrantTerms, string, never>
  valid_from: ColumnType<Date, Date, never>
  /** Null: no end. */
  valid_until: ColumnType<Date | null, Date | null, never>
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

/** Where and how a participant takes what is sent to it. */
export interface ParticipantCallbackRow {
  participant: number
  allowed: Generated<string[]>
  default_url: string | null
  auth: Generated<'none' | 'bearer' | 'oauth2' | 'mtls'>
  /** What `auth` needs; null for none. */
  sealed: Buffer | null
  concurrency: Generated<number>
  rate: Generated<number>
  timeout_ms: Generated<number>
  /** Seconds. */
  schedule: number[] | null
  notify_url: string | null
  notify_items: Generated<number>
  notify_bytes: Generated<number>
  notify_unlisted: Generated<boolean>
}

export interface OperatorTokenRow {
  id: GeneratedAlways<number>
  /** Of tokens that are not revoked, only one has it. */
  name: string
  sha256: Buffer
  roles: OperatorRole[]
  /** `registry.id`s; null: all. */
  registries: number[] | null
  /** The consent authority whose consents alone it may withdraw; null: all. */
  authority: number | null
  created_at: SetTime
  expires_at: Date
  revoked_at: ColumnType<Date | null, never, Date>
}

/** An operator who is signed in to the console: by a token, or at a provider of OpenID Connect. */
export interface OperatorSessionRow {
  /** A bigint of PostgreSQL, as text. */
  id: GeneratedAlways<string>
  sha256: Buffer
  /** `operator_token.id`; null: the four members below are there. */
  token: number | null
  issuer: string | null
  subject: string | null
  name: string | null
  roles: OperatorRole[] | null
  /** `registry.id`s that a provider has named; null: all, or those of the token. */
  bound_to: number[] | null
  created_at: Date
  seen_at: Date
  ends_at: Date
}

/** A link by which the owner of a token signs in once. */
export interface OperatorSignInLinkRow {
  id: GeneratedAlways<number>
  sha256: Buffer
  token: number
  ends_at: Date
}

/** An act that waits for a second operator, or did. */
export interface ProposalRow {
  id: string
  act: string
  /** Its input; null: it is decided or lapsed. */
  sealed: Buffer | null
  /** JSON. */
  diff: string
  state: Generated<'waiting' | 'approved' | 'done' | 'failed' | 'declined' | 'outdated' | 'lapsed'>
  proposed_by: string
  proposed_name: string
  proposed_at: Date
  lapses_at: Date
  decided_by: Generated<string | null>
  decided_name: Generated<string | null>
  decided_at: Generated<Date | null>
  failure: Generated<string | null>
}

/** A participant that is signed in to the partner page. */
export interface PartnerSessionRow {
  /** A bigint of PostgreSQL, as text. */
  id: GeneratedAlways<string>
  sha256: Buffer
  participant: number
  created_at: Date
  seen_at: Date
  ends_at: Date
}

/** A link by which a participant signs in once. */
export interface PartnerSignInLinkRow {
  /** A bigint of PostgreSQL, as text. */
  id: GeneratedAlways<string>
  sha256: Buffer
  participant: number
  ends_at: Date
}

/** A step that the system of a participant was seen to take. */
export interface ParticipantMilestoneRow {
  participant: number
  step: string
  /** When it was first seen. */
  at: Date
}
