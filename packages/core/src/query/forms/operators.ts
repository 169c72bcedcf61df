/** The operators of all forms: for each, its spellings, the types that it allows, and the predicate that it makes. */
import type { JsonValue } from '@rollcall/protocol'
import type { Predicate } from '../../model/predicate.ts'
import { QueryProblem } from '../query.ts'
import { negate } from './combine.ts'
import type { ConditionSubject, ConditionSubjectType } from './leaves.ts'
import type { QueryReader } from './reader.ts'

export interface QueryOperator {
  /** The name of the operator in refusals; in an expression it begins with `$`. */
  readonly name: string
  /** The spellings of the operator that queries may use, in lower case, without `$`. */
  readonly spellings: readonly string[]
  /** The types of attributes or identifiers that the operator may compare. */
  readonly asks: readonly ConditionSubjectType[]
  readonly make: (subject: ConditionSubject, value: JsonValue, path: string, reader: QueryReader) => Predicate
}

const ORDERED_SUBJECT_TYPES: readonly ConditionSubjectType[] = ['text', 'date', 'datetime', 'number', 'age']
const ALL_SUBJECT_TYPES: readonly ConditionSubjectType[] = [...ORDERED_SUBJECT_TYPES, 'code', 'boolean', 'identifier']

export const EQUALS_OPERATOR: QueryOperator = {
  name: 'eq',
  spellings: ['eq', '='],
  asks: ALL_SUBJECT_TYPES,
  make: (subject, value, path) => subject.compare('eq', value, path),
}

export const OPERATORS: readonly QueryOperator[] = [
  EQUALS_OPERATOR,
  {
    name: 'ne',
    spellings: ['ne', 'neq'],
    asks: ALL_SUBJECT_TYPES,
    make: (subject, value, path) => negate(subject.compare('eq', value, path)),
  },
  makeOrderOperator('gt', 'gt'),
  makeOrderOperator('gte', 'ge'),
  makeOrderOperator('lt', 'lt'),
  makeOrderOperator('lte', 'le'),
  {
    name: 'in',
    spellings: ['in'],
    asks: ALL_SUBJECT_TYPES,
    make: (subject, value, path, reader) => readInPredicate(subject, value, path, reader),
  },
  {
    name: 'nin',
    spellings: ['nin'],
    asks: ALL_SUBJECT_TYPES,
    make: (subject, value, path, reader) => negate(readInPredicate(subject, value, path, reader)),
  },
  {
    name: 'exists',
    spellings: ['exists'],
    asks: ALL_SUBJECT_TYPES,
    make: (subject, value, path) => (readExistsValue(value, path) ? subject.exists : negate(subject.exists)),
  },
  {
    name: 'startsWith',
    spellings: ['startswith', 'starts_with'],
    asks: ['text'],
    make: (subject, value, path) => subject.compare('starts_with', value, path),
  },
  {
    name: 'contains',
    spellings: ['contains'],
    asks: ['text'],
    make: (subject, value, path) => subject.compare('contains', value, path),
  },
]

function makeOrderOperator(name: string, comparator: 'gt' | 'ge' | 'lt' | 'le'): QueryOperator {
  return {
    name,
    spellings: [...new Set([name, comparator])],
    asks: ORDERED_SUBJECT_TYPES,
    make: (subject, value, path) => subject.compare(comparator, value, path),
  }
}

/** Reads the values for `in`: an array, or a text with commas, because the specification's values cannot be arrays. */
function readInPredicate(subject: ConditionSubject, value: JsonValue, path: string, reader: QueryReader): Predicate {
  if (!Array.isArray(value)) {
    const values = typeof value === 'string' ? splitAtCommas(value, path, reader.limits.query_values) : [value]
    reader.values(values.length, path)
    return subject.among(values.map((each) => ({ value: each, path })))
  }
  if (value.length === 0) throw new QueryProblem(path, 'must have at least one value')
  reader.values(value.length, path)
  return subject.among(value.map((each, index) => ({ value: each, path: `${path}[${index}]` })))
}

/** Splits a text at commas. @param limit the largest number of values in a query; at most one more is returned */
function splitAtCommas(text: string, path: string, limit: number): readonly string[] {
  if (!text.includes(',')) return [text]
  const values = text.split(',', limit + 1).map((value) => value.trim())
  if (values.includes('')) {
    throw new QueryProblem(path, 'must be values with commas between them, none of them empty')
  }
  return values
}

const BOOLEAN_BY_SPELLING: ReadonlyMap<JsonValue, boolean> = new Map<JsonValue, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
])

/** Reads the value of `exists`: true or false, which may be written as text. @throws QueryProblem */
export function readExistsValue(value: JsonValue, path: string): boolean {
  const exists = BOOLEAN_BY_SPELLING.get(typeof value === 'string' ? value.toLowerCase() : value)
  if (exists === undefined) throw new QueryProblem(path, 'must be true or false')
  return exists
}

const OPERATOR_BY_SPELLING: ReadonlyMap<string, QueryOperator> = new Map(
  OPERATORS.flatMap((operator) => operator.spellings.map((spelling) => [spelling, operator])),
)

/** The spelling of an operator without `$`, in lower case, cut to 32 characters. */
export function normaliseOperatorSpelling(spelling: string): string {
  return spelling.slice(0, 32).replace(/^\$/, '').toLowerCase()
}

/** The operator with this spelling, with or without `$`; undefined when there is none. */
export function resolveOperator(spelling: string): QueryOperator | undefined {
  return OPERATOR_BY_SPELLING.get(normaliseOperatorSpelling(spelling))
}

/**
 * The operator with this spelling.
 * @param shown the character that the message writes before the names of operators: `$` in an expression
 * @throws QueryProblem there is no operator with this spelling, or the subject does not allow it
 */
export function operatorOf(subject: ConditionSubject, spelling: JsonValue, path: string, shown: '$' | ''): QueryOperator {
  const operator = typeof spelling === 'string' ? resolveOperator(spelling) : undefined
  if (operator?.asks.includes(subject.type)) return operator
  const names = OPERATORS.filter(({ asks }) => asks.includes(subject.type)).map(({ name }) => `${shown}${name}`)
  throw new QueryProblem(path, `must be an operator of ${subject.name}: ${names.join(', ')}`)
}
