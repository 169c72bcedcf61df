/** Types that several messages use: members, pages and consents. Spec "Common field types" and "Limits". */
import Type, { type Static, type TSchemaOptions } from 'typebox'

/** The version of the protocol that we send (spec "Versioning"). */
export const PROTOCOL_VERSION = '1.0.0'

/** The spellings of the one published version that a message may have in `version` (D26). */
const ACCEPTED_VERSIONS: readonly string[] = [PROTOCOL_VERSION, '1.0', '1']

/** True when a `version` member is missing, or names a supported version (spec "Versioning" 3, D26). */
export function isSpokenVersion(version: string | undefined): boolean {
  return version === undefined || ACCEPTED_VERSIONS.includes(version)
}

/** The prefix of the `reg_type` that we send, before the segment of the kind (D32). */
export const REG_TYPE_PREFIX = 'ns:org:RegistryType:'

/** The largest page size or page number: int32 in the specification (spec "SearchRequest", pagination). */
export const INT32_MAX = 2_147_483_647

/** The schema of a string that must be one of `values`. */
export function oneOf<const Value extends string>(values: readonly Value[], options: TSchemaOptions = {}) {
  return Type.Unsafe<Value>({ type: 'string', enum: [...values], ...options })
}

/** A time as in RFC 3339 with a zone. `timestamps.ts` defines which texts are valid. */
export const Timestamp = Type.String({
  format: 'date-time',
  description: 'Date and time with a time zone, such as 2026-02-03T09:15:00.000Z (spec "Common field types").',
})

export const TransactionId = Type.String({
  minLength: 1,
  maxLength: 99,
  description: 'Chosen by the initiating system and kept by all systems (spec "What the service does", 7).',
})

export const CorrelationId = Type.String({
  minLength: 1,
  maxLength: 99,
  pattern: '^[a-zA-Z0-9-]+$',
  description: 'Assigned by the processing system; ties related messages together (spec "Limits").',
})

export const ReferenceId = Type.String({
  minLength: 1,
  maxLength: 99,
  description: 'Names one item of a batch and is unique in it (N2).',
})

/**
 * The reference_id in a reply, at most 99 characters: that of the item, or "" when the reference_id of the item is no text.
 * Requests about one person and enrolment updates have no reference_id. Their replies have in its place an identifier of the
 * person, or, if no identifier is known, the position of the item, counted from 0.
 */
export const EchoedReferenceId = Type.String({
  description: 'The reference_id of the item that this answers; empty when the item had none (N2).',
})

export const Locale = Type.String({ pattern: '^[a-z]{3}$', description: 'Language code of three lower-case letters (G4, D4).' })

export const Version = Type.String({ default: PROTOCOL_VERSION, description: 'Protocol version (spec "Versioning").' })

/** The states of a message or an item (spec "States and transitions"; meanings from N7). */
export const STATUSES = ['rcvd', 'pdng', 'succ', 'rjct'] as const
export const Status = oneOf(STATUSES, { description: 'rcvd received, pdng being processed, succ done, rjct rejected (N7).' })
export type Status = Static<typeof Status>

export const StatusReasonMessage = Type.String({
  maxLength: 999,
  description: 'An actionable text beside status rjct (spec "Errors", 5).',
})

/** The status of a subscription (N6). */
export const SubscriptionStatus = oneOf(['subscribe', 'unsubscribe'], {
  description: 'subscribe while it lives, unsubscribe when it has ended (N6).',
})

export const SubscriptionCode = Type.String({
  minLength: 1,
  maxLength: 99,
  description: 'Names one subscription (spec "Limits").',
})

export const RegType = Type.String({
  description: 'Registry type, a namespaced value whose last segment counts, such as ns:org:RegistryType:Civil (D32).',
})

export const RegRecordType = Type.String({ description: 'Record type, compared by its last segment (spec "Record shapes").' })

export const RegEventType = Type.String({ description: 'Event type, compared by its last segment without regard to case (N15).' })

/** A record: an open JSON-LD object without required members (N5). */
export const RegistryRecord = Type.Record(Type.String(), Type.Unknown(), {
  description: 'A record of the registry; its documented shape is a component of its own (N5).',
})

const Int32 = (minimum: number, description: string, options: TSchemaOptions = {}) =>
  Type.Integer({ minimum, maximum: INT32_MAX, description, ...options })

/** The page that a request asks for (spec "SearchRequest", pagination). */
export const PageRequest = Type.Object(
  { page_size: Int32(1, 'Items on a page.'), page_number: Type.Optional(Int32(1, 'Counts from 1.', { default: 1 })) },
  { title: 'PageRequest', description: 'The page that is asked for (spec "Limits").' },
)
export type PageRequest = Static<typeof PageRequest>

/** The page in an answer (spec "SearchResponse", pagination). */
export const Pagination = Type.Object(
  {
    page_size: Int32(1, 'Items on a page.'),
    page_number: Int32(1, 'Counts from 1.'),
    total_count: Int32(0, 'Items on all pages.'),
  },
  { title: 'Pagination', description: 'The page that is given (spec "SearchResponse").' },
)
export type Pagination = Static<typeof Pagination>

/** The schema of both `consent` and `authorize` (spec "SearchRequest"). */
export const Consent = Type.Object(
  {
    ts: Type.Optional(Timestamp),
    purpose: Type.Optional(
      Type.Object({
        text: Type.Optional(Type.String()),
        code: Type.Optional(
          Type.String({
            description: 'One of the codes that the registry has agreed with the participant; no list is published (G8).',
          }),
        ),
        ref_uri: Type.Optional(Type.String({ format: 'uri' })),
      }),
    ),
    consent_jws: Type.Optional(
      Type.String({
        description:
          'The consent as its authority signed it: a compact JWS of type consent+jwt, whose payload is ConsentClaims (G8).',
      }),
    ),
  },
  { title: 'Consent', description: 'Consent or authority under which is asked (spec "SearchRequest", G8).' },
)
export type Consent = Static<typeof Consent>

/** The header member `typ` of a signed consent. */
export const CONSENT_TYPE = 'consent+jwt'

/** The time 9999-12-31T23:59:59Z, in seconds since 1970. No time of a consent is later. */
const MAX_CONSENT_TIME_SECONDS = 253_402_300_799

/** The content of `consent_jws`, which a consent authority signs. Times are in seconds since 1970. */
export const ConsentClaims = Type.Object(
  {
    iss: Type.String({ minLength: 1, description: 'The consent authority, by its registered name.' }),
    aud: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 20 })], {
      description: 'sender_id of the registry, or of each of several.',
    }),
    azp: Type.Optional(
      Type.String({ description: 'sender_id of the participant that may use it; without it, the first that does.' }),
    ),
    subject: Type.Object(
      { identifier_type: Type.String(), identifier_value: Type.String() },
      { description: 'An identifier of the person who consents: the one that is asked for.' },
    ),
    purpose: Type.Object({
      code: Type.String({ description: 'As in Consent.' }),
      text: Type.Optional(Type.String()),
      ref_uri: Type.Optional(Type.String({ format: 'uri' })),
    }),
    attributes: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 200,
      description: 'What may be shown: attributes, identifier, or members of the record by their paths.',
    }),
    iat: Type.Integer({ minimum: 0, maximum: MAX_CONSENT_TIME_SECONDS, description: 'When the person consented.' }),
    exp: Type.Integer({ minimum: 0, maximum: MAX_CONSENT_TIME_SECONDS, description: 'From when on it does not count.' }),
    nbf: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_CONSENT_TIME_SECONDS,
        description: 'Before when it does not count; without it, it counts at once.',
      }),
    ),
    jti: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Names this consent among those of its authority, to withdraw it.',
    }),
  },
  { title: 'ConsentClaims', description: 'The payload of a signed consent (G8).' },
)
export type ConsentClaims = Static<typeof ConsentClaims>
