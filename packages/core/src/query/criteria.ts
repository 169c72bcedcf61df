/**
 * Reads the members that the criteria of searches, subscriptions and questions about one person have in common. Unknown
 * members that look like a filter or like a misspelt member are refused.
 */
import {
  Consent,
  type ItemCode,
  ItemRejection,
  isRegType,
  isSearchEventType,
  isSpokenVersion,
  type Kind,
  REG_TYPE_PREFIX,
  type RecordType,
  resolveRecordType,
  validator,
} from '@rollcall/protocol'
import { findMisspeltMember } from './near-names.ts'
import { type Query, QueryProblem, QueryTextProblem } from './query.ts'

/** The criteria of an item as the message has them, before they are read. */
export interface Criteria {
  readonly [member: string]: unknown
}

/** The rules by which the criteria of one sort of item are read. */
export interface CriteriaRules {
  /** The member of the message that has the criteria. */
  readonly name: 'search_criteria' | 'subscribe_criteria' | 'enrolled_criteria' | 'disabled_criteria'
  /** The code with which a member of the criteria is refused. */
  readonly code: ItemCode
  /** The names of the members that the schema of the criteria has. */
  readonly members: readonly string[]
  /** The member of the criteria that contains the query. */
  readonly filter: 'query' | 'filter'
}

/** Makes the refusal of a member of the criteria; '' for the criteria as a whole. */
export const criteriaRejection = ({ name, code }: CriteriaRules, member: string, rule: string): ItemRejection =>
  new ItemRejection(code, `${name}${member === '' ? '' : `.${member}`}: ${rule}`)

/** Names that other systems give to filters. An unknown member with such a name is refused. */
const OTHER_FILTER_NAMES = [
  ...['query', 'filter', 'filters', 'where', 'criteria', 'condition', 'conditions', 'expression'],
  ...['expressions', 'predicate', 'predicates', 'identifier', 'identifiers'],
]

/**
 * Checks what all criteria have in common: the names of the members, the version and the reg_type. Refuses members that
 * look like a filter or a misspelt member: to ignore them would find more than was asked for.
 * @returns the reg_type as written; when it is missing, the one of the kind
 * @throws ItemRejection
 */
export function checkCommonMembers(rules: CriteriaRules, kind: Kind, criteria: Criteria): string {
  const { name, members, filter } = rules
  const other = Object.keys(criteria).find((member) => member !== filter && OTHER_FILTER_NAMES.includes(member.toLowerCase()))
  if (other !== undefined) {
    throw criteriaRejection(rules, other, `is not read; write the query into ${name}.${filter}`)
  }
  const found = findMisspeltMember(criteria, members)
  if (found !== undefined) throw criteriaRejection(rules, found.member, `is not known; ${found.meant} may be meant`)
  const { version, reg_type } = criteria
  if (version !== undefined && (typeof version !== 'string' || !isSpokenVersion(version))) {
    throw criteriaRejection(rules, 'version', 'must be 1.0.0')
  }
  const own = `${REG_TYPE_PREFIX}${kind.reg_type.name}`
  if (reg_type === undefined) return own
  if (typeof reg_type === 'string' && isRegType(kind, reg_type)) return reg_type
  throw criteriaRejection(rules, 'reg_type', `this registry is ${own}`)
}

/** Checks the event type. It filters nothing, because the query is for records, not events. @throws ItemRejection */
export function checkEventType(rules: CriteriaRules, kind: Kind, { reg_event_type }: Criteria): void {
  if (reg_event_type === undefined) return
  if (typeof reg_event_type === 'string' && isSearchEventType(kind, reg_event_type)) return
  const known = [...kind.event_types.map(({ name }) => name), ...(kind.search_event_types ?? [])]
  const rule = known.length === 0 ? 'no event type can be named here' : `must be one of ${known.join(', ')}`
  throw criteriaRejection(rules, 'reg_event_type', rule)
}

/** Reads a member that names a record type; undefined when it is missing. @throws ItemRejection */
export function readRecordType(rules: CriteriaRules, kind: Kind, criteria: Criteria, member: string): RecordType | undefined {
  const spelling = criteria[member]
  if (spelling === undefined) return undefined
  const recordType = typeof spelling === 'string' ? resolveRecordType(kind, spelling) : undefined
  if (recordType !== undefined) return recordType
  const known = kind.record_types.map(({ emitted }) => emitted).join(', ')
  throw criteriaRejection(rules, member, `must be one of ${known}`)
}

/** Reads a query. @throws ItemRejection rjct.filter.invalid for a text that cannot be parsed, else the code of the criteria */
export function readQueryOrReject({ code }: CriteriaRules, read: () => Query): Query {
  try {
    return read()
  } catch (error) {
    if (error instanceof QueryTextProblem) throw new ItemRejection('rjct.filter.invalid', error.message)
    if (error instanceof QueryProblem) throw new ItemRejection(code, error.message)
    throw error
  }
}

const consentValidator = validator(Consent)

/** Checks the schema of a consent member, not its content. @throws ItemRejection */
export function checkConsent(rules: CriteriaRules, criteria: Criteria, member: string): void {
  if (criteria[member] === undefined) return
  const problem = consentValidator.problem(criteria[member], `${rules.name}.${member}`)
  if (problem !== null) throw new ItemRejection(rules.code, problem)
}
