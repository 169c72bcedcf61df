/** The content of a reply before it is sent, and the facts about it for its audit entry. */
import { CanonicalText } from '@rollcall/protocol'
import type { AuditedConsent, AuditedPerson } from './audit-entry.ts'

/**
 * A record, reduced to what a participant may see. A reply accepts records in this form only. Only `policy/disclosure.ts` can
 * make such a record: it has the only class that extends `Disclosed`.
 */
export abstract class Disclosed extends CanonicalText {
  /** Lets the compiler tell a disclosed record from any other text. */
  protected readonly disclosed = true
  /** Facts about the disclosed record, for the audit entry of the reply. */
  readonly audited: AuditedRecord

  constructor(text: string, audited: AuditedRecord) {
    super(text)
    this.audited = audited
  }
}

/** Facts about one record that is sent, for the audit entry. */
export interface AuditedRecord {
  /** The canonical name of the record's type. */
  readonly record_type: string
  /** The person of the record, and other persons about whom the record shows something, if they have an identifier. */
  readonly persons: readonly AuditedPerson[]
  /** The paths of the values in the record, without positions in lists. */
  readonly paths: readonly string[]
}

/** A value in a reply: plain data, or a disclosed record. */
type ReplyValue = string | number | boolean | null | undefined | Disclosed | readonly ReplyValue[] | ReplyMembers

export interface ReplyMembers {
  readonly [member: string]: ReplyValue
  /** A list of records; in a notification, one record (D6). */
  readonly reg_records?: readonly Disclosed[] | Disclosed
}

/**
 * Thrown by an effect (a function that writes what an operation has decided) when data on which the outcome depends
 * have changed: the outcome must be computed again.
 */
export class OutcomeOutdated extends Error {
  override readonly name = 'OutcomeOutdated'
}

/** Facts about one item of a request, for its audit entry, such as its record type, attributes, persons and purpose. */
export interface RequestItemAuditFacts {
  readonly record_type?: string
  readonly form?: string
  readonly attributes?: readonly string[]
  readonly persons?: readonly AuditedPerson[]
  /** The attribute about which the answer tells something without sending the record, for example yes or no. */
  readonly told?: string
  /** The code of the purpose that the consent or authorization names. */
  readonly purpose?: string
  readonly consent?: AuditedConsent
  /** The reason of an emergency. It may be personal data. */
  readonly emergency?: string
}

/** Facts about one item that was answered, for its audit entry. */
export interface AuditedItem extends RequestItemAuditFacts {
  /** `succ`, or the code of the rejection; `rjct` when the rejection has none. */
  readonly code: string
}

/** The answer to a request, with the facts for its audit entry. */
export interface AuditedOutcome {
  /** The members of the reply message besides transaction_id and correlation_id, such as search_response. */
  readonly members: ReplyMembers
  /** The facts about each answered item of the request, in any order. */
  readonly audited: readonly AuditedItem[]
  /** The correlation_ids of stored answers that are sent again in this answer. */
  readonly repeats?: readonly string[]
}
