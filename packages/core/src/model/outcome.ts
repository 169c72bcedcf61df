/** The content of a reply before it is sent, and what an account says of it. */
import { CanonicalText } from '@rollcall/protocol'
import type { AccountedConsent, AccountedPerson } from './account.ts'

/**
 * A record as a participant may see it: the only form in which a reply takes one. `policy/disclosure.ts` has the only
 * class that extends it, so nothing else can make one.
 */
export abstract class Disclosed extends CanonicalText {
  /** Makes it a type of its own: another text is none. */
  protected readonly disclosed = true
  /** What an account says of it. */
  readonly accounted: DisclosedFacts

  constructor(text: string, accounted: DisclosedFacts) {
    super(text)
    this.accounted = accounted
  }
}

/** What an account says of a record that leaves. */
export interface DisclosedFacts {
  /** The canonical name of its type. */
  readonly record_type: string
  /** Whose data it shows: the record's person, and others in it of whom something is shown. By all of their identifiers. */
  readonly persons: readonly AccountedPerson[]
  /** The paths of its values, without positions in lists. */
  readonly paths: readonly string[]
}

/** The content of a reply: plain data, and disclosed records. */
type ReplyValue = string | number | boolean | null | undefined | Disclosed | readonly ReplyValue[] | ReplyMembers

export interface ReplyMembers {
  readonly [member: string]: ReplyValue
  /** One alone in a notification (D6). */
  readonly reg_records?: readonly Disclosed[] | Disclosed
}

/** Thrown by an effect: what the outcome was decided by has changed since then, so it has to be decided again. */
export class OutcomeOutdated extends Error {
  override readonly name = 'OutcomeOutdated'
}

/** What is asked about and whom; only names of attributes, but persons by their identifiers. */
export interface AskedFacts {
  readonly record_type?: string
  readonly form?: string
  readonly attributes?: readonly string[]
  readonly persons?: readonly AccountedPerson[]
  /** The attribute of the record that the answer tells in words of its own, such as yes or no. */
  readonly told?: string
  /** The code of the purpose that the consent or the authority names. */
  readonly purpose?: string
  readonly consent?: AccountedConsent
  /** The reason of an emergency; it may be personal data. */
  readonly emergency?: string
}

export interface AccountedItem extends AskedFacts {
  /** `succ`, or the code with which it was rejected; `rjct` where it has none. */
  readonly code: string
}

/** What an operation answers, as its account reads it. */
export interface AccountedOutcome {
  /** The members of the reply message beside transaction_id and correlation_id, such as search_response. */
  readonly members: ReplyMembers
  /** What an account says of each item that was answered, in any order: of a batch, a question, or an update. */
  readonly accounted: readonly AccountedItem[]
  /** correlation_ids whose stored answers this one gives again. */
  readonly repeats?: readonly string[]
}
