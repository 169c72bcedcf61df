/** What one family of registries is, as data. Everything in which two kinds differ is a field here. */
import type { TSchema } from 'typebox'
import type { CodeListName } from '../records/code-lists.ts'
import type { EventRule, KeyedList } from './event-rules.ts'
import type { NotifiedShape } from './notified-shape.ts'

/** How a searchable attribute is read from a record; `attributes/attribute-types.ts` has one row for each. */
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
  /** For type `code`: the list that says which spellings mean the same. */
  readonly codes?: CodeListName
  /**
   * For type `age`: the date attribute since which whole years are counted, on the day of the registry's time zone
   * on which the question is asked. Nothing of it is stored, and it has no paths.
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
 * Attributes that stand together in one element of a list, such as programme and status of one enrolment: conditions
 * on several of them may apply to the same element.
 */
export interface Compound {
  /** The canonical name, such as `enrolment`: no attribute of the record type has it. Also its column. */
  readonly name: string
  readonly aliases?: readonly string[]
  /**
   * Dotted paths in the document, tried in order until one has an element with a value. Every object that stands
   * there is an element, a bare value too; the path "" is the record itself as the one element.
   */
  readonly paths: readonly string[]
  /** Never `many`, never `sortable`; their names are attribute names of the record type like any other's. */
  readonly members: readonly CompoundMember[]
  /** An index is kept that answers equalities on its members. */
  readonly indexed?: true
}

/** An attribute of one element: its paths begin in the element; the path "" is the element itself, a bare value. */
export interface CompoundMember extends Attribute {
  /**
   * Dotted paths from the record's root, for elements that do not say it themselves. Several different values there
   * belong to no element in particular, and each is an element of its own.
   */
  readonly record_paths?: readonly string[]
}

/** One type of identifier, with how its values are normalised before they are stored or compared. */
export interface IdentifierType {
  /** The canonical name, such as `UIN`. */
  readonly name: string
  /** Other names on the wire, such as `BIRTH_REG_NO` for `BRN`; compared without regard to case. */
  readonly aliases?: readonly string[]
  /** Which row of `kinds/normalisers.ts` applies; leading zeros are always kept. */
  readonly normaliser: 'code' | 'phone' | 'email' | 'exact'
  /**
   * A normalised value must have one of these forms (`kinds/value-pattern.ts`) to be taken into a record, or searched. Values
   * that were stored before are read as all others, so that whoever is hidden stays hidden.
   */
  readonly patterns?: readonly string[]
  /** An operator's: a search for records of any type may be sorted by it. */
  readonly sortable?: true
}

/** Where identifiers stand in a record: objects {identifier_type, identifier_value}, bare values, or arrays of both. */
export interface IdentifierSource {
  /** Dotted path, walked like an attribute's; every identifier that stands there counts. */
  readonly path: string
  /**
   * The identifier type of bare values there, and of objects that name no type: MOBILE for `phone_number`.
   * Without it, what names no type is no identifier.
   */
  readonly type?: string
  /** `record`: it names the record itself. `part`: it names a person inside the record, such as a household's member. */
  readonly names: 'record' | 'part'
}

/** Where a record holds or names another person: whoever may see the record need not see them. */
export interface Relation {
  /** As a grant names it, such as `member_list`. */
  readonly name: string
  /** Dotted paths in the document. */
  readonly paths: readonly string[]
  /** The record type whose members the other person has. Without it an identifier names the other person. */
  readonly record_type?: string
  /**
   * Dotted paths of what goes with the other person, one for each of `paths` and above it: where the person is taken out of a
   * record, it is taken out whole. Default: `paths`.
   */
  readonly entries?: readonly string[]
  /** The number attribute that counts these persons, such as `group_size`. Somebody in two such relations counts once. */
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
  /** Values of the document's own `@type` (part after the last ":") by which an import tells record types apart. */
  readonly document_types: readonly string[]
  /** Identifier type whose value is unique among the records of this type; every record has exactly one. */
  readonly primary_identifier: string
  /**
   * Identifier types beside the primary one by which a search may be sorted: by the smallest that the record itself bears,
   * last where it bears none. Read with `sortedIdentifiers`.
   */
  readonly sort_identifiers?: readonly string[]
  /** Sources that name the record come before those that name a part of it. */
  readonly identifiers: readonly IdentifierSource[]
  readonly attributes: readonly Attribute[]
  readonly compounds?: readonly Compound[]
  /** Lists whose elements are merged one by one when a part of a record is published. */
  readonly keyed_lists: readonly KeyedList[]
  /** Which events a change of a record is, in order. */
  readonly event_rules: readonly EventRule[]
  /** Under these places published examples name what a record has itself, such as `member.birth_date`; the longest first. */
  readonly query_prefixes?: readonly string[]
  /**
   * Dotted paths that are read and that no query may name, nor what is below them: a household's head is one of its
   * members to `compounds` and `identifiers`, so a question about the head would be answered about all of them.
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

/** Whether a search may be sorted by the identifier type of this name. No attribute has the name of one. */
export const isSortedIdentifier = (recordType: RecordType, name: string): boolean =>
  name === recordType.primary_identifier || sortedIdentifiers(recordType).includes(name)

/** One type of event that a kind publishes. */
export interface EventType {
  /** The spelling emitted as `reg_event_type`. */
  readonly name: string
  /** Spellings accepted; compared without regard to case by the part after the last ":". */
  readonly aliases: readonly string[]
  /** Nothing more is to come of this person: a subscription to it that is about the person alone ends with it. */
  readonly ends_subscriptions?: true
  /** Date attributes that the event says, such as `death_date`: a form that publishes it asks for them. */
  readonly needs?: readonly string[]
  /** Whom such a form offers; without it anybody. */
  readonly offers?: EventOffer
}

/** Records that fit an event, by their attributes. */
export interface EventOffer {
  readonly has?: readonly string[]
  readonly lacks?: readonly string[]
  /** The record in which this date attribute is the latest or the earliest comes first. */
  readonly by?: { readonly attribute: string; readonly first: 'latest' | 'earliest' }
}

/** Where the description of a kind asks less of results than that of the others. */
export interface Relaxed {
  /** Members that may be absent, by the title of the schema that has them. */
  readonly optional: Readonly<Record<string, readonly string[]>>
  /** Members whose texts keep no pattern; their lengths count. */
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
  /** The first is the default when neither `reg_record_type` nor `response_entity` says which is meant. */
  readonly record_types: readonly [RecordType, ...RecordType[]]
  readonly identifier_types: readonly IdentifierType[]
  /** False: "any identifier" means one of these types. Otherwise it means identifiers of types that are not listed too. */
  readonly unlisted_identifiers?: false
  readonly event_types: readonly EventType[]
  /**
   * The closed list of names that `reg_event_type` of a notification has (public standard 3.2, 3); other names are left
   * out unless a participant takes them. Without the list a notification has the name that its subscriber used.
   */
  readonly notified_event_types?: readonly string[]
  /** Further values of `reg_event_type` in a search, where published examples have one that names no event of the kind. */
  readonly search_event_types?: readonly string[]
  /** Operations beyond the common set, by their name in `operations.ts`. */
  readonly operations: readonly string[]
  readonly relaxed?: Relaxed
}
