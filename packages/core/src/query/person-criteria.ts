/**
 * Reads the criteria of a question about one person, in every published form (spec "EnrolledRequest", D10; public
 * standard 2.7). They are read like the query of a search. They must then name one person, and may name one programme
 * where the question allows it.
 */
import {
  identifierValue,
  isJsonObject,
  type JsonValue,
  type Kind,
  type RecordType,
  resolveIdentifierType,
  UNLISTED,
} from '@rollcall/protocol'
import type { Predicate } from '../model/predicate.ts'
import type { Identifier } from '../model/records.ts'
import {
  type Criteria,
  type CriteriaRules,
  checkCommonMembers,
  checkConsent,
  checkEventType,
  criteriaRejection,
  readQueryOrReject,
  readRecordType,
} from './criteria.ts'
import type { QueryLimits } from './query.ts'
import { readFilter } from './read-query.ts'

/** How a message asks about one person: the member that has the criteria, and what the criteria may contain. */
export interface PersonQuestion {
  /** The member of the message that has the criteria. */
  readonly name: 'enrolled_criteria' | 'disabled_criteria'
  /** True when the query may also name a programme. */
  readonly programme: boolean
  /** True when the criteria may have `reg_event_type`, as those of a search may. */
  readonly event_type?: boolean
}

/** The person, and the programme, that a question names. */
export interface PersonAndProgramme {
  readonly recordType: RecordType
  /** The identifier of the person. If the query gives a value without a type: one for each type that allows the value. */
  readonly identifiers: readonly Identifier[]
  /** The identifier as the query writes it; normalised when the query is a text. */
  readonly person: string
  /** The normalised identifier of the programme; null for any programme. */
  readonly programme: string | null
}

const PERSON_CRITERIA_MEMBERS = [
  ...['version', 'reg_type', 'reg_record_type', 'response_entity', 'query_type', 'query'],
  ...['consent', 'authorize'],
]
/** The attribute by which a query names a programme. */
export const PROGRAMME_ATTRIBUTE = 'programme_identifier'

/**
 * Reads the criteria completely, or refuses them.
 * @param criteria an object with a `query`; the schema of the message was checked
 * @throws ItemRejection rjct.search_criteria.invalid, rjct.filter.invalid
 */
export function readPersonCriteria(
  kind: Kind,
  question: PersonQuestion,
  criteria: Criteria,
  limits: QueryLimits,
): PersonAndProgramme {
  const members = question.event_type ? [...PERSON_CRITERIA_MEMBERS, 'reg_event_type'] : PERSON_CRITERIA_MEMBERS
  const rules: CriteriaRules = { name: question.name, code: 'rjct.search_criteria.invalid', members, filter: 'query' }
  checkCommonMembers(rules, kind, criteria)
  const unknown = Object.keys(criteria).find((member) => !members.includes(member))
  if (unknown !== undefined) throw criteriaRejection(rules, unknown, `is not known; known are ${members.join(', ')}`)
  checkEventType(rules, kind, criteria)
  checkConsent(rules, criteria, 'consent')
  checkConsent(rules, criteria, 'authorize')
  const named =
    readRecordType(rules, kind, criteria, 'response_entity') ?? readRecordType(rules, kind, criteria, 'reg_record_type')
  const { predicate, recordType, shape } = readQueryOrReject(rules, () =>
    readFilter({ kind, recordType: named, limits }, criteria.query_type, criteria.query, `${rules.name}.query`),
  )
  const conditions = conditionsJoinedByAnd(predicate)
  const persons = conditions.flatMap((one) => (one.is === 'identifier' ? [one.identifiers] : []))
  const programmes = conditions.flatMap(programmesInCondition)
  const [identifiers] = persons
  const understood =
    persons.length === 1 &&
    programmes.length <= (question.programme ? 1 : 0) &&
    persons.length + programmes.length === conditions.length
  if (identifiers === undefined || !understood || shape !== undefined || !mayComeFromOneQueryValue(kind, identifiers)) {
    const also = question.programme ? `, and may name one programme by ${PROGRAMME_ATTRIBUTE}` : ''
    throw criteriaRejection(rules, 'query', `must name one person by one identifier with eq${also}, and nothing else`)
  }
  const query = criteria.query as JsonValue
  return {
    recordType,
    identifiers,
    // The identifier as the query writes it. It is not found when the query is a text such as GraphQL: then the normalised value.
    person: findIdentifierInQuery(kind, query, identifiers) ?? identifiers[0]?.value ?? '',
    programme: programmes[0] ?? null,
  }
}

const conditionsJoinedByAnd = (predicate: Predicate): readonly Predicate[] =>
  predicate.is === 'and' ? predicate.of.flatMap(conditionsJoinedByAnd) : [predicate]

/** The programme that a condition demands with `eq`, as a list of one; empty for any other condition. */
function programmesInCondition(condition: Predicate): string[] {
  if (condition.is !== 'some') return []
  const { of } = condition
  const isProgramme = of.is === 'compare' && of.operator === 'eq' && of.attribute.name === PROGRAMME_ATTRIBUTE
  return isProgramme && typeof of.value === 'string' ? [of.value] : []
}

/**
 * True when all identifiers may come from one value of the query, which each identifier type normalises in its own way. False
 * when the query gave two different values.
 */
export const mayComeFromOneQueryValue = (kind: Kind, identifiers: readonly Identifier[]): boolean =>
  identifiers.some(({ value }) => identifiers.every((one) => isIdentifierFromValue(kind, one, value)))

/** True when `raw`, the value in the query, gives the identifier's value by the rules of its type. */
const isIdentifierFromValue = (kind: Kind, { type, value }: Identifier, raw: JsonValue): boolean =>
  identifierValue(resolveIdentifierType(kind, type) ?? UNLISTED, raw) === value

/** Finds the identifier as the query writes it, which names the item in the answer; undefined when not found. */
function findIdentifierInQuery(kind: Kind, query: JsonValue, identifiers: readonly Identifier[]): string | undefined {
  if (typeof query !== 'object' || query === null) {
    return identifiers.some((one) => isIdentifierFromValue(kind, one, query)) ? String(query) : undefined
  }
  const parts = isJsonObject(query) ? Object.values(query) : query
  for (const part of parts) {
    const found = findIdentifierInQuery(kind, part, identifiers)
    if (found !== undefined) return found
  }
  return undefined
}
