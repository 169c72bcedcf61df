/** What a participant may do in a registry, as its operator writes it. Without a grant in force it may do nothing. */
import { type IdentifierSource, type Kind, type Relation, type TakesOut, Timestamp } from '@rollcall/protocol'
import Type, { type Static } from 'typebox'
import type { DisclosedBy } from './delivery.ts'
import type { Predicate } from './predicate.ts'
import { PROTECTION_CATEGORIES, type Protection } from './protection.ts'
import type { ReadOnly } from './read-only.ts'

export const ALL = 'all'

/** Names of one sort, or all that there are, of later versions too. */
const names = (description: string) =>
  Type.Union([Type.Literal(ALL), Type.Array(Type.String({ minLength: 1 }), { uniqueItems: true })], {
    description: `${description}, or "all"`,
  })

/** The forms of a query. `identifier` is a question about one or several identifiers, in whichever form it is written. */
export const QUERY_FORMS = ['identifier', 'expression', 'predicate', 'graphql'] as const
export type QueryForm = (typeof QUERY_FORMS)[number]

/** `law`: no consent is needed. Otherwise every search item has the consent, the authorization, or either of them. */
export const BASES = ['law', 'consent', 'authorize', 'either'] as const

/** Whose word a consent is: the participant's own, or that of an authority that has signed it. */
export const CONSENT_FORMS = ['asserted', 'signed'] as const

/** How `total_count` says how many records match. */
export const COUNTS = ['exact', 'capped', 'rounded', 'none'] as const

/** Whether persons are found who have not come of age. */
export const MINORS = ['allowed', 'never'] as const

/** Members of `header.meta` that say who asks at the participant, and for what. */
export const DEMANDS = ['requested_by', 'case'] as const

const daily = (description: string) => Type.Integer({ minimum: 1, description: `${description}, a day (UTC)` })

const minutely = (description: string) =>
  Type.Integer({ minimum: 1, description: `${description}, a minute; so many at once at most` })

/** In an emergency a participant may see more of one person, of few persons a day. */
const EmergencyTerms = Type.Object(
  {
    see: names('What is shown beside what the grant shows'),
    items_per_day: daily('Items that may be asked as emergencies'),
  },
  {
    additionalProperties: false,
    description:
      'What an item with an authorize of purpose code emergency and a reason shows (default: no emergencies)',
  },
)

export const GrantTerms = Type.Object(
  {
    operations: names('Operations by their names, such as search and txn-status'),
    record_types: Type.Optional(names('Record types (default: all)')),
    query_forms: Type.Optional(
      Type.Union([Type.Literal(ALL), Type.Array(Type.Enum([...QUERY_FORMS]), { uniqueItems: true })], {
        description: `Forms of queries: ${QUERY_FORMS.join(', ')}, or "all" (default: identifier)`,
      }),
    ),
    identifier_types: Type.Optional(names('Identifier types that may be asked about and seen (default: all)')),
    ask: Type.Optional(names('Attributes that may be asked about, beside identifiers (default: none)')),
    see: names('Attributes, identifier, relations and members of documents that may be seen'),
    rows: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'By record type, an expression query that every record fulfils which may be found',
      }),
    ),
    protected: Type.Optional(
      Type.Union(
        [Type.Literal(ALL), Type.Array(Type.Enum([...PROTECTION_CATEGORIES]), { minItems: 1, uniqueItems: true })],
        {
          description: `Categories of protected persons who may be found: ${PROTECTION_CATEGORIES.join(', ')}, or "all" (default: none)`,
        },
      ),
    ),
    minors: Type.Optional(
      Type.Enum([...MINORS], {
        description: 'Whether persons may be found who have not come of age: allowed, never (default: allowed)',
      }),
    ),
    event_types: Type.Optional(names('Event types that may be subscribed to (default: none)')),
    unfiltered: Type.Optional(
      Type.Boolean({ description: 'May subscribe without a filter, to every record (default: false)' }),
    ),
    programmes: Type.Optional(names('Programmes whose enrolments may be written (default: none)')),
    basis: Type.Enum([...BASES], {
      description: 'law: no consent is needed; otherwise every search item has consent, authorize, or either',
    }),
    purposes: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        uniqueItems: true,
        description: 'Codes of the purposes that a consent may name; for a basis other than law',
      }),
    ),
    demands: Type.Optional(
      Type.Array(Type.Enum([...DEMANDS]), {
        uniqueItems: true,
        description: `Members of header.meta that every request must have: ${DEMANDS.join(', ')} (default: none)`,
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
      Type.Enum([...COUNTS], {
        description:
          'total_count: exact; capped, exact below the cap of a search, which stands for so many or more; rounded up to tens, at least 10; none, the records of the page (default: exact)',
      }),
    ),
    page_size: Type.Optional(Type.Integer({ minimum: 1, description: 'Records in a page at most' })),
    items_per_day: Type.Optional(daily('Items asked, identifiers of one item one by one')),
    records_per_day: Type.Optional(daily('Records delivered, repeats included')),
    items_per_minute: Type.Optional(minutely('Items asked, identifiers of one item one by one')),
    records_per_minute: Type.Optional(minutely('Records of answers, repeats included')),
    emergency: Type.Optional(EmergencyTerms),
    valid_from: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Default: now' })),
    valid_until: Type.Optional(Type.Unsafe<string>({ ...Timestamp, description: 'Default: no end' })),
    legal_reference: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
    responsible: Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'Who answers for it' })),
  },
  { additionalProperties: false, title: 'Grant', description: 'What a participant may do in a registry.' },
)
export type GrantTerms = ReadOnly<Static<typeof GrantTerms>>

/** What is counted by the day (UTC), with how much of it the grant gives. Emergencies are counted by themselves. */
export const QUOTAS = {
  items: ({ items_per_day }) => items_per_day,
  records: ({ records_per_day }) => records_per_day,
  emergencies: ({ emergency }) => emergency?.items_per_day,
} as const satisfies Readonly<Record<string, (terms: GrantTerms) => number | undefined>>
export type Counted = keyof typeof QUOTAS

/** The same by the minute. Emergencies have their daily quota alone. */
export const RATES: Readonly<Record<Counted, (terms: GrantTerms) => number | undefined>> = {
  items: ({ items_per_minute }) => items_per_minute,
  records: ({ records_per_minute }) => records_per_minute,
  emergencies: () => undefined,
}

/** The names that are granted; null: all. */
export type Granted = ReadonlySet<string> | null

/** Whether a name is granted. */
export const isGranted = (granted: Granted, name: string): boolean => granted === null || granted.has(name)

/** A grant in force, read for the kind of its registry (`policy/grant.ts`): every request is checked against it. */
export interface Grant {
  /** Which version of the grant it is. */
  readonly id: number
  readonly terms: GrantTerms
  /** The kind of the registry with what may be asked about, and nothing else: queries are read by it. */
  readonly kind: Kind
  /** That kind for a question about one person, which may also name a programme. */
  readonly person_kind: Kind
  readonly operations: Granted
  readonly recordTypes: Granted
  readonly queryForms: ReadonlySet<QueryForm>
  readonly eventTypes: Granted
  readonly programmes: Granted
  /** By record type, what every record fulfils that may be found; without an entry there is no condition. */
  readonly rows: ReadonlyMap<string, Predicate>
  /** By record type, what is visible; null: every record whole. */
  readonly visible: ReadonlyMap<string, Visible> | null
  readonly identifiers: SeenIdentifiers
  readonly hidden: HiddenPersons
  /** By record type, what the signed consent covers under which an item is answered: nothing else is shown. Absent: none. */
  readonly covered?: ReadonlyMap<string, Visible>
  /** What counts in its place for an item that asks as an emergency; absent: the grant has no emergency part. */
  readonly emergency?: Omit<Grant, 'id' | 'emergency'>
}

/** Whom a grant does not show, at the moment. */
export interface HiddenPersons {
  /** Categories of protected persons who are found nevertheless. */
  readonly categories: readonly string[]
  /** All who are protected in the registry. */
  readonly protection: Protection
  /** Takes hidden persons out of records of others; null: nobody is hidden. */
  readonly takesOut: TakesOut | null
}

/** By what a delivery is made whose records this grant disclosed. */
export const disclosedBy = ({ id, hidden }: Pick<Grant, 'id' | 'hidden'>): DisclosedBy => ({
  grant: id,
  protection: hidden.protection.version,
})

/** What is shown of a value in a document. */
export interface Visible {
  /** All of it, whatever it is. */
  whole: boolean
  /** A value that has no members: attributes are such values. */
  value: boolean
  /** Identifiers that stand here: an object with type and value, or a bare value of the source's type. */
  readonly identifiers: IdentifierSource[]
  /** By `searchKey` of the member's name. */
  readonly members: Map<string, Visible>
  /** A related person stands here, of whom as much is shown as of a record of that type. */
  like?: Visible
  /** By which another person stands here. */
  relation?: Relation
}

/** Which identifiers may be seen. */
export interface SeenIdentifiers {
  /** Whole, as its records are read. */
  readonly kind: Kind
  /** Canonical names; null: of every type, the unlisted included. */
  readonly types: Granted
}
