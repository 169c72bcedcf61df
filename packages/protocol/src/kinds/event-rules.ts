/** Rules that make events from changes of a record. They are data, and are tried in order. */

/** A list in a document whose elements have keys, by which elements of two documents are matched. */
export interface KeyedList {
  /** The name of the list in event rules, such as `member`. */
  readonly name: string
  /** Dotted paths in the document. An object in place of the list counts as its only element. */
  readonly paths: readonly string[]
  /** Dotted paths inside an element to identifiers, which are keys of the element; "" is the element itself. */
  readonly identifiers?: readonly string[]
  /** Dotted paths inside an element to a value that is a key of the element. */
  readonly values?: readonly string[]
}

/** The list of a rule: an attribute with `many`, a compound with the member that is its key, or a keyed list. */
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
  /** After the change, the list has an element with keys, none of which the list had before. */
  | { readonly is: 'added'; readonly list: RuleList }
  /** A member of the compound has another value in an element that existed before. */
  | { readonly is: 'member_changed'; readonly compound: string; readonly by: string; readonly member: string }
  /**
   * The date is on the day of the attribute `until`, or at most `birth_span` days (a limit of the server) before it. If
   * the record has no such day, the day of the change takes its place.
   */
  | { readonly is: 'recent'; readonly attribute: string; readonly until: string }

/** A rule that makes an event from a change. */
export interface EventRule {
  /** The name of one of the kind's event types. */
  readonly event: string
  /** Whether the rule is for a new record, a changed one, or a deleted one. */
  readonly on: 'new' | 'changed' | 'deleted'
  /** The conditions, which must all be true. Without conditions, only `on` and `otherwise` count. */
  readonly if?: readonly EventCondition[]
  /** True: the rule applies only when no earlier rule has made an event from the change. Events with `corrects` do not count. */
  readonly otherwise?: true
  /** The event is also about other records of this type: those whose primary identifier an added element of the list names. */
  readonly also_of?: { readonly record_type: string; readonly list: RuleList }
  /**
   * The relation of the persons in the conditions, such as `member_list`. When some of these persons are hidden from a
   * subscriber, an event that was published, not derived from a change, is sent to the subscriber only if the conditions of a
   * rule of the event are also true without these persons.
   */
  readonly persons?: string
  /**
   * The change cancels or corrects the earlier event. Only those who were notified of that event, and may still see the
   * change, get the correction.
   */
  readonly corrects?: 'CANCEL' | 'CORRECTION'
}
