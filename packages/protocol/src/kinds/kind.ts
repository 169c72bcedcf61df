/** The definition of a kind (a family of registries) as data. Kinds differ by these members, not by their code. */
import type { TSchema } from 'typebox'
import type { CodeListName } from '../records/code-lists.ts'
import type { EventRule, KeyedList } from './event-rules.ts'
import type { NotifiedShape } from './notified-shape.ts'

/** How an attribute is read from a record; `attributes/attribute-types.ts` has one row for each type. */
export type AttributeType = 'text' | 'code' | 'date' | 'datetime' | 'number' | 'boolean' | 'age'

/** An attribute of a record type: a part of a record that can be searched. */
export interface Attribute {
  /** The canonical name: lower case, digits and `_`. The names of its database columns begin with it. */
  readonly name: string
  /** Other names of the attribute in queries and sorts, such as `gender` for `sex`. */
  readonly aliases?: readonly string[]
  /**
   * Dotted paths in the document. They are tried in order until one has a value. In an array on the way, every element is read if
   * `many` is true, otherwise the first element that has a value. Other spellings of names (`attributes/record-keys.ts`) and
   * names with a prefix (`spdci:identifier`) are found too.
   */
  readonly paths: readonly string[]
  readonly type: AttributeType
  /** For type `code`: the name of the list of codes. */
  readonly codes?: CodeListName
  /**
   * For type `age`: the date attribute from which years are counted, to the day of the query in the registry's time
   * zone. An age is not stored, and has no paths.
   */
  readonly since?: string
  /** True when a record may have many values. The value is then always a list. */
  readonly many?: true
  /** True when texts of the attribute are compared without regard to case and accents. */
  readonly fold?: true
  /** True when the column of the attribute is to have an index. The index may not be built yet. */
  readonly indexed?: true
  /** True when a search may be sorted by the attribute; never together with `many`. */
  readonly sortable?: true
}

/**
 * The attributes of a list's elements, such as programme and status of an enrolment. A query can require that one element
 * fulfils several conditions.
 */
export interface Compound {
  /** The canonical name, such as `enrolment`, and the name of its column. No attribute has the same name. */
  readonly name: string
  readonly aliases?: readonly string[]
  /**
   * Dotted paths in the document. They are tried in order until one has an element with a value. Objects and plain
   * values at a path are elements; at the path "", the record itself is the only element.
   */
  readonly paths: readonly string[]
  /** The attributes of an element. None is `many` or `sortable`. Their names follow the rules for attributes. */
  readonly members: readonly CompoundMember[]
  /** True when an index is to answer searches for equal values of the compound's members. It may not be built yet. */
  readonly indexed?: true
}

/** An attribute of an element. Its paths begin in the element; the path "" is the element itself, a plain value. */
export interface CompoundMember extends Attribute {
  /**
   * Dotted paths in the record, which give the value for elements that lack this member. If the record has several different
   * values, each becomes an element of its own.
   */
  readonly record_paths?: readonly string[]
}

/** A type of identifier, and how its values are normalised before they are stored or compared. */
export interface IdentifierType {
  /** The canonical name of the identifier type, such as `UIN`. */
  readonly name: string
  /** Other names in messages and records, such as `BIRTH_REG_NO` for `BRN`; compared without case. */
  readonly aliases?: readonly string[]
  /** The row in `kinds/normalisers.ts` for the values. Leading zeros are always kept. */
  readonly normaliser: 'code' | 'phone' | 'email' | 'exact'
  /**
   * The forms that a normalised value may have (`kinds/value-pattern.ts`), checked when a value is written or searched. Stored
   * values are read in any form: otherwise a protected person whose stored value has another form would no longer be hidden.
   */
  readonly patterns?: readonly string[]
  /** True when an operator allowed sorting searches by this identifier type, for records of all types. */
  readonly sortable?: true
}

/** A place where a record has identifiers: objects {identifier_type, identifier_value}, plain values, or arrays of these. */
export interface IdentifierSource {
  /** The dotted path to the identifiers, followed like that of an attribute. All identifiers at the path are read. */
  readonly path: string
  /** The type of values without a type of their own: MOBILE for `phone_number`. Absent: values without a type are ignored. */
  readonly type?: string
  /** `record`: the identifiers name the record itself. `part`: they name a person in it, such as a member of a household. */
  readonly names: 'record' | 'part'
}

/** A place where a record has or names another person. A grant may show the record without this person. */
export interface Relation {
  /** The name of the relation in a grant, such as `member_list`. */
  readonly name: string
  /** Dotted paths in the document to the persons of the relation. */
  readonly paths: readonly string[]
  /** The record type of the person's data; missing when the data are not read as a record, such as an identifier. */
  readonly record_type?: string
  /** For each of `paths`, the path of the data that are removed with the person: the same path (default), or one above it. */
  readonly entries?: readonly string[]
  /** The attribute that counts these persons, such as `group_size`. A person in two such relations counts once. */
  readonly counted_by?: string
}

export interface RecordType {
  /** The canonical name, such as `Beneficiary`. It is unique in the kind, and part of the names of its tables. */
  readonly name: string
  /** The name in `reg_record_type` of a notification, unless the subscription gave one. For `Beneficiary`, it is `Member`. */
  readonly emitted: string
  /** The form of the record in a notification. Without it, notifications have the record as stored. */
  readonly notified_as?: NotifiedShape
  /** Other names accepted in `reg_record_type` and `response_entity`; the part after the last ":" is compared. */
  readonly aliases: readonly string[]
  /** Values of `@type` (after the last ":") by which the record type of a document is recognised, as in an import. */
  readonly document_types: readonly string[]
  /**
   * The identifier type whose value is unique among the records of this type. Every record has exactly one identifier of this
   * type that names the record itself.
   */
  readonly primary_identifier: string
  /**
   * Other identifier types by which a search may be sorted. The sort key is the smallest of the record's own identifiers of the
   * type; records without one come last. `sortedIdentifiers` returns these types, each once.
   */
  readonly sort_identifiers?: readonly string[]
  /** The places of identifiers: first those that name the record itself, then those that name another person in it. */
  readonly identifiers: readonly IdentifierSource[]
  readonly attributes: readonly Attribute[]
  readonly compounds?: readonly Compound[]
  /**
   * Lists whose elements have keys. Event rules find elements by their keys. So does the merge, when an event is published with a
   * part of a record and this part is written into the stored record.
   */
  readonly keyed_lists: readonly KeyedList[]
  /** The rules that make events from changes of a record, in order. */
  readonly event_rules: readonly EventRule[]
  /**
   * Prefixes that published examples write before the record's own members, such as `member.` in `member.birth_date`;
   * the longest first.
   */
  readonly query_prefixes?: readonly string[]
  /**
   * A query may not use these dotted paths, and the paths below them, as names; paths of attributes are allowed. For example,
   * `group_head_info` is a second place of the compound `household_member`, read when the group lists no members. A query for
   * `group_head_info.sex` would be understood as `household_member.sex`, which tests all listed members in place of the head.
   */
  readonly unnamed_paths?: readonly string[]
  /** The other persons in a record of this type. */
  readonly relations?: readonly Relation[]
  /**
   * The documented schema. Grants, GraphQL and the reports of imports use its paths. Records may have other members, and are
   * not checked against it.
   */
  readonly schema: TSchema
}

/** The identifier types of `sort_identifiers`, each once and without the primary type. */
export function sortedIdentifiers({ sort_identifiers = [], primary_identifier }: RecordType): readonly string[] {
  return [...new Set(sort_identifiers)].filter((type) => type !== primary_identifier)
}

/** True when a search may be sorted by this identifier type. No attribute has the name of an identifier type. */
export const isSortedIdentifier = (recordType: RecordType, name: string): boolean =>
  name === recordType.primary_identifier || sortedIdentifiers(recordType).includes(name)

/** A type of event that a kind publishes. */
export interface EventType {
  /** The name that we send in `reg_event_type`. */
  readonly name: string
  /** Other accepted names; the part after the last ":" is compared, without case. */
  readonly aliases: readonly string[]
  /** True when no other event can follow for the person: a subscription about this person alone then ends. */
  readonly ends_subscriptions?: true
  /** Date attributes that the event needs, such as `death_date`. A form for publishing the event has fields for them. */
  readonly needs?: readonly string[]
  /** The sample record with which a form for publishing the event begins; absent: the first sample. */
  readonly offers?: EventOffer
}

/**
 * Chooses the sample record with which a form for publishing an event begins: the record must have the attributes in `has`, and
 * none of those in `lacks`.
 */
export interface EventOffer {
  readonly has?: readonly string[]
  readonly lacks?: readonly string[]
  /**
   * Chooses, among the sample records with the right attributes, the one in which this date is the latest or the earliest.
   * Records without the date are left out.
   */
  readonly by?: { readonly attribute: string; readonly first: 'latest' | 'earliest' }
}

/** Rules of the documented schemas that are relaxed for the answers and callbacks of registries of one kind. */
export interface Relaxed {
  /** The members that may be missing, by the title of the schema that requires them. */
  readonly optional: Readonly<Record<string, readonly string[]>>
  /** The members whose texts need not match their pattern. Their lengths are checked. */
  readonly unpatterned: readonly string[]
}

/** A kind of registry. Each kind is one object of this type, in a file of this folder. */
export interface Kind {
  /** The name in configuration and on the command line: civil, ibr, ess, social ... */
  readonly name: string
  readonly title: string
  /** One sentence about the kind, for the reference page. */
  readonly description: string
  /** The last part of `reg_type`, such as `Civil`, and other accepted spellings of it. */
  readonly reg_type: { readonly name: string; readonly aliases: readonly string[] }
  /** The record types. The first is used when neither `reg_record_type` nor `response_entity` is given. */
  readonly record_types: readonly [RecordType, ...RecordType[]]
  readonly identifier_types: readonly IdentifierType[]
  /**
   * False when a query for an identifier of any type compares listed types only. By default, such a query also compares unlisted
   * types.
   */
  readonly unlisted_identifiers?: false
  readonly event_types: readonly EventType[]
  /**
   * The event types whose canonical names a notification may have in `reg_event_type` (public standard 3.2, 3). A notification
   * of another type has no `reg_event_type`, unless the participant accepts canonical names that are not in this list. In a kind
   * without the list, the name is that of the subscribe request; it is canonical if the event is not of the subscribed type.
   */
  readonly notified_event_types?: readonly string[]
  /** More values that a search may have in `reg_event_type`, from published examples. They name no event of the kind. */
  readonly search_event_types?: readonly string[]
  /** Operations besides those of all kinds, by their names in `operations.ts`. */
  readonly operations: readonly string[]
  readonly relaxed?: Relaxed
}
