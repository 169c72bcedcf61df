/** Reads the criteria of a subscribe item completely, or refuses them (spec "SubscribeRequest", N3). */

import {
  canonicalJson,
  type EventType,
  ItemRejection,
  isJsonObject,
  type JsonObject,
  type Kind,
  type RecordType,
  resolveEventType,
  SubscribeCriteria as SubscribeCriteriaSchema,
} from '@rollcall/protocol'
import type { SubscriptionConsent } from '../model/consent.ts'
import { sha256 } from '../model/digests.ts'
import type { Frequency } from '../model/event.ts'
import type { QueryForm } from '../model/grant.ts'
import type { Predicate } from '../model/predicate.ts'
import type { Registry } from '../model/registry.ts'
import { reduceIdentifierTypes } from '../policy/asked-kind.ts'
import { canonicalPredicate } from '../query/canonical-predicate.ts'
import {
  type Criteria,
  type CriteriaRules,
  checkCommonMembers,
  checkConsent,
  criteriaRejection,
  readRecordType,
} from '../query/criteria.ts'
import { IdentifierProblem, type QueryLimits, QueryProblem } from '../query/query.ts'
import { queryFormOf, readFilter } from '../query/read-query.ts'
import { readFrequency } from './frequency.ts'

/** The criteria of a subscribe item, read and checked. */
export interface SubscribeCriteria {
  readonly eventType: EventType
  /** The type of the records that are filtered and sent. */
  readonly recordType: RecordType
  /** The condition that records must fulfil; null when there is no filter. */
  readonly predicate: Predicate | null
  /** The form of the query in the filter; null when there is no filter. */
  readonly form: QueryForm | null
  /** The times at which notifications are sent; null for at once. */
  readonly frequency: Frequency | null
  /** The time at which the subscription ends; null when it has no end. */
  readonly end_at: Date | null
  /**
   * The verified consent for the subscription; null when the grant needs no consent. `readSubscribeCriteria` leaves it null: the
   * consent is verified later.
   */
  readonly consent: SubscriptionConsent | null
  /** True when the filter has one identifier that every matching record has: the subscription is about one person. */
  readonly person: boolean
  /** A digest of 32 bytes. Equal for criteria with equal filter, schedule and start; the end is not included. */
  readonly fingerprint: Uint8Array
  /** The canonical text of the criteria, without the signed consent; `readStoredCriteria` reads it. */
  readonly text: string
  /** The members that the answer repeats. */
  readonly echo: JsonObject
}

/** How `subscribe_criteria` are read: their members, and the code with which wrong ones are refused. */
const SUBSCRIBE_CRITERIA_RULES: CriteriaRules = {
  name: 'subscribe_criteria',
  code: 'rjct.notify_details.invalid',
  members: Object.keys(SubscribeCriteriaSchema.properties),
  filter: 'filter',
}

/** The rules for `reg_event_type` and `notify_record_type`, which are refused with `rjct.notify_types.invalid`. */
const EVENT_AND_RECORD_TYPE_RULES: CriteriaRules = { ...SUBSCRIBE_CRITERIA_RULES, code: 'rjct.notify_types.invalid' }

/** The members of the criteria that an answer repeats. */
const ECHOED_MEMBERS = [...['version', 'reg_type', 'reg_event_type', 'frequency', 'filter_type', 'filter'], 'notify_record_type']

/**
 * Reads the subscribe_criteria of one item. A signed consent in them is verified elsewhere.
 * @throws ItemRejection rjct.notify_types.invalid, rjct.notify_details.invalid, rjct.person_id.invalid
 */
export function readSubscribeCriteria(
  { kind, time_zone }: Pick<Registry, 'kind' | 'time_zone'>,
  criteria: unknown,
  limits: QueryLimits,
  now: Date,
): SubscribeCriteria {
  if (!isJsonObject(criteria)) throw criteriaRejection(SUBSCRIBE_CRITERIA_RULES, '', 'must be an object')
  checkCommonMembers(SUBSCRIBE_CRITERIA_RULES, kind, criteria)
  const eventType = readEventType(kind, criteria)
  const recordType = readNotifyRecordType(kind, criteria)
  const { predicate, form } = readCriteriaFilter(kind, recordType, criteria, limits)
  const { frequency: given } = criteria
  const frequency = given === undefined ? null : readFrequency(given, { time_zone, now })
  checkConsent(SUBSCRIBE_CRITERIA_RULES, criteria, 'authorize')
  return {
    eventType,
    recordType,
    predicate,
    form,
    frequency,
    end_at: frequency?.end_at ?? null,
    consent: null,
    person: predicate !== null && isForOneIdentifier(predicate),
    fingerprint: fingerprintOfFilterAndSchedule(predicate, frequency),
    text: canonicalJson(criteriaToStore(kind, criteria)),
    echo: Object.fromEntries(
      ECHOED_MEMBERS.flatMap((member) => {
        const value = criteria[member]
        return value === undefined ? [] : [[member, value]]
      }),
    ),
  }
}

/**
 * The criteria to store. The signed consent is left out: only its content is stored, with the subscription. If the grant allows
 * some identifier types only, their names are added: an identifier without a type in the filter may have these types only.
 */
function criteriaToStore({ identifier_types, unlisted_identifiers }: Kind, criteria: JsonObject): object {
  const { consent_jws: _, ...authorize } = isJsonObject(criteria.authorize) ? criteria.authorize : {}
  return {
    ...criteria,
    ...(criteria.authorize !== undefined && { authorize }),
    // Undefined removes a member `granted_identifier_types` that the sender wrote.
    granted_identifier_types: unlisted_identifiers === false ? identifier_types.map(({ name }) => name) : undefined,
  }
}

/** For each kind, its results of `withGrantedTypes`. The inner key is the granted type names, with commas between them. */
const kindsWithGrantedTypes = new WeakMap<Kind, Map<string, Kind>>()

/** Returns the kind with only the identifier types that the stored criteria name. Without names it returns the kind. */
function withGrantedTypes(kind: Kind, { granted_identifier_types: names }: Criteria): Kind {
  if (!Array.isArray(names)) return kind
  const ofKind = kindsWithGrantedTypes.get(kind) ?? new Map<string, Kind>()
  const known = ofKind.get(names.join())
  if (known !== undefined) return known
  const narrowed = reduceIdentifierTypes(kind, new Set(names))
  kindsWithGrantedTypes.set(kind, ofKind.set(names.join(), narrowed))
  return narrowed
}

function readEventType(kind: Kind, { reg_event_type: spelling }: Criteria): EventType {
  const found = typeof spelling === 'string' ? resolveEventType(kind, spelling) : undefined
  if (found !== undefined) return found
  const known = kind.event_types.map(({ name }) => name)
  const rule = known.length === 0 ? 'no event type can be named here' : `must be one of ${known.join(', ')}`
  throw criteriaRejection(EVENT_AND_RECORD_TYPE_RULES, 'reg_event_type', rule)
}

function readNotifyRecordType(kind: Kind, criteria: Criteria): RecordType {
  const found = readRecordType(EVENT_AND_RECORD_TYPE_RULES, kind, criteria, 'notify_record_type')
  if (found !== undefined) return found
  const known = kind.record_types.map(({ emitted }) => emitted).join(', ')
  throw criteriaRejection(EVENT_AND_RECORD_TYPE_RULES, 'notify_record_type', `must be one of ${known}`)
}

type CriteriaFilter = Pick<SubscribeCriteria, 'predicate' | 'form'>

/** Reads the filter. Whether the grant requires a filter is checked later. */
function readCriteriaFilter(
  kind: Kind,
  recordType: RecordType,
  { filter_type, filter }: Criteria,
  limits: QueryLimits,
): CriteriaFilter {
  if (filter === undefined && filter_type === undefined) return { predicate: null, form: null }
  try {
    const scope = { kind, recordType, limits, anyCollection: true } as const
    const query = readFilter(scope, filter_type, filter, `${SUBSCRIBE_CRITERIA_RULES.name}.filter`)
    return { predicate: query.predicate, form: queryFormOf(filter_type, query) }
  } catch (error) {
    if (error instanceof IdentifierProblem) {
      throw new ItemRejection('rjct.person_id.invalid', error.message)
    }
    if (error instanceof QueryProblem) throw new ItemRejection(SUBSCRIBE_CRITERIA_RULES.code, error.message)
    throw error
  }
}

/** The limits for a stored filter: the widest that an operator of an earlier version could set. */
const STORED_FILTER_LIMITS: QueryLimits = { query_depth: 200, query_terms: 10_000, query_values: 30_000 }

/**
 * Reads the types and the filter of stored criteria, `SubscribeCriteria.text`.
 * @throws ItemRejection the criteria name something that the kind has no more, or that the grant does not include
 */
export function readStoredCriteria(
  whole: Kind,
  text: string,
): Pick<SubscribeCriteria, 'eventType' | 'recordType' | keyof CriteriaFilter> {
  const criteria = JSON.parse(text) as Criteria
  const kind = withGrantedTypes(whole, criteria)
  const recordType = readNotifyRecordType(kind, criteria)
  return {
    eventType: readEventType(kind, criteria),
    recordType,
    ...readCriteriaFilter(kind, recordType, criteria, STORED_FILTER_LIMITS),
  }
}

/** True when every record that satisfies the predicate has one and the same identifier. */
function isForOneIdentifier(predicate: Predicate): boolean {
  if (predicate.is === 'and') return predicate.of.some(isForOneIdentifier)
  return predicate.is === 'identifier' && predicate.identifiers.length === 1
}

/** The digest of the filter, the schedule and its start. Participant, registry and types are stored beside the digest. */
function fingerprintOfFilterAndSchedule(predicate: Predicate | null, frequency: Frequency | null): Uint8Array {
  const asked = {
    filter: predicate === null ? null : canonicalPredicate(predicate),
    frequency: frequency === null ? null : [frequency.cron, frequency.start_at.toISOString()],
  }
  return sha256(canonicalJson(asked))
}
