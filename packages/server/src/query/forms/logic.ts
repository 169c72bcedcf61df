/** The logical operators of an expression, one row each. */
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import type { Predicate } from '../../model/predicate.ts'
import { QueryProblem } from '../problem.ts'
import { allOf, anyOf, negation } from './combine.ts'
import { operatorWord } from './operators.ts'
import { at } from './place.ts'
import type { Reader } from './reader.ts'

/** Reads one operand: of an object of conditions such an object, of an attribute its operators. */
export type ReadOperand = (value: JsonValue, path: string) => Predicate

export type Logic = (reader: Reader, value: JsonValue, path: string, read: ReadOperand) => Predicate

const LOGIC: ReadonlyMap<string, Logic> = new Map<string, Logic>([
  ['and', (...asked) => allOf(operands(...asked))],
  ['or', (...asked) => anyOf(alternatives(...asked))],
  ['nor', (...asked) => negation(anyOf(alternatives(...asked)))],
  ['not', (_reader, value, path, read) => negation(read(value, path))],
])

export function resolveLogic(key: string): Logic | undefined {
  return LOGIC.get(operatorWord(key))
}

/** Of an object with several members nobody can say whether they are one alternative or several. */
function alternatives(...asked: Parameters<Logic>): readonly Predicate[] {
  const [, value, path] = asked
  if (isJsonObject(value) && Object.keys(value).length > 1) {
    throw new QueryProblem(path, 'must be an array of conditions')
  }
  return operands(...asked)
}

/** An array of operands; one that stands alone is a list of one. */
function operands(reader: Reader, value: JsonValue, path: string, read: ReadOperand): readonly Predicate[] {
  if (isJsonObject(value)) return [read(value, path)]
  if (!Array.isArray(value)) throw new QueryProblem(path, 'must be an array of conditions')
  if (value.length === 0) throw new QueryProblem(path, 'must have at least one condition')
  reader.room(value.length, path)
  return value.map((operand, index) => read(operand, at(path, index)))
}
