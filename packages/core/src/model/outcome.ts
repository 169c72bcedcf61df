/** The content of a reply before it is sent, and the facts about it for the audit entry. */
import { CanonicalText } from '@rollcall/protocol'
import type { AuditedConsent, AuditedPerson } from './audit-entry.ts'

/**
 * A record as a participant may see it: the only form in which a reply accepts a record. Only `policy/disclosure.ts`
 * has a class that extends it, so nothing else can make one.
 */
export abstract class Disclosed extends CanonicalText {
  /** Makes the type distinct, so that no other text can be passed for it. */
  protected readonly disclosed = true
  /** The facts for the audit entry. */
  readonly audited: DisclosedFacts

  constructor(text: string, audited: DisclosedFacts) {
    super(text)
    this.audited = audited
  }
}

/** The facts about a record that leaves, for the audit entry. */
export interface DisclosedFacts {
  /** The canonical name of its type. */
  readonly record_type: string
  /**
   * The persons whose data is shown, with all their identifiers: the record's person, and others of whom something is
   * shown.
   */
  readonly persons: readonly AuditedPerson[]
  /** The paths of its values, without positions in lists. */
  readonly paths: readonly string[]
}

/** The content of a reply: plain data, and disclosed records. */
type ReplyValue = string | number | boolean | null | undefined | Disclosed | readonly ReplyValue[] | ReplyMembers

export interface ReplyMembers {
  readonly [member: string]: ReplyValue
  /** A list of records; in a notification, a single record (D6). */
  readonly reg_records?: readonly Disclosed[] | Disclosed
}

/**
 * Thrown by an effect when data on which the outcome was decided has changed since: the outcome must be decided again.
 */
export class OutcomeOutdated extends Error {
  override readonly name = 'OutcomeOutdated'
}

/** The facts and persons that an item asks about, for the audit entry: attributes by name, persons by identifier. */
export interface AskedFacts {
  readonly record_type?: string
  readonly form?: string
  readonly attributes?: readonly string[]
  readonly persons?: readonly AuditedPerson[]
  /** The attribute of the record that the answer gives in its own words, such as yes or no. */
  readonly told?: string
  /** The code of the purpose that the consent or the authority names. */
  readonly purpose?: string
  readonly consent?: AuditedConsent
  /** The reason of an emergency; it may be personal data. */
  readonly emergency?: string
}

export interface AuditedItem extends AskedFacts {
  /** `succ`, or the code of the rejection; `rjct` when the rejection has no code. */
  readonly code: string
}

/** The answer of an operation, with the facts for its audit entry. */
export interface AuditedOutcome {
  /** The members of the reply message beside transaction_id and correlation_id, such as search_response. */
  readonly members: ReplyMembers
  /** The facts about each answered item, in any order: of a batch, a question, or an update. */
  readonly audited: readonly AuditedItem[]
  /** The correlation_ids of stored answers that this answer repeats. */
  readonly repeats?: readonly string[]
}
