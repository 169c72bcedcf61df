/** The events of a change of a record: rules as data, read in order. */

/** A list in a document whose elements have keys. */
export interface KeyedList {
  /** Its name in event rules, such as `member`. */
  readonly name: string
  /** Dotted paths of members of the document; one object in place of the list is its only element. */
  readonly paths: readonly string[]
  /** Dotted paths in the element to identifiers, which are its keys; "" is the element itself. */
  readonly identifiers?: readonly string[]
  /** Dotted paths in the element to a value that is its key. */
  readonly values?: readonly string[]
}

/** The list of an event rule: an attribute with `many`, a compound with the member that is the key, or a keyed list. */
export type RuleList =
  | { readonly attribute: string }
  | { readonly compound: string; readonly by: string }
  | { readonly keyed_list: string }

/** A condition on the record before and after the change. */
export type EventCondition =
  /** The attribute has a value after the change. */
  | { readonly is: 'has'; readonly attribute: string }
  /** The attribute has a value after the change, but had none before. */
  | { readonly is: 'set'; readonly attribute: string }
  /** The attribute had a value before the change, but has none after. */
  | { readonly is: 'cleared'; readonly attribute: string }
  /** The attribute had a value before the change, and has a different one after. */
  | { readonly is: 'changed'; readonly attribute: string }
  /** The list has an element after the change that it did not have before. */
  | { readonly is: 'added'; readonly list: RuleList }
  /** A member of the compound has a different value in an element that existed before. */
  | { readonly is: 'member_changed'; readonly compound: string; readonly by: string; readonly member: string }
  /** The date is at most the server's limit `birth_span` before the day of the other attribute, or of the event. */
  | { readonly is: 'recent'; readonly attribute: string; readonly until: string }

/** A rule that makes an event of a change. */
export interface EventRule {
  /** The name of one of the kind's event types. */
  readonly event: string
  /** The record is new, was changed, or was deleted. */
  readonly on: 'new' | 'changed' | 'deleted'
  /** All conditions must be true; without any, every such change is the event. */
  readonly if?: readonly EventCondition[]
  /** The rule applies only if no rule above it has made an event of the change. */
  readonly otherwise?: true
  /**
   * The event is also one of each record of this type that an added element of the list names by the primary identifier
   * of that type.
   */
  readonly also_of?: { readonly record_type: string; readonly list: RuleList }
  /**
   * The relation of the persons in the conditions, such as `member_list`. A grant may hide some of them: then an event
   * that was published under this name is sent only if the conditions are true of the record without the hidden
   * persons.
   */
  readonly persons?: string
  /**
   * The change takes the earlier event back, or corrects it: those who were notified of it are notified of the
   * correction, and nobody else. It is no event of its own.
   */
  readonly corrects?: 'CANCEL' | 'CORRECTION'
}
