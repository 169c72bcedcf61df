/**
 * Reads conditions that are JSON objects of names and operators: expressions, GraphQL arguments, and the queries of questions
 * about one person, such as `enrolled_criteria` (spec "Query forms" 1; D10).
 */

import { isJsonObject, type JsonObject, type JsonValue, type Searchable } from '@rollcall/protocol'
import type { Predicate } from '../../model/predicate.ts'
import { QueryProblem } from '../query.ts'
import {
  type Condition,
  isAboutIdentifiers,
  joinByAnd,
  joinByOr,
  negate,
  predicateOnElement,
  predicateOnRecord,
  readConditionsOfObject,
  type SearchableIdentifiers,
  type StatedIdentifierTypes,
  type UnreadCondition,
} from './combine.ts'
import { type ConditionSubject, conditionSubjectOf, type SearchableLeaf } from './leaves.ts'
import { EQUALS_OPERATOR, normaliseOperatorSpelling, operatorOf, readExistsValue, resolveOperator } from './operators.ts'
import {
  joinPathStep,
  type QueryNameScope,
  type QueryReader,
  RECORD_NAME_SCOPE,
  resolveQueryName,
  unknownNameProblem,
} from './reader.ts'

/**
 * Reads an object of conditions, such as `{ sex: "F", birth_date: { $lt: "1985" } }`. All must hold; conditions on
 * members of one compound must hold for the same element.
 * @throws QueryProblem
 */
export function readExpression(reader: QueryReader, value: JsonValue, path: string): Predicate {
  return readConditionObject(reader, value, path, RECORD_NAME_SCOPE)
}

/** Reads an object of conditions. `names` says whether they are on the record or on an element of a compound. */
function readConditionObject(
  reader: QueryReader,
  value: JsonValue,
  path: string,
  names: QueryNameScope,
  said?: StatedIdentifierTypes,
): Predicate {
  const conditions = reader.within(path, () =>
    readConditionsOfObject(collectUnreadConditions(reader, value, path, names), undefined, said),
  )
  return names.compound === undefined ? predicateOnRecord(conditions) : predicateOnElement(conditions)
}

function collectUnreadConditions(
  reader: QueryReader,
  value: JsonValue,
  path: string,
  names: QueryNameScope,
): readonly UnreadCondition[] {
  return readObjectMembers(reader, value, path, 'conditions').flatMap(([key, raw]) =>
    unreadConditionsOfMember(reader, key, raw, joinPathStep(path, key), names),
  )
}

function readObjectMembers(
  reader: QueryReader,
  value: JsonValue,
  path: string,
  of: 'conditions' | 'operators',
): readonly (readonly [string, JsonValue])[] {
  if (!isJsonObject(value)) throw new QueryProblem(path, `must be an object of ${of}`)
  const members = Object.entries(value)
  if (members.length === 0) throw new QueryProblem(path, `must be an object of ${of}, with at least one`)
  reader.room(members.length, path)
  return members
}

function unreadConditionsOfMember(
  reader: QueryReader,
  key: string,
  value: JsonValue,
  path: string,
  names: QueryNameScope,
): readonly UnreadCondition[] {
  const logic = resolveLogicalOperator(key)
  if (logic !== undefined) {
    const read = (_?: SearchableIdentifiers, said?: StatedIdentifierTypes): Condition => {
      const of = logic(reader, value, path, (operand, memberPath) =>
        readConditionObject(reader, operand, memberPath, names, said),
      )
      return makeCondition(of, names.compound)
    }
    return [{ path, about: undefined, read }]
  }
  const about = resolveQueryName(reader, names, key)
  if (about === undefined || isNamePrefix(reader, names, about, key, value)) {
    if (!isJsonObject(value) || hasOperators(value)) throw unknownNameProblem(reader, names, path, key)
    // An object around an attribute: {"name": {"surname": ...}} means {"name.surname": ...}.
    return reader.within(path, () => collectUnreadConditions(reader, value, path, { ...names, prefix: `${names.prefix}${key}.` }))
  }
  return [makeUnreadConditionOnName(reader, about, value, path, `${names.prefix}${key}.`)]
}

/** True when the object of an attribute has further names, not operators: {"birth_place": {"name": ...}}. */
function isNamePrefix(reader: QueryReader, names: QueryNameScope, about: Searchable, key: string, value: JsonValue): boolean {
  if (about.is !== 'attribute' && about.is !== 'member') return false
  const below = { ...names, prefix: `${names.prefix}${key}.` }
  return (
    isJsonObject(value) &&
    !hasOperators(value) &&
    Object.entries(value).some(
      ([name, held]) => resolveQueryName(reader, below, name) !== undefined || isNamePrefix(reader, below, about, name, held),
    )
  )
}

function makeCondition(of: Predicate, list?: Condition['list']): Condition {
  return { list, of }
}

function hasOperators(value: JsonObject): boolean {
  return Object.keys(value).some((key) => key.startsWith('$') || resolveOperator(key) !== undefined)
}

/** Makes a condition on the value of a name. The condition is read later, when stated identifier types are known. */
function makeUnreadConditionOnName(
  reader: QueryReader,
  about: Searchable,
  value: JsonValue,
  path: string,
  prefix: string,
): UnreadCondition {
  if (about.is === 'compound') {
    const { compound } = about
    const of = (): Predicate => readCompound(reader, { prefix, compound }, value, path)
    return { path, about: undefined, read: () => makeCondition(of(), compound) }
  }
  if (about.is === 'identifier' && isJsonObject(value) && !hasOperators(value)) {
    const read = (_?: SearchableIdentifiers, said?: StatedIdentifierTypes): Condition =>
      makeCondition(readIdentifierObject(reader, about, value, path, said))
    return { path, about: undefined, read }
  }
  return makeUnreadCondition(about, path, (leaf) => {
    const subject = conditionSubjectOf(reader, leaf)
    return makeCondition(readOperatorsOrValue(reader, subject, value, path), subject.list)
  })
}

/**
 * Makes a condition that `read` reads later. If another condition states the identifier type, `read` gets `about` with the stated
 * types only.
 */
export function makeUnreadCondition(
  about: SearchableLeaf,
  path: string,
  read: (about: SearchableLeaf) => Condition,
): UnreadCondition {
  return { path, about, read: (narrowed) => read(narrowed ?? about) }
}

/** Reads conditions on an element of the compound, or `exists`: whether the record has an element of the compound. */
function readCompound(
  reader: QueryReader,
  names: QueryNameScope & { readonly compound: NonNullable<QueryNameScope['compound']> },
  value: JsonValue,
  path: string,
): Predicate {
  const [only, more] = isJsonObject(value) ? Object.entries(value) : []
  if (only === undefined || more !== undefined || normaliseOperatorSpelling(only[0]) !== 'exists') {
    return readConditionObject(reader, value, path, names)
  }
  reader.term(path)
  const some = joinByOr(names.compound.members.map((attribute) => ({ is: 'exists', attribute })))
  return readExistsValue(only[1], joinPathStep(path, only[0])) ? some : { is: 'not', of: some }
}

/** Reads { identifier: { identifier_type, identifier_value } }: one identifier, of the type if it is given. */
function readIdentifierObject(
  reader: QueryReader,
  about: SearchableIdentifiers,
  value: JsonObject,
  path: string,
  said: StatedIdentifierTypes | undefined,
): Predicate {
  const asked = readObjectMembers(reader, value, path, 'conditions').map(([key, raw]) => {
    const memberPath = joinPathStep(path, key)
    const member = IDENTIFIER_MEMBERS.get(key.slice(key.lastIndexOf(':') + 1).toLowerCase())
    if (member === undefined) throw new QueryProblem(memberPath, 'must be identifier_type or identifier_value')
    return makeUnreadConditionOnName(reader, member === 'type' ? { is: 'identifier_type' } : about, raw, memberPath, '')
  })
  if (!asked.some((one) => isAboutIdentifiers(one.about))) {
    // A type without a value is refused: it would find everyone with such an identifier; `identifier_type` asks for that.
    throw new QueryProblem(path, 'must have an identifier_value; a type alone is asked for with identifier_type')
  }
  return reader.within(path, () => predicateOnRecord(readConditionsOfObject(asked, isAboutIdentifiers, said)))
}

const IDENTIFIER_MEMBERS: ReadonlyMap<string, 'type' | 'value'> = new Map([
  ['identifier_type', 'type'],
  ['type', 'type'],
  ['identifier_value', 'value'],
  ['value', 'value'],
])

/** Reads a plain value, which means equality, or an object of operators, which must all hold. */
function readOperatorsOrValue(reader: QueryReader, subject: ConditionSubject, value: JsonValue, path: string): Predicate {
  if (Array.isArray(value)) {
    throw new QueryProblem(path, 'must be one value; one of several is asked for with {"$in": [...]}')
  }
  if (!isJsonObject(value)) {
    reader.term(path)
    return EQUALS_OPERATOR.make(subject, value, path, reader)
  }
  return reader.within(path, () =>
    joinByAnd(
      readObjectMembers(reader, value, path, 'operators').map(([key, raw]) => {
        const memberPath = joinPathStep(path, key)
        const logic = resolveLogicalOperator(key)
        if (logic !== undefined) {
          return logic(reader, raw, memberPath, (operand, there) => readOperatorsOrValue(reader, subject, operand, there))
        }
        const operator = operatorOf(subject, key, memberPath, '$')
        reader.term(memberPath)
        return operator.make(subject, raw, memberPath, reader)
      }),
    ),
  )
}

/** Reads one operand of a logical operator: an object of conditions, or operators of an attribute. */
type ReadOperand = (value: JsonValue, path: string) => Predicate

type LogicalOperator = (reader: QueryReader, value: JsonValue, path: string, read: ReadOperand) => Predicate

const LOGICAL_OPERATORS: ReadonlyMap<string, LogicalOperator> = new Map<string, LogicalOperator>([
  ['and', (...asked) => joinByAnd(readOperands(...asked))],
  ['or', (...asked) => joinByOr(readOrOperands(...asked))],
  ['nor', (...asked) => negate(joinByOr(readOrOperands(...asked)))],
  ['not', (_reader, value, path, read) => negate(read(value, path))],
])

function resolveLogicalOperator(key: string): LogicalOperator | undefined {
  return LOGICAL_OPERATORS.get(normaliseOperatorSpelling(key))
}

/** Reads the operands of `or` and `nor`. An object with several members is refused: it could mean one alternative or several. */
function readOrOperands(...asked: Parameters<LogicalOperator>): readonly Predicate[] {
  const [, value, path] = asked
  if (isJsonObject(value) && Object.keys(value).length > 1) {
    throw new QueryProblem(path, 'must be an array of conditions')
  }
  return readOperands(...asked)
}

/** Reads the operands of a logical operator from an array. A single operand need not be in an array. */
function readOperands(reader: QueryReader, value: JsonValue, path: string, read: ReadOperand): readonly Predicate[] {
  if (isJsonObject(value)) return [read(value, path)]
  if (!Array.isArray(value)) throw new QueryProblem(path, 'must be an array of conditions')
  if (value.length === 0) throw new QueryProblem(path, 'must have at least one condition')
  reader.room(value.length, path)
  return value.map((operand, index) => read(operand, joinPathStep(path, index)))
}
