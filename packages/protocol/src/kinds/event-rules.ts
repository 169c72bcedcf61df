/** Rules that make events from changes of a record. The rules are data. Each rule that applies makes an event, in order. */

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
  /** The change added an element: the element has keys, and no element of the list had one of these keys before. */
  | { readonly is: 'added'; readonly list: RuleList }
  /** The value of `member` has changed in an element that existed before; the value of `by` identifies the element. */
  | { readonly is: 'member_changed'; readonly compound: string; readonly by: string; readonly member: string }
  /**
   * The date in `attribute` is the day in `until`, or at most `birth_span` days (a limit of the server) before that day. If
   * the record has no value for `until`, the day of the change is used.
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
  /** The event is also about records of this type whose primary identifier is a key of an element that was added to the list. */
  readonly also_of?: { readonly record_type: string; readonly list: RuleList }
  /**
   * The relation whose persons the conditions are about, such as `member_list`. It is used only for events that an operator or
   * another system publishes. If some of these persons are hidden from a subscriber, the conditions are checked on the record
   * without them, and the subscriber gets the event only if the conditions of one of the event's rules are true.
   */
  readonly persons?: string
  /**
   * The change cancels or corrects an earlier event of this type about the record. Only participants who were notified of the
   * earlier event, and may see the change, get the correction.
   */
  readonly corrects?: 'CANCEL' | 'CORRECTION'
}
