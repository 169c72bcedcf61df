/** An account of access: who asked what, about whom, and what left. It is written before the data leaves. */

/** `unsent`: what an earlier entry said is sent was not; `reply` and `transaction_id` are those of that entry. */
export const ACCOUNT_KINDS = [
  ...(['answer', 'acknowledgement', 'callback', 'notification', 'unsent', 'refusal', 'operator'] as const),
] as const
export type AccountKind = (typeof ACCOUNT_KINDS)[number]

/** An identifier of a person, in clear: it is never persisted so. */
export interface PersonIdentifier {
  /** The canonical name of its type, such as `UIN`. */
  readonly type: string
  /** Normalised, as the identifiers of records are. */
  readonly value: string
}

/** Makes pseudonyms of persons outside of the audit log: the same as in it, in all registries. */
export type Pseudonyms = (identifiers: readonly PersonIdentifier[]) => Promise<readonly Uint8Array[]>

/** `seen`: data of the person left. `asked`: the person was asked about. `written`: data was written about the person. */
export const PERSON_ROLES = ['seen', 'asked', 'written'] as const
export type PersonRole = (typeof PERSON_ROLES)[number]

export interface AccountedPerson {
  readonly role: PersonRole
  readonly identifiers: readonly PersonIdentifier[]
}

/** A message as it was on the wire. */
export interface AccountedMessage {
  readonly message_id: string | null
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string
  /** Of its signature; null where it is unsigned. */
  readonly kid: string | null
  /** The value of its signature; null where it is unsigned. */
  readonly signature: string | null
}

/** On what consent access was based. */
export interface AccountedConsent {
  readonly form: 'asserted' | 'signed'
  readonly jti?: string
  readonly authority?: string
}

/** Names of what was asked for, never values. */
export interface AccountedQuestion {
  readonly record_types: readonly string[]
  readonly forms: readonly string[]
  readonly attributes: readonly string[]
}

/** What may name a person who works with the data, or a case: it is encrypted, bound to its place in the accounts. */
export interface ConfidentialDetails {
  readonly requested_by?: string
  readonly case?: string
  /** Of an emergency. */
  readonly reason?: string
  /** What a review of an emergency found. */
  readonly finding?: string
  /** Who found it and when (RFC 3339 in UTC, with milliseconds); those of earlier versions do not say. */
  readonly reviewed_by?: string
  readonly reviewed_at?: string
}

/** The content of an entry. It holds no personal data in clear. */
interface AccountContent {
  readonly kind: AccountKind
  /** sender_id */
  readonly participant: string | null
  /** Name of an operator token, or of an operator at the command line. */
  readonly operator: string | null
  /** The operator who approved what `operator` proposed; absent: the act did not wait, or its entry is of an earlier version. */
  readonly approved_by?: string
  /** Namespace. */
  readonly registry: string | null
  readonly operation: string | null
  readonly correlation_id: string | null
  readonly transaction_id: string | null
  readonly request: AccountedMessage | null
  readonly reply: AccountedMessage | null
  /** Version of the grant. */
  readonly grant: number | null
  readonly basis: string | null
  readonly purpose: string | null
  readonly consent: AccountedConsent | null
  /** Whether the emergency part of the grant was used; absent: no. */
  readonly emergency?: true
  /** How many items ended with each code; `succ` for those that succeeded. */
  readonly outcomes: Readonly<Record<string, number>>
  /** How many records left. */
  readonly records: number
  readonly asked: AccountedQuestion
  /** The attribute paths that left, by record type. */
  readonly shown: Readonly<Record<string, readonly string[]>>
  /** correlation_ids whose stored answers this one gives again. */
  readonly repeats?: readonly string[]
  /**
   * Of refusals of one sort, which share an entry: how many, and since when (RFC 3339). Of an act of a participant: of how many
   * deliveries.
   */
  readonly count?: number
  readonly since?: string
  /** Of refusals: from where, an IPv4 address or the /64 of an IPv6 address. */
  readonly address?: string
  /** Of an act of an operator, or of a participant by hand: the command, never a value. */
  readonly note?: string
}

/** An entry as it is handed in. */
export interface AccountEntry extends AccountContent {
  readonly confidential?: ConfidentialDetails
}

/** An entry as it is stored. */
export interface StoredAccountEntry extends AccountContent {
  /** `ConfidentialDetails`, encrypted. */
  readonly sealed?: string
}

export interface Accounts {
  /**
   * Writes an entry. Resolves when it is committed. When it rejects, the entry may be missing: then no data may leave.
   * Persons with equal role and identifier are written once.
   */
  write(entry: AccountEntry, persons: readonly AccountedPerson[]): Promise<void>
}
