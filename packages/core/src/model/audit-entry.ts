/**
 * An audit entry: who asked for what, about whom, and which data we sent; or what an operator did. An entry about data
 * is written before the data are sent or shown.
 */

/**
 * The kinds of audit entries. An entry of the kind `unsent` says that an answer which an earlier entry calls sent was not sent.
 * The entry has the same `reply` and `transaction_id` as the earlier entry.
 */
export const AUDIT_KINDS = [
  ...(['answer', 'acknowledgement', 'callback', 'notification', 'unsent', 'refusal', 'operator'] as const),
] as const
export type AuditKind = (typeof AUDIT_KINDS)[number]

/** An identifier of a person in clear text. The audit log stores its pseudonym instead. */
export interface PersonIdentifier {
  /** The canonical name of the identifier type, such as `UIN`. */
  readonly type: string
  /** The normalised value, as in the identifiers of records. */
  readonly value: string
}

/** Type and value as one text. A type has no NUL, so different identifiers give different texts. */
export const identifierKey = ({ type, value }: PersonIdentifier): string => `${type}\0${value}`

/**
 * Makes pseudonyms of persons for use outside of the audit log. An identifier has the same pseudonym as in the audit log, in
 * every registry.
 */
export type MakePseudonyms = (identifiers: readonly PersonIdentifier[]) => Promise<readonly Uint8Array[]>

/**
 * `seen`: data about the person were sent. `asked`: a request named the person. `written`: data about the person were written.
 */
export const PERSON_ROLES = ['seen', 'asked', 'written'] as const
export type PersonRole = (typeof PERSON_ROLES)[number]

/** A person who is to be named in an audit entry. */
export interface AuditedPerson {
  readonly role: PersonRole
  readonly identifiers: readonly PersonIdentifier[]
}

/** Facts about a message as it was sent or received. */
export interface AuditedMessage {
  readonly message_id: string | null
  /** The SHA-256 digest of the message's bytes, in hexadecimal. */
  readonly digest: string
  /** The kid of the key that signed the message; null when the message is unsigned, or its signature names no key. */
  readonly kid: string | null
  /** The signature of the message; a JWS is stored without its payload. Null when the message is unsigned. */
  readonly signature: string | null
}

/** The consent on which an access was based. */
export interface AuditedConsent {
  readonly form: 'asserted' | 'signed'
  readonly jti?: string
  readonly authority?: string
}

/** The record types, query forms and attributes that a request names; never values. */
export interface DataNamesInRequest {
  readonly record_types: readonly string[]
  readonly forms: readonly string[]
  readonly attributes: readonly string[]
}

/** Details that may name a user of the data, or the case for which they are used. They are encrypted and bound to their entry. */
export interface ConfidentialAuditDetails {
  readonly requested_by?: string
  readonly case?: string
  /** The reason of an emergency (several reasons on lines of their own), or of an operator's act. */
  readonly reason?: string
  /** The result of the review of an emergency access, in the reviewer's words. */
  readonly finding?: string
  /**
   * The reviewer. `reviewed_at` is the time of the review (RFC 3339 in UTC, milliseconds). Reviews of earlier versions lack both.
   */
  readonly reviewed_by?: string
  readonly reviewed_at?: string
}

/** The content of an entry. It identifies no person of a registry in clear text. */
interface AuditEntryContent {
  readonly kind: AuditKind
  /** The sender_id of the participant that asked, acted or was sent data; null for none, and for operators' acts. */
  readonly participant: string | null
  /** The name of an operator token, or of an operator who signed in or works at the command line; null for none. */
  readonly operator: string | null
  /**
   * The operator who approved an act that `operator` had proposed. Absent when no approval was needed, or the entry is
   * from an earlier version.
   */
  readonly approved_by?: string
  /** The namespace of the registry; null when the entry is about none. */
  readonly registry: string | null
  readonly operation: string | null
  readonly correlation_id: string | null
  readonly transaction_id: string | null
  readonly request: AuditedMessage | null
  readonly reply: AuditedMessage | null
  /** The id of the version of the grant that applied. */
  readonly grant: number | null
  readonly basis: string | null
  /** The purposes of the items, with commas between them; null for none. */
  readonly purpose: string | null
  /** The consent of the first item that has one; null for none. */
  readonly consent: AuditedConsent | null
  /** True when the answer used the grant's `emergency` part, which shows more in an emergency. */
  readonly emergency?: true
  /** The number of items for each code; `succ` for items that succeeded. */
  readonly outcomes: Readonly<Record<string, number>>
  /** The number of records that were sent, or shown to an operator. */
  readonly records: number
  readonly asked: DataNamesInRequest
  /** The paths of the values that were sent, shown, or told as an answer such as yes or no, by record type. */
  readonly shown: Readonly<Record<string, readonly string[]>>
  /** The correlation_ids of stored answers that are sent again in this answer, or shown again by this act. */
  readonly repeats?: readonly string[]
  /**
   * In an entry of the kind `refusal`, the number of similar refusals since the time `since` (RFC 3339). In the entry of an act
   * on the partner page (a console for people of a participant), the number of deliveries that are sent again.
   */
  readonly count?: number
  readonly since?: string
  /** For a refusal: the sender's IPv4 address, or the /64 prefix of its IPv6 address. */
  readonly address?: string
  /**
   * For an act of an operator, or of a person at a participant: the command, without values. In an entry of the kind `unsent`:
   * the text `not sent`.
   */
  readonly note?: string
}

/** An audit entry before it is written to the audit log. */
export interface AuditEntry extends AuditEntryContent {
  readonly confidential?: ConfidentialAuditDetails
}

/** An entry as read from the audit log. */
export interface StoredAuditEntry extends AuditEntryContent {
  /** The encrypted `ConfidentialAuditDetails`. */
  readonly sealed?: string
}

export interface AuditLog {
  /**
   * Writes an entry, and resolves when it is committed. When it rejects, the entry may be missing, so no data may be
   * sent. Persons with equal role and identifier are written once.
   */
  write(entry: AuditEntry, persons: readonly AuditedPerson[]): Promise<void>
}
