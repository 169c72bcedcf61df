/** Which events a change of a record is: rules as data, read in order. */

/** A list in a document whose elements are known by something that they say. */
export interface KeyedList {
  /** The name by which event rules mean it, such as `member`. */
  readonly name: string
  /** Dotted paths of members of the document; one object in place of the list is its only element. */
  readonly paths: readonly string[]
  /** Dotted paths in the element at which identifiers stand; "" is the element itself. */
  readonly identifiers?: readonly string[]
  /** Dotted paths in the element of one value that nothing else in the list has. */
  readonly values?: readonly string[]
}

/** What a list of an event rule is: an attribute with `many`, a compound by one of its members, a keyed list by its name. */
export type RuleList =
  | { readonly attribute: string }
  | { readonly compound: string; readonly by: string }
  | { readonly keyed_list: string }

/** What must be true of the record before and after the change. */
export type EventCondition =
  /** The attribute has a value after the change. */
  | { readonly is: 'has'; readonly attribute: string }
  /** It has one after the change, and had none before it. */
  | { readonly is: 'set'; readonly attribute: string }
  /** It had one, and has none any more. */
  | { readonly is: 'cleared'; readonly attribute: string }
  /** It has another one than before, and had one. */
  | { readonly is: 'changed'; readonly attribute: string }
  /** The list has an element that it did not have. */
  | { readonly is: 'added'; readonly list: RuleList }
  /** An element that was there says something else under a member of the compound. */
  | { readonly is: 'member_changed'; readonly compound: string; readonly by: string; readonly member: string }
  /** The date lies no more than the server's limit `birth_span` before the day of the other attribute, or of the event. */
  | { readonly is: 'recent'; readonly attribute: string; readonly until: string }

/** One way in which a change is an event. */
export interface EventRule {
  /** The name of one of the kind's event types. */
  readonly event: string
  /** A record is new, is changed by a document that differs, or is deleted. */
  readonly on: 'new' | 'changed' | 'deleted'
  /** All of them must be true; without any, every such change is the event. */
  readonly if?: readonly EventCondition[]
  /** Only where no rule above it has made an event of the change. */
  readonly otherwise?: true
  /**
   * It is an event as well of each record of this type that an added element of the list names by that type's primary
   * identifier.
   */
  readonly also_of?: { readonly record_type: string; readonly list: RuleList }
  /**
   * The relation of the persons whom the conditions are about, such as `member_list`. A grant may hide some of them: then an
   * event that is published under this name is told only where the conditions are true of the record without them.
   */
  readonly persons?: string
  /**
   * The change takes the earlier event back, or changes what it said: who was notified of it is told so, and nobody else.
   * It is no event of its own.
   */
  readonly corrects?: 'CANCEL' | 'CORRECTION'
}
