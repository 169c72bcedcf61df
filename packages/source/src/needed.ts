/** Finds which condition the columns of a source must fulfil if a predicate is true of a record. */

import { type Comparator, elementAttributes, isCompound, type Literal, type Predicate } from '@rollcall/core/model/predicate'
import type { Identifier } from '@rollcall/core/model/records'
import type { MappingTarget } from '@rollcall/import/column-mapping'
import { type Attribute, searchKey, UNLISTED } from '@rollcall/protocol'
import { COLUMN_COMPARISON_RULES, type ComparisonSubject } from './comparisons.ts'
import {
  ANY_RECORD_MAY_MATCH,
  type ColumnTest,
  type MappedColumn,
  type NeededCondition,
  NO_RECORD_MATCHES,
} from './engine/column-test.ts'
import type { RecordMapping } from './engine/mapped-records.ts'

/** The parts of a condition that bound how many rows are read: the same condition without its tests of folded texts. */
export function withoutFoldedTests(needed: NeededCondition): NeededCondition {
  switch (needed.is) {
    case 'and':
      return andCondition(needed.of.map(withoutFoldedTests))
    case 'or':
      return orCondition(needed.of.map(withoutFoldedTests))
    case 'column':
      return needed.test.is === 'folded' ? ANY_RECORD_MAY_MATCH : needed
    default:
      return needed
  }
}

/**
 * Makes a condition on columns that is true whenever the predicate is. More rows may pass: each is compared again when
 * it is read.
 * @param predicate with ages replaced by dates (`replaceAgesByDates`)
 */
export function neededConditionOf(records: RecordMapping, predicate: Predicate): NeededCondition {
  switch (predicate.is) {
    case 'and':
      return andCondition(predicate.of.map((part) => neededConditionOf(records, part)))
    case 'or':
      return orCondition(predicate.of.map((part) => neededConditionOf(records, part)))
    // A condition on columns cannot express a negation: a missing or unreadable value is neither true nor false.
    case 'not':
      return ANY_RECORD_MAY_MATCH
    case 'some':
      // All parts must be true of the same element of a list. A condition on columns is weaker: each part may be true of
      // another element.
      return neededConditionOf(records, predicate.of)
    case 'compare':
      return comparisonCondition(records, predicate.attribute, predicate.operator, predicate.value)
    case 'in':
      return orCondition(predicate.values.map((value) => comparisonCondition(records, predicate.attribute, 'eq', value)))
    case 'exists': {
      const { attribute, list } = predicate
      if (list !== undefined && isCompound(list) && !elementAttributes(list).includes(attribute)) return ANY_RECORD_MAY_MATCH
      return makeAnyOfColumnsCondition(
        mappedColumnsOf(records, (target) => target.reads.includes(attribute.name)),
        () => PRESENCE_TEST,
      )
    }
    case 'identifier':
      return orCondition(predicate.identifiers.map((one) => identifierCondition(records, one)))
    case 'identifier_type':
      return orCondition(
        predicate.types.map((type) => makeAnyOfColumnsCondition(identifierColumns(records, type), () => PRESENCE_TEST)),
      )
  }
}

const PRESENCE_TEST: ColumnTest = { is: 'present' }

function comparisonCondition(records: RecordMapping, attribute: Attribute, asked: Comparator, value: Literal): NeededCondition {
  const way = records.compare.get(attribute.name)
  if (way === undefined) return ANY_RECORD_MAY_MATCH
  // Protected persons are not counted in the number that we answer. So the column may have a larger number than our answer.
  const isCount = records.recordType.relations?.some(({ counted_by }) => counted_by === attribute.name) === true
  if (isCount && (asked === 'le' || asked === 'lt')) return ANY_RECORD_MAY_MATCH
  const operator = isCount && asked === 'eq' ? 'ge' : asked
  return makeAnyOfColumnsCondition(
    mappedColumnsOf(records, (target) => target.reads.includes(attribute.name)),
    (target) => COLUMN_COMPARISON_RULES[way].test(attribute, target, operator, value),
  )
}

function identifierCondition(records: RecordMapping, { type, value }: Identifier): NeededCondition {
  const way = records.compare.get(type) ?? 'exact'
  return makeAnyOfColumnsCondition(identifierColumns(records, type), (target) =>
    COLUMN_COMPARISON_RULES[way].test(ANY_IDENTIFIER, target, 'eq', value),
  )
}

const ANY_IDENTIFIER: ComparisonSubject = 'identifier'

/**
 * The columns that may have an identifier of the type: the mapping names the type for the column; or the type is read at the path
 * of the column; or the column has values of identifiers whose type is in another column.
 */
const identifierColumns = (records: RecordMapping, type: string): readonly MappedColumn[] =>
  mappedColumnsOf(records, ({ identifier_type, reads, steps }) => {
    if (identifier_type !== null) return identifier_type === type
    return reads.includes(type) || isIdentifierValuePath(steps) || (type === UNLISTED.name && reads.length === 0)
  })

const isIdentifierValuePath = (steps: MappingTarget['steps']): boolean =>
  searchKey(steps.at(-1)?.key ?? '') === searchKey('identifier_value')

const mappedColumnsOf = ({ own, children }: RecordMapping, gives: (target: MappingTarget) => boolean): readonly MappedColumn[] =>
  [own, ...children].flatMap((part) => part.targets.filter(gives).map((target) => ({ part, target })))

/**
 * Makes the condition that at least one of the columns passes its test. Without columns, no record matches. If a column has no
 * test, every record may match. A constant has no test. A column with several values in a cell has only the test `present`.
 */
function makeAnyOfColumnsCondition(
  columns: readonly MappedColumn[],
  testOf: (target: MappingTarget) => ColumnTest | null,
): NeededCondition {
  return orCondition(
    columns.map((column): NeededCondition => {
      const { target } = column
      if (target.column === null) return ANY_RECORD_MAY_MATCH
      const test = testOf(target)
      if (test === null || (target.split !== null && test.is !== 'present')) return ANY_RECORD_MAY_MATCH
      return { is: 'column', column, test }
    }),
  )
}

function andCondition(parts: readonly NeededCondition[]): NeededCondition {
  const of = parts.filter(({ is }) => is !== 'anything')
  if (of.some(({ is }) => is === 'nothing')) return NO_RECORD_MATCHES
  const [only] = of
  if (only === undefined) return ANY_RECORD_MAY_MATCH
  return of.length === 1 ? only : { is: 'and', of }
}

function orCondition(parts: readonly NeededCondition[]): NeededCondition {
  if (parts.some(({ is }) => is === 'anything')) return ANY_RECORD_MAY_MATCH
  const of = parts.filter(({ is }) => is !== 'nothing')
  const [only] = of
  if (only === undefined) return NO_RECORD_MATCHES
  return of.length === 1 ? only : { is: 'or', of }
}
