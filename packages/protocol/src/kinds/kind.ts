/** The definition of one family of registries, as data. Every difference between two kinds is a field here. */
import type { TSchema } from 'typebox'
import type { CodeListName } from '../records/code-lists.ts'
import type { EventRule, KeyedList } from './event-rules.ts'
import type { NotifiedShape } from './notified-shape.ts'

/** The way a searchable attribute is read from a record; `attributes/attribute-types.ts` has one row for each. */
export type AttributeType = 'text' | 'code' | 'date' | 'datetime' | 'number' | 'boolean' | 'age'

/** One searchable attribute of a record type. */
export interface Attribute {
  /** The canonical name: lower case, digits and `_`; also the stem of its database columns. */
  readonly name: string
  /** Other names under which a query or a sort may ask for it, such as `gender` for `sex`. */
  readonly aliases?: readonly string[]
  /**
   * Dotted paths in the document, tried in order until one has a value. Arrays on the way are walked through:
   * with `many` every element is read, else the first that has a value. Keys in other spellings
   * (`attributes/record-keys.ts`) and with a prefix (`spdci:identifier`) are found as well.
   */
  readonly paths: readonly string[]
  readonly type: AttributeType
  /** For type `code`: the list of codes with their spellings. */
  readonly codes?: CodeListName
  /**
   * For type `age`: the date from which whole years are counted, up to the day of the query in the time zone of the
   * registry. An age is not stored, and has no paths.
   */
  readonly since?: string
  /** The attribute may occur many times in one record, and is always read as a list. */
  readonly many?: true
  /** Text compares without regard to case and accents. */
  readonly fold?: true
  /** An index is kept for it. */
  readonly indexed?: true
  /** A search may be sorted by it; never together with `many`. */
  readonly sortable?: true
}

/**
 * Attributes of the elements of a list, such as programme and status of an enrolment. Conditions on several of them may
 * apply to the same element.
 */
export interface Compound {
  /**
   * The canonical name, such as `enrolment`, which no attribute of the record type has. It is also the name of the
   * column.
   */
  readonly name: string
  readonly aliases?: readonly string[]
  /**
   * Dotted paths in the document, tried in order until one has an element with a value. Objects and bare values there
   * are elements; the path "" is the record itself as the only element.
   */
  readonly paths: readonly string[]
  /** Never `many`, never `sortable`. Their names follow the rules for attribute names. */
  readonly members: readonly CompoundMember[]
  /** Whether there is an index for equalities on its members. */
  readonly indexed?: true
}

/** An attribute of one element: its paths begin in the element; the path "" is the element itself, a bare value. */
export interface CompoundMember extends Attribute {
  /**
   * Dotted paths from the root of the record, for elements without a value of their own. Several different values there
   * belong to no particular element, and each becomes an element of its own.
   */
  readonly record_paths?: readonly string[]
}

/** One type of identifier, with how its values are normalised before they are stored or compared. */
export interface IdentifierType {
  /** The canonical name, such as `UIN`. */
  readonly name: string
  /** Other names on the wire, such as `BIRTH_REG_NO` for `BRN`; compared without regard to case. */
  readonly aliases?: readonly string[]
  /** The row of `kinds/normalisers.ts` that applies; leading zeros are always kept. */
  readonly normaliser: 'code' | 'phone' | 'email' | 'exact'
  /**
   * A normalised value must have one of these forms (`kinds/value-pattern.ts`) when it is written into a record or
   * searched. Values that were stored before are read whatever their form, so that hidden persons stay hidden.
   */
  readonly patterns?: readonly string[]
  /** Set by an operator: searches for records of all types may be sorted by it. */
  readonly sortable?: true
}

/** A place of identifiers in a record: objects {identifier_type, identifier_value}, bare values, or arrays of both. */
export interface IdentifierSource {
  /** Dotted path, walked like that of an attribute. All identifiers there are used. */
  readonly path: string
  /**
   * The identifier type of bare values there, and of objects without a type: MOBILE for `phone_number`. Without it,
   * values without a type are no identifiers.
   */
  readonly type?: string
  /**
   * `record`: the identifier names the record itself. `part`: it names a person within the record, such as a member of
   * a household.
   */
  readonly names: 'record' | 'part'
}

/** A place where a record contains or names another person. A grant may show the record without this person. */
export interface Relation {
  /** Its name in a grant, such as `member_list`. */
  readonly name: string
  /** Dotted paths in the document. */
  readonly paths: readonly string[]
  /** The record type of the other person's data. Without it, the other person is only named by an identifier. */
  readonly record_type?: string
  /**
   * Dotted paths of the data that belong to the other person, one at or above each of `paths`: they are removed
   * together with the person. Default: `paths`.
   */
  readonly entries?: readonly string[]
  /**
   * The number attribute that counts these persons, such as `group_size`. A person in two such relations is counted
   * once.
   */
  readonly counted_by?: string
}

/** One type of record that a kind of registry holds. */
export interface RecordType {
  /** The canonical name, unique within the kind and the stem of its tables, such as `Beneficiary`. */
  readonly name: string
  /** The spelling emitted as `reg_record_type`, such as `Member` for `Beneficiary`. */
  readonly emitted: string
  /** The shape of the record in a notification; without it the record is notified as it is stored. */
  readonly notified_as?: NotifiedShape
  /** Other spellings accepted in `reg_record_type` and `response_entity`; compared by the part after the last ":". */
  readonly aliases: readonly string[]
  /** Values of the document's `@type` (the part after the last ":") from which an import recognises the record type. */
  readonly document_types: readonly string[]
  /** The identifier type whose value is unique among the records of this type. Every record has exactly one. */
  readonly primary_identifier: string
  /**
   * Other identifier types by which a search may be sorted: by the smallest identifier of the record itself, and last
   * without one. Read with `sortedIdentifiers`.
   */
  readonly sort_identifiers?: readonly string[]
  /** Sources that name the record come before those that name a part of it. */
  readonly identifiers: readonly IdentifierSource[]
  readonly attributes: readonly Attribute[]
  readonly compounds?: readonly Compound[]
  /** Lists whose elements are merged one by one when a part of a record is published. */
  readonly keyed_lists: readonly KeyedList[]
  /** The rules that make events of a change of a record, in order. */
  readonly event_rules: readonly EventRule[]
  /**
   * Prefixes under which published examples name the record's own members, such as `member.birth_date`; the longest
   * first.
   */
  readonly query_prefixes?: readonly string[]
  /**
   * Dotted paths that no query may name, nor anything below them. They are read by `compounds` and `identifiers`: the
   * head of a household is one of its members, so a query about the head would be answered about all members.
   */
  readonly unnamed_paths?: readonly string[]
  /** Other persons in a record of this type. */
  readonly relations?: readonly Relation[]
  /** The documented shape; records are open, nothing is required of them but to be an object. */
  readonly schema: TSchema
}

/** `sort_identifiers`, each once and without the primary one. */
export function sortedIdentifiers({ sort_identifiers = [], primary_identifier }: RecordType): readonly string[] {
  return [...new Set(sort_identifiers)].filter((type) => type !== primary_identifier)
}

/** Whether a search may be sorted by this identifier type. No attribute has the name of an identifier type. */
export const isSortedIdentifier = (recordType: RecordType, name: string): boolean =>
  name === recordType.primary_identifier || sortedIdentifiers(recordType).includes(name)

/** One type of event that a kind publishes. */
export interface EventType {
  /** The spelling emitted as `reg_event_type`. */
  readonly name: string
  /** Spellings accepted; compared without regard to case by the part after the last ":". */
  readonly aliases: readonly string[]
  /** No further event is expected for this person, so a subscription about this person alone ends with it. */
  readonly ends_subscriptions?: true
  /** Date attributes of the event, such as `death_date`, which a form for publishing it asks for. */
  readonly needs?: readonly string[]
  /** The persons that such a form offers; absent: anybody. */
  readonly offers?: EventOffer
}

/** Records that fit an event, by their attributes. */
export interface EventOffer {
  readonly has?: readonly string[]
  readonly lacks?: readonly string[]
  /** The record in which this date attribute is the latest or the earliest comes first. */
  readonly by?: { readonly attribute: string; readonly first: 'latest' | 'earliest' }
}

/** Rules for results that one kind relaxes. */
export interface Relaxed {
  /** Members that may be absent, by the title of the schema that has them. */
  readonly optional: Readonly<Record<string, readonly string[]>>
  /** Members whose texts need not match their pattern; their lengths still apply. */
  readonly unpatterned: readonly string[]
}

/** A kind of registry: one literal of this type per file in this folder. */
export interface Kind {
  /** The word used in configuration and on the command line: civil, ibr, ess, social ... */
  readonly name: string
  readonly title: string
  /** One sentence for the reference page. */
  readonly description: string
  /** The last segment of `reg_type`, such as `Civil`, and other accepted segments. */
  readonly reg_type: { readonly name: string; readonly aliases: readonly string[] }
  /** The first is the default if neither `reg_record_type` nor `response_entity` is given. */
  readonly record_types: readonly [RecordType, ...RecordType[]]
  readonly identifier_types: readonly IdentifierType[]
  /** False: "any identifier" means these types only. Otherwise it includes identifiers of unlisted types. */
  readonly unlisted_identifiers?: false
  readonly event_types: readonly EventType[]
  /**
   * The closed list of names for `reg_event_type` in notifications (public standard 3.2, 3). Other names are left out,
   * unless a participant accepts them. Without the list, a notification has the name that its subscriber used.
   */
  readonly notified_event_types?: readonly string[]
  /** Further values of `reg_event_type` in published searches that name no event of the kind. */
  readonly search_event_types?: readonly string[]
  /** Operations beyond the common set, by their name in `operations.ts`. */
  readonly operations: readonly string[]
  readonly relaxed?: Relaxed
}
