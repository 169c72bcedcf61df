/**
 * A grant: the rights of a participant in a registry, as the operator writes them. Without a valid grant, a participant
 * has no rights there.
 */
import { type IdentifierSource, type Kind, type Relation, type TakesOut, Timestamp } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import type { DisclosingGrant } from './delivery.ts'
import type { Predicate } from './predicate.ts'
import { PROTECTION_CATEGORIES, type Protection } from './protection.ts'
import type { ReadOnly } from './read-only.ts'

/** The word in a grant that allows every name. */
export const ALL_NAMES = 'all'

/** A list of names, or `all`. `all` includes names that later versions add. */
const namesOrAllSchema = (description: string) =>
  Type.Union([Type.Literal(ALL_NAMES), Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true })], {
    description: `${description}, or "all"`,
  })

/**
 * The forms of a query that a grant tells apart. `identifier` is a query for identifiers alone, in whatever form it is written.
 * `expression` is also an expression list.
 */
export const QUERY_FORMS = ['identifier', 'expression', 'predicate', 'graphql'] as const
export type QueryForm = (typeof QUERY_FORMS)[number]

/**
 * `law`: no consent is needed. With the other bases, each search item, and each question about one person (such as whether the
 * person is enrolled), must have the member `consent`, the member `authorize`, or (`either`) one of the two. A subscription must
 * have a signed consent.
 */
export const GRANT_BASES = ['law', 'consent', 'authorize', 'either'] as const

/** `asserted`: the participant states the consent. `signed`: an authority has signed it. */
export const CONSENT_FORMS = ['asserted', 'signed'] as const

/** How `total_count` states the number of matching records. */
export const TOTAL_COUNT_FORMS = ['exact', 'capped', 'rounded', 'none'] as const

/**
 * `allowed`: minors (persons below the registry's `majority_age`) are found and shown. `never`: minors are neither found nor
 * shown, and persons without a birth date are not found.
 */
export const RULES_FOR_MINORS = ['allowed', 'never'] as const

/** Members of `header.meta` that a grant may demand in every request: the person who asks, and the case for which it is asked. */
export const DEMANDED_META_MEMBERS = ['requested_by', 'case'] as const

const dailyLimitSchema = (description: string) => Type.Integer({ minimum: 1, description: `${description}, a day (UTC)` })

const minuteLimitSchema = (description: string) =>
  Type.Integer({ minimum: 1, description: `${description}, a minute; so many at once at most` })

/** The terms for emergencies: more data of one person are shown, for a limited number of items a day. */
const EmergencyTerms = Type.Object(
  {
    see: namesOrAllSchema('What is shown beside what the grant shows'),
    items_per_day: dailyLimitSchema('Items that may be asked as emergencies'),
  },
  {
    additionalProperties: false,
    description: 'What an item with an authorize of purpose code emergency and a reason shows (default: no emergencies)',
  },
)

export const GrantTerms = Type.Object(
  {
    operations: namesOrAllSchema('Operations by their names, such as search and txn-status'),
    record_types: Type.Optional(namesOrAllSchema('Record types (default: all)')),
    query_forms: Type.Optional(
      Type.Union([Type.Literal(ALL_NAMES), Type.Array(Type.Enum([...QUERY_FORMS]), { uniqueItems: true })], {
        description: `Forms of queries: ${QUERY_FORMS.join(', ')}, or "all" (default: identifier)`,
      }),
    ),
    identifier_types: Type.Optional(namesOrAllSchema('Identifier types that may be asked about and seen (default: all)')),
    ask: Type.Optional(namesOrAllSchema('Attributes that may be asked about, beside identifiers (default: none)')),
    see: namesOrAllSchema('Attributes, identifier, relations and members of documents that may be seen'),
    rows: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'By record type, an expression query that every record fulfils which may be found',
      }),
    ),
    protected: Type.Optional(
      Type.Union(
        [Type.Literal(ALL_NAMES), Type.Array(Type.Enum([...PROTECTION_CATEGORIES]), { minItems: 1, uniqueItems: true })],
        {
          description: `Categories of protected persons who may be found: ${PROTECTION_CATEGORIES.join(', ')}, or "all" (default: none)`,
        },
      ),
    ),
    minors: Type.Optional(
      Type.Enum([...RULES_FOR_MINORS], {
        description: 'Whether persons may be found who have not come of age: allowed, never (default: allowed)',
      }),
    ),
    event_types: Type.Optional(namesOrAllSchema('Event types that may be subscribed to (default: none)')),
    unfiltered: Type.Optional(Type.Boolean({ description: 'May subscribe without a filter, to every record (default: false)' })),
    programmes: Type.Optional(namesOrAllSchema('Programmes whose enrolments may be written (default: none)')),
    basis: Type.Enum([...GRANT_BASES], {
      description: 'law: no consent is needed; otherwise every search item has consent, authorize, or either',
    }),
    purposes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        uniqueItems: true,
        description: 'Codes of the purposes that a consent may name; for a basis other than law',
      }),
    ),
    demands: Type.Optional(
      Type.Array(Type.Enum([...DEMANDED_META_MEMBERS]), {
        uniqueItems: true,
        description: `Members of header.meta that every request must have: ${DEMANDED_META_MEMBERS.join(', ')} (default: none)`,
      }),
    ),
    consent: Type.Optional(
      Type.Enum([...CONSENT_FORMS], {
        description:
          'asserted: the consent may be what the participant says; signed: a consent authority has signed it (default: asserted)',
      }),
    ),
    authorities: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        uniqueItems: true,
        description: 'Consent authorities whose signed consents count (default: all that are registered)',
      }),
    ),
    counts: Type.Optional(
      Type.Enum([...TOTAL_COUNT_FORMS], {
        description:
          'total_count: exact; capped, exact below the cap of a search, which stands for so many or more; rounded up to tens, at least 10; none, the records of the page (default: exact)',
      }),
    ),
    page_size: Type.Optional(Type.Integer({ minimum: 1, description: 'Records in a page at most' })),
    items_per_day: Type.Optional(dailyLimitSchema('Items asked, identifiers of one item one by one')),
    records_per_day: Type.Optional(dailyLimitSchema('Records delivered, repeats included')),
    items_per_minute: Type.Optional(minuteLimitSchema('Items asked, identifiers of one item one by one')),
    records_per_minute: Type.Optional(minuteLimitSchema('Records of answers, repeats included')),
    emergency: Type.Optional(EmergencyTerms),
    valid_from: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Default: now' })),
    valid_until: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Default: no end' })),
    legal_reference: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    responsible: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Who answers for it' })),
  },
  { additionalProperties: false, title: 'Grant', description: 'What a participant may do in a registry.' },
)
export type GrantTerms = ReadOnly<Static<typeof GrantTerms>>

/** The quantities that a grant may limit, each for a day; items and records also for a minute. */
export const COUNTED_QUANTITIES = ['items', 'records', 'emergencies'] as const
export type CountedQuantity = (typeof COUNTED_QUANTITIES)[number]

/** How many items, records or emergency items the grant allows in a day (UTC); undefined when it has no limit. */
export const dailyLimitOf = (terms: GrantTerms, counted: CountedQuantity): number | undefined =>
  counted === 'emergencies' ? terms.emergency?.items_per_day : terms[`${counted}_per_day`]

/** How many items or records the grant allows in a minute; undefined when it has no limit, and for emergencies. */
export const minuteLimitOf = (terms: GrantTerms, counted: CountedQuantity): number | undefined =>
  counted === 'emergencies' ? undefined : terms[`${counted}_per_minute`]

/** The granted names; null when all names are granted. */
export type GrantedNames = ReadonlySet<string> | null

/** True when the name, in its canonical spelling, is granted. */
export const isNameGranted = (granted: GrantedNames, name: string): boolean => granted === null || granted.has(name)

/** A valid grant, read for the kind of its registry (`policy/grant.ts`). Requests are checked against it. */
export interface Grant {
  /** The id of the grant's version. */
  readonly id: number
  readonly terms: GrantTerms
  /** The kind with only what the grant allows to ask about. Queries are read with it. */
  readonly kind: Kind
  /** Like `kind`, for questions about one person, such as `enrolled_criteria`: these may also name a programme. */
  readonly person_kind: Kind
  readonly operations: GrantedNames
  readonly recordTypes: GrantedNames
  readonly queryForms: ReadonlySet<QueryForm>
  readonly eventTypes: GrantedNames
  readonly programmes: GrantedNames
  /** Conditions that a record must fulfil to be found, by record type. A record type that is not in the map has no condition. */
  readonly rows: ReadonlyMap<string, Predicate>
  /** The visible part of each record type; null when all records are shown whole. */
  readonly visible: ReadonlyMap<string, VisibleTreeNode> | null
  readonly identifiers: ShownIdentifierTypes
  readonly hidden: HiddenPersonRules
  /**
   * The members that a signed consent allows to show, by record type. Only the copy of a grant that is made for an item with a
   * signed consent has them.
   */
  readonly coverage?: ReadonlyMap<string, VisibleTreeNode>
  /** The grant that replaces this one for emergency items; absent when the terms have no emergency part. */
  readonly emergency?: Omit<Grant, 'id' | 'emergency'>
}

/** Decides which persons a grant does not show at present: protected persons and minors. */
export interface HiddenPersonRules {
  /** The categories whose protected persons are shown. */
  readonly categories: readonly string[]
  /** All protected persons of the registry; nobody until `grantWithHiddenPersons` sets them. */
  readonly protection: Protection
  /** Decides which persons are removed from records of other persons; null when minors are shown and nobody is protected. */
  readonly takesOut: TakesOut | null
}

/** What a delivery stores about the grant that disclosed its records: the grant's id and the version of the protection. */
export const disclosingGrantOf = ({ id, hidden }: Pick<Grant, 'id' | 'hidden'>): DisclosingGrant => ({
  grant: id,
  protection: hidden.protection.version,
})

/** Says what is shown at one place of a record type's documents: a node of a tree of members. */
export interface VisibleTreeNode {
  /** True when everything at this place is shown. */
  whole: boolean
  /** True when a plain value here (not an object), such as the value of an attribute, is shown. */
  value: boolean
  /**
   * The identifiers that may be at this place: an object with type and value, or a plain value whose type is
   * `IdentifierSource.type`.
   */
  readonly identifiers: IdentifierSource[]
  /** The nodes of the members inside, by `searchKey` of the name. */
  readonly members: Map<string, VisibleTreeNode>
  /** For a place of a related person: what is shown of this person, as the tree of the person's record type. */
  like?: VisibleTreeNode
  /** The relation of the person at this place to the person of the record. */
  relation?: Relation
}

/** The types of identifiers that the grant shows. */
export interface ShownIdentifierTypes {
  /** The kind without the limits of the grant. It is used to read identifiers of records. */
  readonly kind: Kind
  /** The canonical names of the shown identifier types; null for all types, also unlisted ones. */
  readonly types: GrantedNames
}
