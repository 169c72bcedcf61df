/** An audit entry: who asked what, about whom, and which data left. It is written before the data leaves. */

/** `unsent`: what an earlier entry said is sent was not; `reply` and `transaction_id` are those of that entry. */
export const AUDIT_KINDS = [
  ...(['answer', 'acknowledgement', 'callback', 'notification', 'unsent', 'refusal', 'operator'] as const),
] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** An identifier of a person in clear. It is never stored in this form. */
export interface PersonIdentifier {
  /** The canonical name of its type, such as `UIN`. */
  readonly type: string
  /** Normalised, as in the identifiers of records. */
  readonly value: string
}

/** Type and value as one text. A type has no NUL: no two identifiers have one text. */
export const identifierKey = ({ type, value }: PersonIdentifier): string => `${type}\0${value}`

/**
 * Makes pseudonyms of persons for use outside the audit log. They are the same as in the log, and the same in all
 * registries.
 */
export type Pseudonyms = (identifiers: readonly PersonIdentifier[]) => Promise<readonly Uint8Array[]>

/** `seen`: data of the person left. `asked`: the person was asked about. `written`: data was written about the person. */
export const PERSON_ROLES = ['seen', 'asked', 'written'] as const
export type PersonRole = (typeof PERSON_ROLES)[number]

export interface AuditedPerson {
  readonly role: PersonRole
  readonly identifiers: readonly PersonIdentifier[]
}

/** A message as it was on the wire. */
export interface AuditedMessage {
  readonly message_id: string | null
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string
  /** The kid of the signing key; null when the message is unsigned. */
  readonly kid: string | null
  /** The value of the signature; null when the message is unsigned. */
  readonly signature: string | null
}

/** The consent on which the access was based. */
export interface AuditedConsent {
  readonly form: 'asserted' | 'signed'
  readonly jti?: string
  readonly authority?: string
}

/** The names that the request asked for; never values. */
export interface AuditedQuestion {
  readonly record_types: readonly string[]
  readonly forms: readonly string[]
  readonly attributes: readonly string[]
}

/**
 * Details that may name a person who works with the data, or a case. They are encrypted, and bound to their place in
 * the audit log.
 */
export interface ConfidentialDetails {
  readonly requested_by?: string
  readonly case?: string
  /** The reason of an emergency. */
  readonly reason?: string
  /** The result of the review of an emergency. */
  readonly finding?: string
  /**
   * The reviewer and the time of the review (RFC 3339 in UTC, with milliseconds); absent in reviews of earlier
   * versions.
   */
  readonly reviewed_by?: string
  readonly reviewed_at?: string
}

/** The content of an entry. It holds no personal data in clear. */
interface AuditEntryContent {
  readonly kind: AuditKind
  /** The sender_id of the participant. */
  readonly participant: string | null
  /** The name of an operator token, or of an operator at the command line. */
  readonly operator: string | null
  /**
   * The operator who approved the act that `operator` proposed; absent: the act needed no approval, or an earlier
   * version wrote the entry.
   */
  readonly approved_by?: string
  /** The namespace of the registry. */
  readonly registry: string | null
  readonly operation: string | null
  readonly correlation_id: string | null
  readonly transaction_id: string | null
  readonly request: AuditedMessage | null
  readonly reply: AuditedMessage | null
  /** The version of the grant. */
  readonly grant: number | null
  readonly basis: string | null
  readonly purpose: string | null
  readonly consent: AuditedConsent | null
  /** Set if the emergency part of the grant was used. */
  readonly emergency?: true
  /** The number of items by their code; `succ` for items that succeeded. */
  readonly outcomes: Readonly<Record<string, number>>
  /** The number of records that left. */
  readonly records: number
  readonly asked: AuditedQuestion
  /** The attribute paths that left, by record type. */
  readonly shown: Readonly<Record<string, readonly string[]>>
  /** The correlation_ids of stored answers that this answer repeats. */
  readonly repeats?: readonly string[]
  /**
   * The number of refusals of one sort that share this entry, since the time `since` (RFC 3339). In the entry of a
   * participant's act, the number of deliveries.
   */
  readonly count?: number
  readonly since?: string
  /** For refusals, the sender's IPv4 address or the /64 of its IPv6 address. */
  readonly address?: string
  /** For acts of an operator, or of a participant by hand: the command without values. */
  readonly note?: string
}

/** An entry before it is written. */
export interface AuditEntry extends AuditEntryContent {
  readonly confidential?: ConfidentialDetails
}

/** An entry in the audit log. */
export interface StoredAuditEntry extends AuditEntryContent {
  /** `ConfidentialDetails`, encrypted. */
  readonly sealed?: string
}

export interface AuditLog {
  /**
   * Writes an entry. Resolves when it is committed. When it rejects, the entry may be missing: then no data may leave.
   * Persons with equal role and identifier are written once.
   */
  write(entry: AuditEntry, persons: readonly AuditedPerson[]): Promise<void>
}
