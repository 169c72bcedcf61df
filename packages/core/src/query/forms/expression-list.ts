/** Reads an expression list, also called predicate (spec "Query forms" 3), or one comparison (D10). */
import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import type { Comparator, Predicate } from '../../model/predicate.ts'
import { QueryProblem } from '../query.ts'
import { joinByAnd, joinByOr, negate, predicateOnRecord, readConditionsOfObject, type UnreadCondition } from './combine.ts'
import { makeUnreadCondition } from './expression.ts'
import { conditionSubjectOf } from './leaves.ts'
import { operatorOf } from './operators.ts'
import { joinPathStep, type QueryReader, RECORD_NAME_SCOPE, resolveQueryName, unknownNameProblem } from './reader.ts'

const ELEMENT_MEMBERS = ['seq_num', 'expression1', 'condition', 'expression2']
const COMPARISON_MEMBERS = ['attribute_name', 'operator', 'attribute_value']
const NUMBER_PATTERN = /^-?\d{1,15}(?:\.\d{1,15})?$/

/**
 * Reads the elements in the order of seq_num; elements without seq_num come last. All elements must hold. @throws QueryProblem
 */
export function readExpressionList(reader: QueryReader, value: JsonValue, path: string): Predicate {
  const elements: readonly JsonValue[] = Array.isArray(value) ? value : [value].filter(isJsonObject)
  if (elements.length === 0) throw new QueryProblem(path, 'must be an array of {expression1, ...}, with at least one')
  reader.room(elements.length, path)
  const read = elements.map((element, index) =>
    readExpressionElement(reader, element, Array.isArray(value) ? joinPathStep(path, index) : path),
  )
  const ordered = read.toSorted((a, b) => (a.seq_num === b.seq_num ? 0 : a.seq_num - b.seq_num))
  return joinByAnd(ordered.map(({ predicate }) => predicate))
}

/** Joins two conditions of an expression into one predicate, for example by `and`. */
type JoinConditions = (first: UnreadCondition, second: UnreadCondition) => Predicate

const CONDITION_JOINER_BY_WORD: ReadonlyMap<string, JoinConditions> = new Map<string, JoinConditions>([
  [
    'and',
    (first, second) =>
      isSameAttribute(first, second)
        ? joinAttributeConditions(first, second)
        : predicateOnRecord(readConditionsOfObject([first, second])),
  ],
  ['or', (first, second) => joinByOr([predicateOfCondition(first), predicateOfCondition(second)])],
  ['not', (first, second) => joinByAnd([predicateOfCondition(first), negate(predicateOfCondition(second))])],
])

function predicateOfCondition(asked: UnreadCondition): Predicate {
  return predicateOnRecord(readConditionsOfObject([asked]))
}

/**
 * Combines two conditions on one attribute, which may be a list of values. Two bounds (such as `gt` and `lt`) are a range: one
 * value of the list must fulfil both. Any other two conditions may be true for different values: a record with the programmes A
 * and B fulfils both "is A" and "is B".
 */
function joinAttributeConditions(first: UnreadCondition, second: UnreadCondition): Predicate {
  const conditions = readConditionsOfObject([first, second])
  if (conditions.every(({ of }) => isOrderComparison(of))) return predicateOnRecord(conditions)
  return joinByAnd(conditions.map((condition) => predicateOnRecord([condition])))
}

const isOrderComparison = (of: Predicate): boolean => of.is === 'compare' && ORDER_COMPARATORS.includes(of.operator)
const ORDER_COMPARATORS: readonly Comparator[] = ['gt', 'ge', 'lt', 'le']

function isSameAttribute({ about: first }: UnreadCondition, { about: second }: UnreadCondition): boolean {
  if (first === undefined || second === undefined) return false
  return 'attribute' in first && 'attribute' in second && first.attribute === second.attribute
}

function readExpressionElement(
  reader: QueryReader,
  element: JsonValue,
  path: string,
): { readonly seq_num: number; readonly predicate: Predicate } {
  if (!isJsonObject(element)) throw new QueryProblem(path, 'must be an object {seq_num, expression1, condition, expression2}')
  checkMembersKnown(element, ELEMENT_MEMBERS, path)
  const seq_num = readSequenceNumber(findGivenValue(element, 'seq_num'), joinPathStep(path, 'seq_num'))
  const first = makeUnreadComparison(reader, findGivenValue(element, 'expression1'), joinPathStep(path, 'expression1'))
  const condition = findGivenValue(element, 'condition')
  const second = findGivenValue(element, 'expression2')
  if (condition === undefined && second === undefined) return { seq_num, predicate: predicateOfCondition(first) }
  if (second === undefined) throw new QueryProblem(joinPathStep(path, 'expression2'), 'must be given where a condition is')
  const join = typeof condition === 'string' ? CONDITION_JOINER_BY_WORD.get(condition.toLowerCase()) : undefined
  if (join === undefined) {
    const names = [...CONDITION_JOINER_BY_WORD.keys()].join(', ')
    throw new QueryProblem(joinPathStep(path, 'condition'), `must be one of ${names} where expression2 is given`)
  }
  return { seq_num, predicate: join(first, makeUnreadComparison(reader, second, joinPathStep(path, 'expression2'))) }
}

/** The value of a member; undefined when it is missing, "" or null, which all mean: not given (D33). */
function findGivenValue(object: JsonObject, member: string): JsonValue | undefined {
  const value = Object.hasOwn(object, member) ? object[member] : undefined
  return value === '' || value === null ? undefined : value
}

function checkMembersKnown(object: JsonObject, known: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((member) => !known.includes(member))
  if (unknown !== undefined)
    throw new QueryProblem(joinPathStep(path, unknown), `is not a known member; known members are ${known.join(', ')}`)
}

function readSequenceNumber(seq_num: JsonValue | undefined, path: string): number {
  if (seq_num === undefined) return Number.POSITIVE_INFINITY
  const isNumber = typeof seq_num === 'string' ? NUMBER_PATTERN.test(seq_num) : typeof seq_num === 'number'
  const number = isNumber ? Number(seq_num) : Number.NaN
  if (Number.isFinite(number)) return number
  throw new QueryProblem(path, 'must be a number')
}

/** Reads {attribute_name, operator, attribute_value} as a whole query (D10). */
export function readComparison(reader: QueryReader, value: JsonValue, path: string): Predicate {
  return predicateOfCondition(makeUnreadComparison(reader, value, path))
}

/** Checks the members, and makes a condition that is read later. */
function makeUnreadComparison(reader: QueryReader, value: JsonValue | undefined, path: string): UnreadCondition {
  if (!isJsonObject(value)) throw new QueryProblem(path, `must be an object {${COMPARISON_MEMBERS.join(', ')}}`)
  checkMembersKnown(value, COMPARISON_MEMBERS, path)
  const name = findGivenValue(value, 'attribute_name')
  const memberPath = joinPathStep(path, 'attribute_name')
  const about = typeof name === 'string' ? resolveQueryName(reader, RECORD_NAME_SCOPE, name) : undefined
  if (about === undefined) throw unknownNameProblem(reader, RECORD_NAME_SCOPE, memberPath, name)
  if (about.is === 'compound') {
    throw unknownNameProblem(reader, { prefix: '', compound: about.compound }, memberPath, undefined)
  }
  const raw = Object.hasOwn(value, 'attribute_value') ? value.attribute_value : null
  const valuePlace = joinPathStep(path, 'attribute_value')
  reader.term(path)
  return makeUnreadCondition(about, memberPath, (leaf) => {
    const subject = conditionSubjectOf(reader, leaf)
    const operator = operatorOf(subject, findGivenValue(value, 'operator') ?? null, joinPathStep(path, 'operator'), '')
    return { list: subject.list, of: operator.make(subject, raw ?? null, valuePlace, reader) }
  })
}
